package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise08ACancelledGroupStartsNoneOfItsQueuedTasks(t *testing.T) {
	cause := errors.New("cause")
	cancels := []struct {
		name string
		// cancel is called with the group, its parent's cancel, and what makes a
		// running task of it fail.
		cancel func(g *weir.Group, parent context.CancelCauseFunc, failing chan<- error)
	}{
		{"by its parent", func(_ *weir.Group, parent context.CancelCauseFunc, _ chan<- error) { parent(cause) }},
		{"by Cancel", func(g *weir.Group, _ context.CancelCauseFunc, _ chan<- error) { g.Cancel(cause) }},
		{"by an error", func(_ *weir.Group, _ context.CancelCauseFunc, failing chan<- error) { failing <- cause }},
	}
	for _, c := range cancels {
		for _, owned := range []bool{true, false} {
			check.Bubble(t, fmt.Sprintf("%s/workers of its own=%t", c.name, owned), func(t *testing.T) {
				ctx, parent := context.WithCancelCause(t.Context())
				defer parent(nil)
				var g *weir.Group
				if owned {
					g = weir.NewGroup(ctx, 2, weir.Queue(3))
				} else {
					p := weir.New(4, weir.Queue(3))
					defer p.Close()
					others := block(t, p, 2)
					defer others.Open()
					g = p.Group(ctx)
				}
				failing := make(chan error, 1)
				slow := check.NewValve()
				g.Go(func(ctx context.Context) error {
					select {
					case err := <-failing:
						return err
					case <-ctx.Done():
						return nil
					}
				})
				g.Go(slow.Member)
				synctest.Wait()
				var started, blockedOver atomic.Int32
				count := func(context.Context) error { started.Add(1); return nil }
				for range 3 {
					g.Go(count)
				}
				for range 2 {
					go func() {
						g.Go(count)
						blockedOver.Add(1)
					}()
				}
				synctest.Wait()
				check.Equal(t, "Go that blocks", blockedOver.Load(), 0)

				c.cancel(g, parent, failing)
				synctest.Wait()
				check.Equal(t, "Go that blocked and has returned", blockedOver.Load(), 2)
				check.Equal(t, "context's cause is the group's", errors.Is(context.Cause(g.Context()), cause), true)
				g.Go(count)
				check.Equal(t, "TryGo", g.TryGo(count), false)
				result := make(chan error, 1)
				go func() { result <- g.Wait() }()
				synctest.Wait()
				check.Equal(t, "Wait has returned while a task runs", len(result), 0)
				slow.Open()
				err := <-result
				check.Error(t, err, cause)
				var failure *weir.TaskError
				check.Equal(t, "failed by a task", errors.As(err, &failure), c.name == "by an error")
				check.Equal(t, "started", started.Load(), 0)
			})
		}
		check.Bubble(t, c.name+"/while others block all workers", func(t *testing.T) {
			p := weir.New(2)
			defer p.Close()
			ctx, parent := context.WithCancelCause(t.Context())
			defer parent(nil)
			g := p.Group(ctx)
			failing := make(chan error, 1)
			if c.name == "by an error" {
				g.Go(func(context.Context) error { return <-failing })
				synctest.Wait()
			}
			others := check.NewValve()
			for range 3 {
				check.OK(t, p.Submit(others.Hold))
			}
			var started atomic.Int32
			for range 3 {
				g.Go(func(context.Context) error { started.Add(1); return nil })
			}
			result := make(chan error, 1)
			go func() { result <- g.Wait() }()
			synctest.Wait()
			check.Equal(t, "Wait has returned", len(result), 0)
			c.cancel(g, parent, failing)
			synctest.Wait()
			check.Equal(t, "Wait has returned", len(result), 1)
			check.Equal(t, "others that run", others.Running(), 2)
			check.Error(t, <-result, cause)
			others.Open()
			p.Wait()
			check.Equal(t, "started", started.Load(), 0)
		})
	}
	check.Bubble(t, "by its parent's deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		g := weir.NewGroup(ctx, 1)
		begin := time.Now()
		g.Go(untilCancelled)
		g.Go(func(context.Context) error { t.Error("started"); return nil })
		check.Error(t, g.Wait(), cause)
		check.Equal(t, "after", time.Since(begin), time.Minute)
	})
	check.Bubble(t, "before it began", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		g := weir.NewGroup(ctx, 1)
		check.Error(t, g.Wait(), cause)
		g.Go(func(context.Context) error { t.Error("started"); return nil })
		check.Error(t, g.Wait(), cause)
	})
}

