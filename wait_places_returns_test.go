package weir_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// A lock is held over the wait for a subtask that had a place of its own, and is in Blocking. Another task, which
// waits for the lock, gets that place. The subtask has that of the task which waits for it.
func TestASubtaskComesBackToThePlaceOfTheTaskThatWaits(t *testing.T) {
	rest := func(ctx context.Context) error {
		weir.Blocking(ctx, func() { time.Sleep(time.Second) })
		return nil
	}
	for name, wait := range map[string]func(context.Context, *weir.Pool) error{
		"group": func(ctx context.Context, p *weir.Pool) error {
			g := p.Group(ctx)
			g.Go(rest)
			time.Sleep(time.Millisecond) // another worker has the subtask
			return g.Wait()
		},
		"limited group": func(ctx context.Context, p *weir.Pool) error {
			g := p.Group(ctx, weir.Limit(1))
			g.Go(rest)
			g.Go(rest)
			return g.Wait()
		},
		"results": func(ctx context.Context, p *weir.Pool) error {
			r := weir.NewResults[int](p.Group(ctx))
			r.Go(func(ctx context.Context) (int, error) { return 0, rest(ctx) })
			time.Sleep(time.Millisecond)
			for _, err := range r.All() {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"future": func(ctx context.Context, p *weir.Pool) error {
			f := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, rest(ctx) })
			time.Sleep(time.Millisecond)
			_, err := f.Get(ctx)
			return err
		},
		"late": func(ctx context.Context, p *weir.Pool) error {
			f := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, rest(ctx) })
			time.Sleep(2 * time.Second) // the future's task wants to go on before anything waits for it
			_, err := f.Get(ctx)
			return err
		},
		"below": func(ctx context.Context, p *weir.Pool) error {
			g := p.Group(ctx)
			g.Go(func(ctx context.Context) error {
				h := p.Group(ctx)
				h.Go(rest)
				h.Go(rest)
				return h.Wait()
			})
			time.Sleep(time.Millisecond)
			return g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := weir.New(2)
				lock := make(chan struct{}, 1) // a mutex would stop the bubble's clock
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
				allEnd(t, p, done)
				hasItsPlaces(t, p, 2)
				p.Close()
			})
		})
	}
}

// All of a pool's tasks wait, and a vacant place goes to another task of the pool, which waits for the lock held by the
// task that has lent it. The subtask that the lender waits for still returns from Blocking, and what it adds is done.
func TestASubtaskComesBackThoughAnotherHasThePlaceOfItsTask(t *testing.T) {
	for name, adds := range map[string]bool{"comes back": false, "adds a task": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, q := weir.New(1, weir.Queue(1)), weir.New(4)
				lock, done := make(chan struct{}, 1), make(chan error, 4)
				inside := func(ctx context.Context) error {
					lock <- struct{}{}
					defer func() { <-lock }()
					g := p.Group(ctx)
					g.Go(func(ctx context.Context) error {
						weir.Blocking(ctx, func() { time.Sleep(time.Second) })
						if adds {
							g.Go(succeed)
						}
						return nil
					})
					return g.Wait()
				}
				for range cap(done) {
					go func() {
						done <- run(q, func(ctx context.Context) error { return runIn(ctx, p, inside) })
					}()
				}
				allEnd(t, p, done)
				hasItsPlaces(t, p, 1)
				p.Close()
				q.Close()
			})
		})
	}
}

// A task of another pool waits between the one that holds the lock and the one in Blocking, which began in its turn.
func TestASubtaskComesBackByWayOfAnotherPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(2), weir.New(2)
		lock, done := make(chan struct{}, 1), make(chan error, 2)
		go func() {
			done <- run(p, func(ctx context.Context) error {
				lock <- struct{}{}
				defer func() { <-lock }()
				return runIn(ctx, q, func(ctx context.Context) error {
					g := p.Group(ctx)
					g.Go(func(ctx context.Context) error {
						weir.Blocking(ctx, func() { time.Sleep(time.Minute) })
						return nil
					})
					time.Sleep(time.Second) // it begins before anything waits for it
					return g.Wait()
				})
			})
		}()
		time.Sleep(30 * time.Second)
		go func() { done <- run(p, locked(lock)) }()
		allEnd(t, p, done)
		p.Close()
		q.Close()
	})
}

// A subtask ends, and leaves a goroutine behind that waits for work in its name. That work does not keep the place from the
// next subtask.
func TestWhatASubtaskLeavesBehindKeepsNoPlaceFromTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		lock, done := make(chan struct{}, 1), make(chan error, 2)
		go func() {
			done <- run(p, func(ctx context.Context) error {
				lock <- struct{}{}
				defer func() { <-lock }()
				g := p.Group(ctx)
				g.Go(func(ctx context.Context) error {
					go func() {
						_ = runIn(ctx, p, locked(lock)) // is cancelled with the group if that ends before
						done <- nil
					}()
					time.Sleep(time.Second)
					return nil
				})
				g.Go(succeed)
				return g.Wait()
			})
		}()
		allEnd(t, p, done)
		p.Close()
	})
}

// A goroutine that a subtask has left behind is in Blocking while the next one runs, which still gives its place up.
func TestAGoroutineLeftBehindInBlockingHoldsNoSibling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		done, end := make(chan error, 1), make(chan struct{})
		go func() {
			done <- run(p, func(ctx context.Context) error {
				g, signal := p.Group(ctx), make(chan struct{})
				g.Go(func(ctx context.Context) error {
					waited := make(chan error)
					go func() {
						waited <- runIn(ctx, p, func(context.Context) error { time.Sleep(time.Second); return nil })
					}()
					go func() {
						time.Sleep(time.Second / 2)
						weir.Blocking(ctx, func() { <-end })
					}()
					return <-waited
				})
				g.Go(func(ctx context.Context) error { weir.Blocking(ctx, func() { <-signal }); return nil })
				g.Go(func(context.Context) error { close(signal); return nil })
				return g.Wait()
			})
		}()
		allEnd(t, p, done)
		close(end)
		p.Close()
	})
}

// locked makes a task that takes the lock.
func locked(lock chan struct{}) func(context.Context) error {
	return func(context.Context) error {
		lock <- struct{}{}
		<-lock
		return nil
	}
}

// allEnd fails the test if one of the tasks hangs, by the bubble's clock.
func allEnd(t *testing.T, p *weir.Pool, done <-chan error) {
	t.Helper()
	for range cap(done) {
		select {
		case err := <-done:
			check.OK(t, err)
		case <-time.After(time.Hour):
			t.Fatalf("hangs: %+v", p.Stats())
		}
	}
}
