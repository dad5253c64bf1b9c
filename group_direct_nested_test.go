package weir_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A task of a NewGroup that makes another one from its context, and waits for it, needs no worker for that: neither group has an engine. The
// tests below bring an engine about while it waits. From then on the task lends its place, like one that has a worker.

// nested runs in a task of outer a group of its own with a limit of 1 and the task inner, and waits for it.
func nested(outer *weir.Group, inner func(ctx context.Context, own *weir.Group) error) {
	outer.Go(func(ctx context.Context) error {
		own := weir.NewGroup(ctx, 1)
		own.Go(func(ctx context.Context) error { return inner(ctx, own) })
		return own.Wait()
	})
}

func TestATaskThatWaitsForAGroupNeedsNoWorker(t *testing.T) {
	pair := func(ctx context.Context) error {
		own := weir.NewGroup(ctx, 1)
		own.Go(succeed)
		own.Go(succeed) // which waits for the end of the other
		return own.Wait()
	}
	apart := testing.AllocsPerRun(100, func() {
		g := weir.NewGroup(context.Background(), 1)
		g.Go(succeed)
		check.OK(t, g.Wait())
		check.OK(t, pair(context.Background()))
	})
	got := testing.AllocsPerRun(100, func() {
		g := weir.NewGroup(context.Background(), 1)
		g.Go(pair)
		check.OK(t, g.Wait())
	})
	if got > apart+8 && !check.Race { // engines and a worker take 16 more; after Watch both take more
		t.Errorf("two groups, of which one is made in the only task of the other, take %v allocations, and %v apart", got, apart)
	}
}

func TestATaskLendsItsPlaceWhenItsGroupGetsWorkersWhileItWaits(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 1)
			second := make(chan struct{})
			nested(g, func(context.Context, *weir.Group) error { <-second; return nil })
			synctest.Wait()
			g.Go(func(context.Context) error { close(second); return nil }) // beyond the limit: it waits for a worker
			return g.Wait()
		}))
		p.Wait()
	})
}

func TestATaskLendsItsPlaceToOneThatWaitsBeforeIt(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 1)
			second, queued := make(chan struct{}), make(chan struct{})
			g.Go(func(ctx context.Context) error {
				<-queued
				own := weir.NewGroup(ctx, 1)
				own.Go(func(context.Context) error { <-second; return nil })
				return own.Wait()
			})
			g.Go(func(context.Context) error { close(second); return nil })
			close(queued)
			return g.Wait()
		}))
		p.Wait()
	})
}

// Those that wait in a group that was made in a task go on in order in the queue of its workers, or not at all.
func TestTasksThatWaitInAGroupOfATaskBeginInOrder(t *testing.T) {
	const tasks = 10
	for name, first := range map[string]func(ctx context.Context, g *weir.Group){
		"without workers":      func(context.Context, *weir.Group) {},
		"workers come":         func(ctx context.Context, _ *weir.Group) { weir.Blocking(ctx, func() {}) },
		"cancelled":            func(_ context.Context, g *weir.Group) { g.Cancel(nil) },
		"workers, then cancel": func(ctx context.Context, g *weir.Group) { weir.Blocking(ctx, func() {}); g.Cancel(nil) },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			begun, ends := 0, error(nil)
			check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
				g := weir.NewGroup(ctx, 1)
				queued := make(chan struct{})
				g.Go(func(ctx context.Context) error { <-queued; first(ctx, g); return nil })
				for i := range tasks {
					g.Go(func(context.Context) error {
						if i != begun {
							t.Errorf("task %d begins when %d have begun", i, begun)
						}
						begun++
						return nil
					})
				}
				close(queued)
				ends = g.Wait()
				return nil
			}))
			p.Wait()
			if ends == nil {
				check.Equal(t, "tasks", begun, tasks)
			} else {
				check.Error(t, ends, context.Canceled)
				check.Equal(t, "tasks", begun, 0)
			}
			check.Equal(t, "cancelled", ends != nil, strings.Contains(name, "cancel"))
		})
	}
}

func TestATaskLendsItsPlaceWhenTheGroupThatItWaitsForGetsWorkers(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		g := weir.NewGroup(t.Context(), 1)
		nested(g, func(ctx context.Context, own *weir.Group) error {
			synctest.Wait()
			second := make(chan struct{})
			own.Go(func(context.Context) error { close(second); return nil })
			_, err := weir.Async(ctx, p, func(context.Context) (int, error) { <-second; return 0, nil }).Get(ctx)
			return err
		})
		check.OK(t, g.Wait())
	})
}

func TestATaskOfAPoolLendsItsPlaceThroughGroupsWithoutWorkers(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 1)
			nested(g, func(ctx context.Context, _ *weir.Group) error {
				synctest.Wait()
				onPool := p.Group(ctx)
				onPool.Go(func(context.Context) error { return nil })
				return onPool.Wait()
			})
			return g.Wait()
		}))
		p.Wait()
	})
}

// Goroutines that a task has left behind wait in the name of none: the next task on its goroutine has a place to give up.
func TestAGoroutineLeftBehindWaitsNotInTheNameOfTheNextTask(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		queued, third, release, left := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
		g := weir.NewGroup(t.Context(), 1)
		g.Go(func(ctx context.Context) error {
			<-queued
			own := weir.NewGroup(ctx, 1)
			own.Go(func(context.Context) error { <-release; return nil })
			go func() { defer close(left); _ = own.Wait() }() // it may be cancelled with g
			synctest.Wait()
			return nil
		})
		g.Go(func(ctx context.Context) error {
			_ = p.Group(ctx) // for this the task needs a worker
			synctest.Wait()
			weir.Blocking(ctx, func() { <-third })
			close(release)
			return nil
		})
		g.Go(func(context.Context) error { close(third); return nil })
		close(queued)
		check.OK(t, g.Wait())
		<-left
	})
}

// Either group gets workers, a task comes that could have the place, or the last task ends: all at about the same time.
func TestATaskThatWaitsWithoutAWorkerMissesNothing(t *testing.T) {
	for i := range check.Scale(5000, 300) {
		p := weir.New(1)
		var ran atomic.Int64
		check.OK(t, p.Do(context.Background(), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 1+i%2)
			for range 2 {
				g.Go(func(ctx context.Context) error {
					own := weir.NewGroup(ctx, 1+i%3)
					for k := range 4 {
						own.Go(func(inner context.Context) error {
							defer ran.Add(1)
							switch (i + k) % 5 {
							case 0:
								weir.Blocking(inner, func() {})
							case 1:
								g.TryGo(succeed)
							case 2:
								weir.Blocking(ctx, runtime.Gosched) // as a goroutine of the task above
							case 3:
								deeper := weir.NewGroup(inner, 1)
								deeper.Go(succeed)
								deeper.Go(succeed)
								return deeper.Wait()
							}
							return nil
						})
					}
					var other sync.WaitGroup
					if i%7 == 0 {
						other.Go(func() { own.TryGo(succeed) })
					}
					err := own.Wait()
					other.Wait()
					return errors.Join(err, own.Wait())
				})
			}
			return g.Wait()
		}))
		check.Equal(t, "tasks", ran.Load(), 8)
		check.Equal(t, "tasks that wait", p.Stats().Suspended, 0)
		p.Close()
	}
}