func TestPromise10AGroupIsAsNewAfterWait(t *testing.T) {
	cause := errors.New("cause")
	firsts := []struct {
		name string
		run  func(t *testing.T, g *weir.Group)
	}{
		{"success", func(t *testing.T, g *weir.Group) {
			g.Go(func(context.Context) error { return nil })
			check.OK(t, g.Wait())
		}},
		{"an error", func(t *testing.T, g *weir.Group) {
			g.Go(func(context.Context) error { return cause })
			check.Error(t, g.Wait(), cause)
		}},
		{"a panic", func(t *testing.T, g *weir.Group) {
			g.Go(explodeInGroup)
			if check.Caught(func() { _ = g.Wait() }) == nil {
				t.Error("Wait did not panic")
			}
		}},
		{"Goexit", func(t *testing.T, g *weir.Group) {
			g.Go(exitInGroup)
			check.Error(t, g.Wait(), weir.ErrGoexit)
		}},
		{"Cancel", func(t *testing.T, g *weir.Group) {
			g.Go(untilCancelled)
			g.Cancel(cause)
			check.Error(t, g.Wait(), cause)
		}},
		{"Cancel alone", func(t *testing.T, g *weir.Group) {
			g.Cancel(cause)
			check.Error(t, g.Wait(), cause)
		}},
	}
	makers := map[string]func(t *testing.T) (*weir.Group, func()){
		"workers of its own": func(t *testing.T) (*weir.Group, func()) { return weir.NewGroup(t.Context(), 3), func() {} },
		"on a pool": func(t *testing.T) (*weir.Group, func()) {
			p := weir.New(3)
			return p.Group(t.Context()), p.Close
		},
		"with Limit": func(t *testing.T) (*weir.Group, func()) {
			p := weir.New(8)
			return p.Group(t.Context(), weir.Limit(3)), p.Close
		},
		"with KeepGoing": func(t *testing.T) (*weir.Group, func()) {
			return weir.NewGroup(t.Context(), 3, weir.KeepGoing()), func() {}
		},
	}
	for maker, newGroup := range makers {
		for _, first := range firsts {
			check.Bubble(t, first.name+"/"+maker, func(t *testing.T) {
				g, end := newGroup(t)
				defer end()
				for range 3 {
					first.run(t, g)
					check.OK(t, g.Context().Err())
					v := check.NewValve()
					for range 3 {
						g.Go(func(ctx context.Context) error {
							v.Hold()
							return ctx.Err()
						})
					}
					synctest.Wait()
					check.Equal(t, "running", v.Running(), 3)
					v.Open()
					check.OK(t, g.Wait())
					check.OK(t, g.Wait())
				}
				g.Go(func(context.Context) error { return errBoom })
				err := g.Wait()
				var failure *weir.TaskError
				if !errors.As(err, &failure) || failure.Index != 0 {
					t.Errorf("the first task's error is %v", err)
				}
			})
		}
	}
}

