package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// errorsOf collects what OnError is given.
type errorsOf struct {
	mu   sync.Mutex
	list []error
}

func (e *errorsOf) add(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, err)
}

func (e *errorsOf) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return fmt.Sprint(e.list)
}

type goKey struct{}

func TestGoGivesTheTaskItsContext(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), goKey{}, 7), deadline)
	defer cancel()
	var got context.Context
	check.OK(t, p.Go(ctx, func(ctx context.Context) error {
		got = ctx
		check.Equal(t, "value", ctx.Value(goKey{}), any(7))
		d, ok := ctx.Deadline()
		check.Equal(t, "deadline", d.Equal(deadline) && ok, true)
		check.OK(t, ctx.Err())
		check.OK(t, context.Cause(ctx))
		return nil
	}))
	p.Wait()
	check.Error(t, got.Err(), context.Canceled)
	<-got.Done()
	check.Error(t, context.Cause(got), context.Canceled)
	check.Equal(t, "value afterwards", got.Value(goKey{}), any(7))
}

func TestAContextMadeInATaskOfGoEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		var after atomic.Int32
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			context.AfterFunc(ctx, func() { after.Add(1) })
			return nil
		}))
		synctest.Wait()
		check.Equal(t, "ended", after.Load(), 1)
	})
}

func TestErrorsOfGoGoToOnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got errorsOf
		var panics atomic.Pointer[weir.Panic]
		p := weir.New(1, weir.OnError(got.add), weir.OnPanic(func(p *weir.Panic) { panics.Store(p) }))
		give := func(task func(context.Context) error) {
			check.OK(t, p.Go(weir.Label(t.Context(), "letter"), task))
			p.Wait()
		}
		give(succeed)
		give(func(context.Context) error { return errBoom })
		give(exitInGroup)
		check.Equal(t, "errors", got.String(), fmt.Sprint([]error{errBoom, weir.ErrGoexit}))
		give(explodeInGroup)
		check.Equal(t, "panic", panics.Load().Value, any(errBoom))
		check.Equal(t, "its label", panics.Load().Label, "letter")
		check.Equal(t, "errors after a panic", strings.Count(got.String(), "boom"), 1)
		p.Close()
		s := p.Stats()
		check.Equal(t, "finished", s.Finished, 4)
		check.Equal(t, "panicked", s.Panicked, 1)
		check.Equal(t, "accepted", s.Accepted, s.Finished+s.HandedBack)
	})
}

func TestAnErrorOfGoIsAPartOfItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, task := range map[string]func(context.Context) error{
			"error":  func(context.Context) error { return errBoom },
			"Goexit": exitInGroup,
		} {
			v := check.NewValve()
			p := weir.New(1, weir.OnError(func(error) { v.Hold() }))
			check.OK(t, p.Go(t.Context(), task))
			ran := false
			check.OK(t, p.Submit(func() { ran = true }))
			synctest.Wait()
			check.Equal(t, name+": the next task ran", ran, false)
			check.Equal(t, name+": running", p.Stats().Running, 1)
			v.Open()
			p.Close()
		}
	})
}

func TestErrorsOfGoAreLoggedByDefault(t *testing.T) {
	for name, opts := range map[string][]weir.Option{
		"default":             {weir.Name("mail")},
		"handler that panics": {weir.Name("mail"), weir.OnError(func(error) { panic("in handler") })},
		"handler that exits":  {weir.Name("mail"), weir.OnError(func(error) { runtime.Goexit() })},
	} {
		t.Run(name, func(t *testing.T) {
			log := check.Log(t)
			p := weir.New(1, opts...)
			check.OK(t, p.Go(weir.Label(t.Context(), "letter"), func(context.Context) error { return errBoom }))
			p.Close()
			if name == "handler that exits" {
				return // it ends the task as the task itself would
			}
			for _, want := range []string{"weir: task failed", "error=boom", "pool=mail", "label=letter"} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("no %q in\n%s", want, log)
				}
			}
			check.Equal(t, "the handler's panic", strings.Contains(log.String(), "in handler"), name != "default")
		})
	}
}

func TestATaskOfGoDoesNotStartOnceItsContextIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got errorsOf
		p := weir.New(1, weir.OnError(got.add))
		v := block(t, p, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		check.OK(t, p.Go(ctx, never(t)))
		cancel(errBoom)
		check.OK(t, p.Submit(nothing))
		v.Open()
		p.Close()
		check.Equal(t, "errors", got.String(), "[weir: task did not start: boom]")
		check.Error(t, got.list[0], errBoom)
		s := p.Stats()
		check.Equal(t, "handed back", s.HandedBack, 1)
		check.Equal(t, "accepted", s.Accepted, s.Finished+s.HandedBack)
		check.Error(t, p.Go(ctx, never(t)), errBoom)
	})
}

func TestGoRefusesWhatSubmitRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(1), weir.OnError(func(err error) { t.Error(err) }))
		v := block(t, p, 1)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBoom)
		defer cancel()
		var waiting sync.WaitGroup
		waiting.Go(func() { check.Error(t, p.Go(ctx, never(t)), errBoom) })
		synctest.Wait()
		check.Error(t, p.Go(t.Context(), never(t)), weir.ErrFull)
		waiting.Wait()
		check.Error(t, p.Go(ctx, never(t)), errBoom)
		v.Open()
		p.Close()
		check.Error(t, p.Go(t.Context(), never(t)), weir.ErrClosed)
		check.Equal(t, "rejected", p.Stats().Rejected, 4)
	})
}

// A task that waits in Go for room lends its place to the task that it hands over, and goes on when that has ended, whatever its handlers do.
func TestPromise07AHandlerThatExitsHangsNoCallerOfGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, task := range map[string]func(context.Context) error{
			"error": func(context.Context) error { return errBoom },
			"panic": func(context.Context) error { panic(errBoom) },
			"exit":  func(context.Context) error { runtime.Goexit(); return nil },
		} {
			p := weir.New(1, weir.Queue(0), weir.OnError(func(error) { runtime.Goexit() }), weir.OnPanic(func(*weir.Panic) { runtime.Goexit() }))
			went := false
			check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
				check.OK(t, p.Go(ctx, task))
				went = true
				return nil
			}))
			p.Wait()
			p.Close()
			check.Equal(t, name+": Go has returned", went, true)
		}
	})
}

func TestPromise09TasksOfGoMayWaitForGroupsAndHandOverTasks(t *testing.T) {
	check.Within(time.Minute, func() {
		for _, queue := range []int{0, 1, 100} {
			p := weir.New(1, weir.Queue(queue))
			var ran atomic.Int32
			var task func(depth int) func(context.Context) error
			task = func(depth int) func(context.Context) error {
				return func(ctx context.Context) error {
					ran.Add(1)
					if depth == 0 {
						return nil
					}
					g := p.Group(ctx)
					for range 2 {
						g.Go(task(depth - 1))
						check.OK(t, p.Go(context.WithoutCancel(ctx), task(0))) // which ctx would end with this task
					}
					return g.Wait()
				}
			}
			check.OK(t, p.Go(t.Context(), task(4)))
			const all = 31 + 2*15
			eventually(t, "end of all tasks", func() bool { return ran.Load() == all })
			p.Close()
			check.Equal(t, "ran", ran.Load(), all)
		}
	})
}

// Each of them has a way of its own to learn that its context has ended.
var learns = map[string]func(ctx context.Context) error{
	"Done": func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	},
	"Err": func(ctx context.Context) error {
		for ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	},
	"Done, late": func(ctx context.Context) error {
		time.Sleep(3 * time.Second / 2)
		<-ctx.Done()
		return ctx.Err()
	},
	"WithTimeout": func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		<-ctx.Done()
		return ctx.Err()
	},
	"Cause": func(ctx context.Context) error {
		for context.Cause(ctx) == nil {
			time.Sleep(time.Millisecond)
		}
		return ctx.Err()
	},
}

func TestShutdownCancelsTheContextsOfTasksThatRun(t *testing.T) {
	for name, learn := range learns {
		check.Bubble(t, name, func(t *testing.T) {
			var got errorsOf
			p := weir.New(3, weir.OnError(got.add))
			var causes [3]error
			task := func(i int) func(context.Context) error {
				return func(ctx context.Context) error {
					err := learn(ctx)
					causes[i] = context.Cause(ctx)
					return err
				}
			}
			check.OK(t, p.Go(t.Context(), task(0)))
			g := p.Group(t.Context())
			g.Go(task(1))
			check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
				inner := p.Group(ctx)
				inner.Go(task(2))
				return inner.Wait()
			}))
			synctest.Wait()
			begun := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := p.Shutdown(ctx)
			check.Error(t, err, context.DeadlineExceeded)
			var shut *weir.ShutdownError
			check.Equal(t, "a ShutdownError", errors.As(err, &shut), true)
			check.Equal(t, "tasks that run", shut.Running, 4)
			check.Equal(t, "text", err.Error(), "weir: pool shut down while 4 tasks run: context deadline exceeded")
			check.Error(t, g.Wait(), weir.ErrClosed)
			p.Close()
			if d := time.Since(begun); d > 2*time.Second {
				t.Errorf("they ended after %v", d)
			}
			for i, cause := range causes {
				if !errors.Is(cause, weir.ErrClosed) {
					t.Errorf("task %d: the cause is %v", i, cause)
				}
			}
		})
	}
}

