package weir_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise06CloseMayBeCalledTwiceAtOnceAndDuringSubmit(t *testing.T) {
	ends := []struct {
		name string
		end  func(p *weir.Pool)
	}{
		{"Close", (*weir.Pool).Close},
		{"Shutdown", func(p *weir.Pool) { _, _ = p.Shutdown(context.Background()) }},
	}
	for _, first := range ends {
		for _, second := range ends {
			check.Bubble(t, first.name+" and "+second.name, func(t *testing.T) {
				p := weir.New(2, weir.Queue(4))
				v := block(t, p, 2)
				for range 4 {
					check.OK(t, p.Submit(v.Hold))
				}
				waiting := make(chan error, 1)
				go func() { waiting <- p.Submit(v.Hold) }()
				synctest.Wait()
				var over atomic.Int32
				for _, end := range []func(p *weir.Pool){first.end, second.end, first.end, second.end} {
					go func() {
						end(p)
						over.Add(1)
					}()
				}
				synctest.Wait()
				check.Equal(t, "over while tasks run", over.Load(), 0)
				check.Error(t, <-waiting, weir.ErrClosed)
				check.Error(t, p.Submit(nothing), weir.ErrClosed)
				check.Error(t, p.TrySubmit(nothing), weir.ErrClosed)
				check.Error(t, p.SubmitContext(t.Context(), nothing), weir.ErrClosed)
				v.Open()
				synctest.Wait()
				check.Equal(t, "over", over.Load(), 4)
				check.Equal(t, "tasks run", v.Ended.Load(), 6)
				p.Resize(8)
				noWorkers(t)
				first.end(p)
				second.end(p)
				check.Error(t, p.Submit(nothing), weir.ErrClosed)
			})
		}
	}
	check.Bubble(t, "a pool never used", func(t *testing.T) {
		p := weir.New(2)
		p.Close()
		p.Close()
		check.Error(t, p.Submit(nothing), weir.ErrClosed)
	})
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("during Submit/queue="+queueName(queue), func(t *testing.T) {
			rounds := check.Scale(300, 60)
			if queue == weir.Unbounded {
				rounds /= 6 // each takes 10 ms: so long the three submit without waiting
			}
			check.Within(time.Minute, func() {
				for round := range rounds {
					closeDuringSubmit(t, queue, round)
				}
			})
			noWorkers(t)
		})
	}
}

func closeDuringSubmit(t *testing.T, queue, round int) {
	p := weir.New(2, weir.Queue(queue), weir.IdleTimeout(time.Duration(round%3)*time.Microsecond))
	var accepted, ran atomic.Int64
	var submitting, closing sync.WaitGroup
	for range 3 {
		submitting.Go(func() {
			for {
				err := p.Submit(func() { ran.Add(1) })
				if err != nil {
					check.Error(t, err, weir.ErrClosed)
					return
				}
				accepted.Add(1)
			}
		})
	}
	yield(round % 16)
	for range 3 {
		closing.Go(func() {
			if round%2 == 0 {
				p.Close()
			} else if _, err := p.Shutdown(context.Background()); err != nil {
				t.Errorf("Shutdown failed with %v", err)
			}
			// All that will ever be accepted has run: nothing may change any more.
			n := ran.Load()
			submitting.Wait()
			check.Equal(t, "tasks run when Close returned", n, accepted.Load())
			check.Equal(t, "workers when Close returned", p.Stats().Workers, 0)
		})
	}
	closing.Wait()
	check.Equal(t, "tasks run", ran.Load(), accepted.Load())
}