func TestGoAndWaitAtOnceLoseNoTask(t *testing.T) {
	for _, opts := range [][]weir.Option{nil, {weir.Queue(0)}, {weir.Limit(2)}, {weir.IdleTimeout(0)}} {
		check.Within(time.Minute, func() {
			g := weir.NewGroup(context.Background(), 3, opts...)
			var given, ran atomic.Int64
			var adding, waiting sync.WaitGroup
			var stop atomic.Bool
			for range 2 {
				waiting.Go(func() {
					for !stop.Load() {
						check.OK(t, g.Wait())
						runtime.Gosched()
					}
				})
			}
			for range 3 {
				adding.Go(func() {
					for range check.Scale(3000, 300) {
						given.Add(1)
						g.Go(func(context.Context) error { ran.Add(1); return nil })
					}
				})
			}
			adding.Wait()
			check.OK(t, g.Wait())
			check.Equal(t, "ran", ran.Load(), given.Load())
			stop.Store(true)
			waiting.Wait()
		})
	}
}

func TestCancelAtAnyTimeEndsWaitAndRunsNoTaskTwice(t *testing.T) {
	// In any order in which a group's tasks are given, run and cancelled,
	// Wait ends, no task runs twice, and the next batch is as new.
	for _, queue := range []int{0, 1, 64} {
		for _, limit := range []int{0, 2} {
			t.Run(fmt.Sprintf("queue=%d/limit=%d", queue, limit), func(t *testing.T) {
				check.Within(time.Minute, func() {
					p := weir.New(2, weir.Queue(queue), weir.IdleTimeout(time.Microsecond))
					var opts []weir.GroupOption
					if limit > 0 {
						opts = append(opts, weir.Limit(limit))
					}
					g := p.Group(context.Background(), opts...)
					for round := range check.Scale(750, 150) {
						var runs [30]atomic.Int32
						var adding sync.WaitGroup
						for half := range 2 {
							adding.Go(func() {
								for i := half; i < len(runs); i += 2 {
									g.Go(func(context.Context) error {
										runs[i].Add(1)
										if round%3 == 1 && i == 10 {
											return errBoom
										}
										return nil
									})
								}
							})
						}
						adding.Go(func() {
							yield(round % 24)
							if round%3 == 0 {
								g.Cancel(errBoom)
							}
						})
						if round%2 == 0 {
							adding.Wait()
						} else if err := g.Wait(); err != nil { // in the middle of it
							check.Error(t, err, errBoom)
						}
						adding.Wait()
						if err := g.Wait(); err != nil {
							check.Error(t, err, errBoom)
						}
						for i := range runs {
							if n := runs[i].Load(); n > 1 || n == 0 && round%3 == 2 {
								t.Errorf("round %d: task %d ran %d times", round, i, n)
							}
						}
					}
					check.OK(t, g.Wait())
					p.Close()
					s := p.Stats()
					check.Equal(t, "queued", s.Queued, 0)
					check.Equal(t, "finished or handed back", s.Finished+s.HandedBack, s.Accepted)
				})
			})
		}
	}
}

// The interleavings of the following tests once went wrong. Each test tries its own
// as often as that takes little time.

func TestWaitSeesTasksThatBeginAndEndWhileItLooks(t *testing.T) {
	p := weir.New(4)
	defer p.Close()
	g := p.Group(context.Background())
	check.Within(time.Minute, func() {
		for range check.Scale(100_000, 5_000) {
			g.Go(func(context.Context) error {
				g.Go(succeed)
				return nil
			})
			check.OK(t, g.Wait())
		}
	})
}

func TestWaitDoesNotWaitForTheNextBatch(t *testing.T) {
	check.Within(time.Minute, func() {
		for round := range check.Scale(3000, 300) {
			g := weir.NewGroup(context.Background(), 2)
			first := g.Context()
			g.Go(succeed)
			g.Go(succeed)
			waited := make(chan struct{})
			go func() {
				check.OK(t, g.Wait())
				close(waited)
			}()
			for range round % 20 {
				runtime.Gosched()
			}
			g.Go(func(ctx context.Context) error {
				if ctx.Done() != first.Done() {
					<-waited
				}
				return nil
			})
			<-waited
			check.OK(t, g.Wait())
		}
	})
	noWorkers(t)
}