func TestShutdownHandsQueuedTasksOfGoToOnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got errorsOf
		p := weir.New(1, weir.OnError(got.add))
		v := block(t, p, 1)
		for range 3 {
			check.OK(t, p.Go(weir.Label(t.Context(), "letter"), never(t)))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errBoom)
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, errBoom)
		check.Equal(t, "text", err.Error(), "weir: pool shut down while 1 task runs: boom")
		check.Equal(t, "unrun", len(unrun), 0)
		check.Equal(t, "errors", len(got.list), 3)
		for _, err := range got.list {
			check.Equal(t, "error", err.Error(), `weir: task "letter" did not start: weir: pool is closed`)
			check.Error(t, err, weir.ErrClosed)
		}
		v.Open()
		p.Close()
		s := p.Stats()
		check.Equal(t, "handed back", s.HandedBack, 3)
		check.Equal(t, "accepted", s.Accepted, s.Finished+s.HandedBack)
	})
}

func TestShutdownLeavesGroupsAloneWithoutATaskThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := weir.New(3), weir.New(1)
		defer other.Close()
		over := p.Group(t.Context()) // its tasks have ended, and their workers are idle
		for range 3 {
			over.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		time.Sleep(2 * time.Second)
		v := block(t, p, 1)
		out := check.NewValve()
		elsewhere := other.Group(t.Context())
		elsewhere.Go(out.Member)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.OK(t, over.Wait())
		out.Open()
		check.OK(t, elsewhere.Wait())
		v.Open()
		p.Close()
	})
}

// A task that just begins is found by the one side or the other.
func TestShutdownCancelsTasksThatJustBegin(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	begun := 0
	for i := range check.Scale(5000, 2000) {
		p := weir.New(1)
		check.OK(t, p.Submit(nothing))
		p.Wait()
		g := p.Group(t.Context())
		ran := false
		g.Go(func(ctx context.Context) error {
			ran = true
			<-ctx.Done()
			return nil
		})
		for range i % 64 {
			runtime.Gosched()
		}
		_, _ = p.Shutdown(ended)
		check.Error(t, g.Wait(), weir.ErrClosed)
		p.Close()
		if ran {
			begun++
		}
	}
	t.Logf("%d tasks had begun", begun)
}

// The cost of many tasks with channels is a list, and not a search in it.
func TestContextsOfGoCostTheSameWhateverRuns(t *testing.T) {
	check.Flat(t, check.Scale(1000, 500), func(n int) (f, end func()) {
		p := weir.New(weir.Unbounded)
		v := check.NewValve()
		ctx, cancel := context.WithCancel(t.Context())
		for range n {
			check.OK(t, p.Go(ctx, func(ctx context.Context) error {
				_ = ctx.Done()
				v.Hold()
				return nil
			}))
		}
		check.Until(t, "all run", func() bool { return v.Running() == n })
		return func() {
				over := make(chan struct{})
				check.OK(t, p.Go(ctx, func(ctx context.Context) error {
					_ = ctx.Done()
					close(over)
					return nil
				}))
				<-over
			}, func() {
				v.Open()
				p.Close()
				cancel()
			}
	})
}

func TestGoFromAllCoresWhileThePoolShutsDown(t *testing.T) {
	for range check.Scale(300, 30) {
		var reported, ran, accepted atomic.Int64
		p := weir.New(2, weir.Queue(8), weir.OnError(func(error) { reported.Add(1) }))
		var givers sync.WaitGroup
		for range 4 {
			givers.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				for i := range 50 {
					err := p.Go(ctx, func(ctx context.Context) error {
						ran.Add(1)
						if i%2 == 0 {
							<-ctx.Done()
							return ctx.Err()
						}
						return nil
					})
					if errors.Is(err, weir.ErrClosed) {
						return
					}
					check.OK(t, err)
					accepted.Add(1)
				}
			})
		}
		yield(20)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, _ = p.Shutdown(ctx)
		cancel()
		givers.Wait()
		p.Close()
		s := p.Stats()
		check.Equal(t, "accepted", s.Accepted, uint64(accepted.Load()))
		check.Equal(t, "accepted", s.Accepted, s.Finished+s.HandedBack)
		check.Equal(t, "ran", uint64(ran.Load()), s.Finished)
	}
}

func BenchmarkGo(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	p := weir.New(64)
	defer p.Close()
	b.Run("Go", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			must(p.Go(ctx, succeed))
		}
		p.Wait()
	})
	b.Run("with a channel", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			must(p.Go(ctx, func(ctx context.Context) error {
				_ = ctx.Done()
				return nil
			}))
		}
		p.Wait()
	})
	b.Run("group that is never waited for", func(b *testing.B) {
		g := p.Group(ctx)
		b.ReportAllocs()
		for range b.N {
			g.Go(succeed)
		}
		p.Wait()
		must(g.Wait())
	})
}