func TestShutdownHandsBackInOrder(t *testing.T) {
	for _, queue := range []int{1, 5, 40, weir.Unbounded} {
		check.Bubble(t, "queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			v := block(t, p, 2)
			var order []int
			n := min(queue, 1000)
			for i := range n {
				check.OK(t, p.Submit(func() { order = append(order, i) }))
			}
			waiting := make(chan error, 1)
			if queue != weir.Unbounded {
				go func() { waiting <- p.Submit(nothing) }()
			} else {
				waiting <- weir.ErrClosed
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errBoom)
			defer cancel()
			begin := time.Now()
			unrun, err := p.Shutdown(ctx)
			check.Error(t, err, errBoom)
			check.Equal(t, "after", time.Since(begin), time.Minute)
			check.Error(t, <-waiting, weir.ErrClosed)
			check.Equal(t, "handed back", len(unrun), n)
			check.Equal(t, "tasks that run are left alone", v.Running(), 2)
			for _, task := range unrun {
				task()
			}
			check.Equal(t, "in order", slices.IsSorted(order), true)
			check.Equal(t, "each once", len(slices.Compact(order)), n)
			unrun, err = p.Shutdown(ctx)
			check.Equal(t, "handed back again", len(unrun), 0)
			check.Error(t, err, errBoom)
			v.Open()
			p.Close()
			unrun, err = p.Shutdown(t.Context())
			check.OK(t, err)
			check.Equal(t, "handed back after Close", len(unrun), 0)
		})
	}
	check.Bubble(t, "nothing, when all has run in time", func(t *testing.T) {
		p := weir.New(2)
		for range 10 {
			check.OK(t, p.Submit(func() { time.Sleep(time.Second) }))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		unrun, err := p.Shutdown(ctx)
		check.OK(t, err)
		check.Equal(t, "handed back", len(unrun), 0)
		check.Equal(t, "finished", p.Stats().Finished, 10)
	})
	check.Bubble(t, "members of a group go back to the group", func(t *testing.T) {
		p := weir.New(2)
		v := block(t, p, 2)
		fresh, failing := p.Group(t.Context(), weir.KeepGoing()), p.Group(t.Context())
		started := func(context.Context) error { t.Error("started"); return nil }
		plain := 0
		for range 3 {
			fresh.Go(started)
			check.OK(t, p.Submit(func() { plain++ }))
			failing.Go(started)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.Equal(t, "plain tasks handed back", len(unrun), 3)
		for _, task := range unrun {
			task()
		}
		check.Equal(t, "plain tasks", plain, 3)
		err = fresh.Wait()
		check.Error(t, err, weir.ErrClosed)
		for i := range 3 {
			if text := fmt.Sprintf("task %d: %v", i, weir.ErrClosed); !strings.Contains(err.Error(), text) {
				t.Errorf("%q is not in %q", text, err)
			}
		}
		check.Error(t, failing.Wait(), weir.ErrClosed)
		v.Open()
		p.Close()
	})
}

// Whatever a handler does, Shutdown tells of each task, and hands the others back.
func TestShutdownTellsOfAllTasksThoughHandlersExit(t *testing.T) {
	for name, ends := range map[string]func(){"exits": runtime.Goexit, "panics": func() { panic("handler") }, "returns": func() {}} {
		check.Bubble(t, name, func(t *testing.T) {
			check.Log(t)
			told := 0
			p := weir.New(1, weir.Queue(weir.Unbounded), weir.OnError(func(err error) {
				check.Error(t, err, weir.ErrClosed)
				told++
				ends()
			}))
			v := block(t, p, 1)
			for range 3 {
				check.OK(t, p.Go(t.Context(), succeed))
			}
			f := weir.Async(t.Context(), p, constant(1))
			check.OK(t, p.Submit(nothing))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			unrun, err := p.Shutdown(ctx)
			check.Error(t, err, context.Canceled)
			check.Equal(t, "told", told, 3)
			check.Equal(t, "handed back", len(unrun), 1)
			_, err = f.Get(t.Context())
			check.Error(t, err, weir.ErrClosed)
			v.Open()
			p.Close()
			check.Equal(t, "handed back, says Stats", p.Stats().HandedBack, 5)
		})
	}
}

// Nor is a task that never ran counted as one that has, or reported twice.
func TestAHandlerThatExitsGetsADroppedTaskOnce(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		var told []error
		p := weir.New(1, weir.Queue(weir.Unbounded), weir.OnError(func(err error) {
			told = append(told, err)
			runtime.Goexit()
		}))
		v := block(t, p, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		check.OK(t, p.Go(ctx, succeed))
		cancel(errBoom)
		v.Open()
		p.Wait()
		check.Equal(t, "told", len(told), 1)
		check.Error(t, told[0], errBoom)
		check.Equal(t, "handed back", p.Stats().HandedBack, 1)
		p.Close()
	})
}

// A handler may wait for tasks of the pool, or of another lane, that Shutdown ends.
func TestHandlersAreCalledWhenAllOtherTasksHaveEnded(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		var futures []*weir.Future[int]
		told := 0
		waits := weir.OnError(func(error) {
			told++
			for _, f := range futures {
				_, err := f.Get(t.Context())
				check.Error(t, err, weir.ErrClosed)
			}
		})
		p := weir.New(1, weir.Queue(weir.Unbounded), waits)
		v := block(t, p, 1)
		pools := []*weir.Pool{p, p.Lane(1, waits), p.Lane(1, waits)}
		for _, l := range pools {
			check.OK(t, l.Go(t.Context(), succeed))
			futures = append(futures, weir.Async(t.Context(), l, constant(1)))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.Equal(t, "told", told, len(pools))
		v.Open()
		p.Close()
	})
}

func TestAShutdownErrorSaysWhatShutdownDidNotWaitFor(t *testing.T) {
	for running, want := range []string{"before its workers have ended", "while 1 task runs", "while 2 tasks run"} {
		err := &weir.ShutdownError{Running: running, Cause: context.Canceled}
		check.Equal(t, "error", err.Error(), "weir: pool shut down "+want+": context canceled")
	}
}