func TestWaitOfACancelledGroupFindsTasksAcceptedMeanwhile(t *testing.T) {
	check.Within(time.Minute, func() {
		for round := range check.Scale(400, 100) {
			p := weir.New(1)
			v := check.NewValve()
			check.OK(t, p.Submit(v.Hold)) // no worker comes to the group's tasks
			g := p.Group(context.Background())
			g.Go(succeed)
			ctx := g.Context()
			over := make(chan struct{})
			go func() {
				for ctx.Err() == nil {
					g.TryGo(succeed)
					runtime.Gosched() // on one core the loop would hold up the others
				}
				close(over)
			}()
			for range round % 50 {
				runtime.Gosched()
			}
			g.Cancel(errBoom)
			if err := g.Wait(); err != errBoom { //nolint:errorlint // the very cause, unwrapped
				t.Errorf("got error %v, want %v", err, errBoom)
			}
			<-over
			v.Open()
			p.Close()
		}
	})
}

func TestAPrestartedGroupWithoutTasksLeavesNoWorkers(t *testing.T) {
	check.OK(t, weir.NewGroup(context.Background(), 4, weir.Prestart(4)).Wait())
	noWorkers(t)
}

// Tasks of a cancelled group leave their room to others at once, though no worker has
// come to their places in the queue.
func TestACancelledGroupLeavesNothingInTheQueue(t *testing.T) {
	for _, queue := range []int{1, 8, 100} {
		check.Bubble(t, "queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			v := block(t, p, 2)
			const rounds = 20
			for range rounds {
				g := p.Group(t.Context())
				for range queue {
					g.Go(succeed)
				}
				check.Equal(t, "queued", p.Stats().Queued, queue)
				g.Cancel(errBoom)
				check.Error(t, g.Wait(), errBoom)
				s := p.Stats()
				check.Equal(t, "queued", s.Queued, 0)
				check.Equal(t, "accepted", s.Accepted, s.HandedBack+2)
			}
			for range queue {
				check.OK(t, p.TrySubmit(nothing))
			}
			check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
			v.Open()
			p.Wait()
			s := p.Stats()
			check.Equal(t, "finished", s.Finished, uint64(2+queue))
			check.Equal(t, "handed back", s.HandedBack, uint64(rounds*queue))
			p.Close()
		})
	}
	check.Bubble(t, "a submitter that waits gets the room", func(t *testing.T) {
		p := weir.New(1, weir.Queue(1))
		v := block(t, p, 1)
		g := p.Group(t.Context())
		g.Go(succeed)
		var submitted atomic.Bool
		go func() {
			check.OK(t, p.Submit(nothing))
			submitted.Store(true)
		}()
		synctest.Wait()
		check.Equal(t, "submitted before the group was cancelled", submitted.Load(), false)
		g.Cancel(errBoom)
		check.Error(t, g.Wait(), errBoom)
		synctest.Wait()
		check.Equal(t, "submitted", submitted.Load(), true)
		v.Open()
		p.Close()
	})
}

// Wait may find the batch over before it waits, while others begin tasks of the next one and wait for those.
func TestManyUseAGroupOfItsOwnWorkersAtOnce(t *testing.T) {
	for range check.Scale(20_000, 2000) {
		g := weir.NewGroup(context.Background(), 2)
		g.Context() // begins a batch
		var users sync.WaitGroup
		for range 2 {
			users.Go(func() { g.Go(succeed) })
			users.Go(func() {
				g.Go(succeed)
				check.OK(t, g.Wait())
			})
		}
		check.OK(t, g.Wait())
		users.Wait()
		check.OK(t, g.Wait())
	}
}

func TestAGroupThatWasUsedInABubbleIsResizedOutside(t *testing.T) {
	var g *weir.Group
	synctest.Test(t, func(t *testing.T) {
		g = weir.NewGroup(context.Background(), 2)
		g.Go(func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		})
		check.OK(t, g.Wait())
	})
	g.Resize(3)
}
