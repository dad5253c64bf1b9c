package weir_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A lock is held over the wait for a subtask that had a place of its own, and is in Blocking. Another task, which
// waits for the lock, gets that place. The subtask has that of the task which waits for it.
func TestASubtaskComesBackToThePlaceOfTheTaskThatWaits(t *testing.T) {
	pause := func(ctx context.Context) error {
		weir.Blocking(ctx, func() { time.Sleep(time.Second) })
		return nil
	}
	for name, wait := range map[string]func(context.Context, *weir.Pool) error{
		"group": func(ctx context.Context, p *weir.Pool) error {
			g := p.Group(ctx)
			g.Go(pause)
			time.Sleep(time.Millisecond) // another worker has the subtask
			return g.Wait()
		},
		"limited group": func(ctx context.Context, p *weir.Pool) error {
			g := p.Group(ctx, weir.Limit(1))
			g.Go(pause)
			g.Go(pause)
			return g.Wait()
		},
		"results": func(ctx context.Context, p *weir.Pool) error {
			r := weir.NewResults[int](p.Group(ctx))
			r.Go(func(ctx context.Context) (int, error) { return 0, pause(ctx) })
			time.Sleep(time.Millisecond)
			for _, err := range r.All() {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"future": func(ctx context.Context, p *weir.Pool) error {
			f := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, pause(ctx) })
			time.Sleep(time.Millisecond)
			_, err := f.Get(ctx)
			return err
		},
		"late": func(ctx context.Context, p *weir.Pool) error {
			f := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, pause(ctx) })
			time.Sleep(2 * time.Second) // the future's task wants to go on before anything waits for it
			_, err := f.Get(ctx)
			return err
		},
		"below": func(ctx context.Context, p *weir.Pool) error {
			g := p.Group(ctx)
			g.Go(func(ctx context.Context) error {
				h := p.Group(ctx)
				h.Go(pause)
				h.Go(pause)
				return h.Wait()
			})
			time.Sleep(time.Millisecond)
			return g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := weir.New(2)
				lock := make(chan struct{}, 1) // a mutex would hold the bubble's clock up
				done := make(chan error, 3)
				for range cap(done) {
					go func() {
						done <- run(p, func(ctx context.Context) error {
							lock <- struct{}{}
							defer func() { <-lock }()
							return wait(ctx, p)
						})
					}()
				}
				for range cap(done) {
					select {
					case err := <-done:
						check.OK(t, err)
					case <-time.After(time.Hour):
						t.Fatalf("hangs: %+v", p.Stats())
					}
				}
				hasItsPlaces(t, p, 2)
				p.Close()
			})
		})
	}
}

// All of a pool's tasks wait, and a place that is vacant goes to another task of the pool, which waits for the lock held by
// the task that has lent it. The subtask for which that waits comes back from Blocking all the same.
func TestASubtaskComesBackThoughAnotherHasThePlaceOfItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(1, weir.Queue(1)), weir.New(4)
		lock := make(chan struct{}, 1)
		done := make(chan error, 4)
		for range cap(done) {
			go func() {
				done <- run(q, func(ctx context.Context) error {
					return runIn(ctx, p, func(ctx context.Context) error {
						lock <- struct{}{}
						defer func() { <-lock }()
						return runIn(ctx, p, func(ctx context.Context) error {
							weir.Blocking(ctx, func() { time.Sleep(time.Second) })
							return nil
						})
					})
				})
			}()
		}
		for range cap(done) {
			select {
			case err := <-done:
				check.OK(t, err)
			case <-time.After(time.Hour):
				t.Fatalf("hangs: %+v", p.Stats())
			}
		}
		hasItsPlaces(t, p, 1)
		p.Close()
		q.Close()
	})
}

// Submitters in a task that go on one by one, behind one that cannot, leave nothing behind.
func TestSubmittersThatGoOnLeaveNothingBehind(t *testing.T) {
	p := weir.New(2, weir.Queue(0))
	defer p.Close()
	stop, first, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		check.OK(t, run(p, func(ctx context.Context) error {
			<-second
			g := p.Group(ctx)
			close(first)
			g.Go(func(context.Context) error { <-stop; return nil })
			return g.Wait()
		}))
	})
	both.Go(func() {
		check.OK(t, run(p, func(ctx context.Context) error {
			close(second)
			<-first
			g := p.Group(ctx)
			keepsNothing(t, func() {
				for range 20000 {
					g.Go(succeed)
				}
			})
			close(stop)
			return g.Wait()
		}))
	})
	both.Wait()
}

// A task that another, full pool refuses leaves nothing behind, though an older one of the group is queued there.
func TestARefusedSubtaskLeavesNothingBehind(t *testing.T) {
	p, q := weir.New(1), weir.New(1, weir.Queue(1))
	defer p.Close()
	defer q.Close()
	stop, begun := make(chan struct{}), make(chan struct{})
	check.OK(t, q.Submit(func() { close(begun); <-stop }))
	<-begun
	check.OK(t, run(p, func(ctx context.Context) error {
		g := q.Group(ctx)
		check.Equal(t, "the first has room", g.TryGo(succeed), true)
		keepsNothing(t, func() {
			for range 20000 {
				check.Equal(t, "the next has room", g.TryGo(succeed), false)
			}
		})
		close(stop)
		return g.Wait()
	}))
}

// keepsNothing fails the test if f leaves more in memory than a few bytes for each of thousands of calls.
func keepsNothing(t *testing.T, f func()) {
	t.Helper()
	f() // what is kept for reuse is there afterwards
	before := heap()
	f()
	if grown := int64(heap()) - int64(before); grown > 200<<10 {
		t.Errorf("%d KiB are kept", grown>>10)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
