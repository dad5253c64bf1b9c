package weir_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// By a limit of 4 users mean at most 4 connections, or 4 buffers: a task that waits still has its own.
func TestPromise09OfTheTasksFromOutsideNoMoreThanTheLimitHaveBegun(t *testing.T) {
	for name, wait := range map[string]wait{
		"Get": func(ctx context.Context, x *pair) error {
			_, err := weir.Async(ctx, x.p, func(context.Context) (int, error) { return 1, nil }).Get(ctx)
			return err
		},
		"group elsewhere": func(ctx context.Context, x *pair) error {
			g := x.q.Group(ctx)
			g.Go(succeed)
			return g.Wait()
		},
		"Do elsewhere": func(ctx context.Context, x *pair) error { return x.q.Do(ctx, succeed) },
		"group at home": func(ctx context.Context, x *pair) error {
			g := x.p.Group(ctx)
			g.Go(succeed)
			return g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newPair(4, weir.Queue(weir.Unbounded))
			x.crowd(t, check.Scale(10_000, 4_000), func(ctx context.Context) error { return wait(ctx, x) })
		})
	}
}

// A task has lent its place to a task of a lane, which is over while the first one still waits. A task of another lane is queued.
func TestPromise09APlaceLentThroughLanesGoesToNoQueuedTaskOfThem(t *testing.T) {
	for depth := 1; depth <= 4; depth++ {
		for at := range depth + 1 {
			check.Bubble(t, fmt.Sprintf("depth=%d/at=%d", depth, at), func(t *testing.T) {
				p := weir.New(1)
				defer p.Close()
				pools := []*weir.Pool{p}
				for i := range depth {
					pools = append(pools, pools[i].Lane(2))
				}
				var begun check.Gauge
				first, second := make(chan struct{}), make(chan struct{})
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					begun.Enter()
					defer begun.Leave()
					g := pools[depth].Group(ctx)
					g.Go(func(ctx context.Context) error {
						weir.Blocking(ctx, func() { <-second })
						return nil
					})
					g.Go(func(context.Context) error {
						<-first
						return nil
					})
					return g.Wait()
				}))
				synctest.Wait()
				check.OK(t, pools[at].Submit(func() {
					begun.Enter()
					begun.Leave()
				}))
				close(first)
				synctest.Wait()
				close(second)
				p.Close()
				check.Equal(t, "tasks from outside that had begun", begun.Peak.Load(), 1)
			})
		}
	}
}

// All other places of the pool are in use for far longer than the wait, and more tasks are queued.
func TestPromise09AWaitThatIsCancelledIsOverAtOnce(t *testing.T) {
	const patience, long = 10 * time.Millisecond, 700 * time.Millisecond
	busy := func(context.Context) error {
		time.Sleep(long)
		return nil
	}
	busyValue := func(ctx context.Context) (int, error) { return 1, busy(ctx) }
	wait := func(g *weir.Group) func() error {
		for range 3 {
			g.Go(busy)
		}
		return g.Wait
	}
	get := func(ctx context.Context, f *weir.Future[int]) func() error {
		_, err := f.Get(ctx)
		return func() error { return err }
	}
	// Each wait ends with its context, and returns what is left to do then.
	for name, wait := range map[string]func(ctx context.Context, x *pair) (rest func() error){
		"Get elsewhere": func(ctx context.Context, x *pair) func() error {
			return get(ctx, weir.Async(context.Background(), x.q, busyValue))
		},
		"Get at home": func(ctx context.Context, x *pair) func() error {
			return get(ctx, weir.Async(ctx, x.p, busyValue)) // it has the place of the task that waits
		},
		"Call": func(ctx context.Context, x *pair) func() error {
			err := x.calls.Call(ctx, 1)
			return func() error { return err }
		},
		"Do": func(ctx context.Context, x *pair) func() error {
			err := x.q.Do(ctx, never(t))
			return func() error { return err }
		},
		"Go for room": func(ctx context.Context, x *pair) func() error { return wait(x.q.Group(ctx)) },
		"Go for the group's limit elsewhere": func(ctx context.Context, x *pair) func() error {
			return wait(x.q.Group(ctx, weir.Limit(1)))
		},
		"Go for the group's limit at home": func(ctx context.Context, x *pair) func() error {
			return wait(x.p.Group(ctx, weir.Limit(1)))
		},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			x := &pair{
				p: weir.New(4, weir.Queue(1)), q: weir.New(1, weir.Queue(1)),
				calls: weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) { time.Sleep(long) }, nil),
			}
			g, begin := x.p.Group(t.Context()), make(chan struct{})
			g.Go(func(ctx context.Context) error {
				<-begin
				ctx, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				start := time.Now()
				rest := wait(ctx, x)
				check.Equal(t, "the wait took", time.Since(start), patience)
				check.Error(t, rest(), context.DeadlineExceeded)
				return nil
			})
			synctest.Wait() // the next three have the other places, and the last is queued
			for range 4 {
				g.Go(busy)
			}
			check.OK(t, x.q.Submit(func() { time.Sleep(long) }))
			check.OK(t, x.calls.Invoke(1))
			synctest.Wait()
			close(begin)
			check.OK(t, g.Wait())
			x.p.Close()
			x.q.Close()
			x.calls.Close()
		})
	}
}

// A task makes two waits at once, both with its own context.
func TestPromise09ATaskThatWaitsTwiceLendsItsPlaceOnce(t *testing.T) {
	for name, twice := range map[string]func(ctx context.Context, x *pair, inside func() error) error{
		// The function uses the context of the task around it instead of the one that it got.
		"inside Do": func(ctx context.Context, x *pair, inside func() error) error {
			return x.q.Do(ctx, func(context.Context) error { return inside() })
		},
		"in goroutines": func(_ context.Context, _ *pair, inside func() error) error {
			first := make(chan error)
			go func() { first <- inside() }()
			return errors.Join(inside(), <-first)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newPair(1)
			var running check.Gauge
			work := func(context.Context) error {
				running.Enter()
				defer running.Leave()
				nap()
				return nil
			}
			x.crowd(t, 20, func(ctx context.Context) error {
				return errors.Join(work(ctx), twice(ctx, x, func() error {
					g := x.p.Group(ctx)
					for range 3 {
						g.Go(work)
					}
					return g.Wait()
				}), work(ctx))
			})
			check.Equal(t, "tasks that ran at once", running.Peak.Load(), 1)
		})
	}
}
