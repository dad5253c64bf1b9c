package weir_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// The first ring of a queue is small: a task that makes more futures than it holds must not wait for any.
func TestAsyncInATaskOfThePoolDoesNotWaitWhileThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		release := make(chan struct{})
		check.OK(t, run(p, func(ctx context.Context) error {
			var futures []*weir.Future[int]
			for range 200 {
				futures = append(futures, weir.Async(ctx, p, func(context.Context) (int, error) {
					<-release
					return 0, nil
				}))
			}
			close(release)
			for _, f := range futures {
				if _, err := f.Get(ctx); err != nil {
					return err
				}
			}
			return nil
		}))
		hasItsPlaces(t, p, 1)
	})
}

// Nor while a worker is free, without a queue.
func TestAsyncInATaskUsesAFreeWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(3, weir.Queue(0))
		defer p.Close()
		ch := make(chan int)
		check.OK(t, run(p, func(ctx context.Context) error {
			one := weir.Async(ctx, p, func(context.Context) (int, error) { return <-ch, nil })
			other := weir.Async(ctx, p, func(context.Context) (int, error) { ch <- 1; return 0, nil })
			if _, err := one.Get(ctx); err != nil {
				return err
			}
			_, err := other.Get(ctx)
			return err
		}))
	})
}

// waitsByWayOf is a task of p that holds a lock, and waits for another task of p by way of two tasks of q. That one comes after the signal, and the first
// of q begins to wait last.
func waitsByWayOf(q, p *weir.Pool, lock, signal chan struct{}) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		lock <- struct{}{}
		defer func() { <-lock }()
		first := q.Group(ctx)
		first.Go(func(ctx context.Context) error {
			second := q.Group(ctx)
			second.Go(func(ctx context.Context) error {
				<-signal
				back := p.Group(ctx)
				back.Go(succeed)
				return back.Wait()
			})
			time.Sleep(time.Second) // until the task of second waits
			return second.Wait()
		})
		return first.Wait()
	}
}

// A path from one pool over another back to the first is there also when the task in between begins
// to wait last.
func TestPromise09APathOfWaitsIsFoundThoughItsMiddleComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(2), weir.New(4)
		defer p.Close()
		defer q.Close()
		lock, crowded := make(chan struct{}, 1), make(chan struct{})
		g := p.Group(t.Context())
		g.Go(waitsByWayOf(q, p, lock, crowded))
		synctest.Wait()
		g.Go(func(context.Context) error {
			lock <- struct{}{}
			<-lock
			return nil
		})
		synctest.Wait() // it has the other place of p, and waits for the lock
		close(crowded)
		check.OK(t, g.Wait())
	})
}

// So it is when the place has meanwhile gone to work of another pool's task, which waits for the lock.
func TestPromise09APathOfWaitsIsFoundThoughThePlaceIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q, o := weir.New(1), weir.New(4), weir.New(1)
		defer p.Close()
		defer q.Close()
		defer o.Close()
		lock, taken := make(chan struct{}, 1), make(chan struct{})
		g := p.Group(t.Context())
		g.Go(waitsByWayOf(q, p, lock, taken))
		synctest.Wait()
		h := o.Group(t.Context())
		h.Go(func(ctx context.Context) error {
			of := p.Group(ctx)
			of.Go(func(context.Context) error {
				lock <- struct{}{}
				<-lock
				return nil
			})
			return of.Wait()
		})
		synctest.Wait()
		check.Equal(t, "running in the only place", p.Stats().Running, 1)
		close(taken)
		check.OK(t, g.Wait())
		check.OK(t, h.Wait())
		hasItsPlaces(t, p, 1)
	})
}

// Work that a task gave up waiting for needs the extra place, not the task: the place that was lent to the task is lent
// again only when the task is over, and the extra place lasts no longer than that work.
func TestPromise02AnExtraPlaceLastsNoLongerThanWhatNeedsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var running check.Gauge
		check.OK(t, run(p, func(ctx context.Context) error {
			g := p.Group(ctx)
			g.Go(func(ctx context.Context) error {
				slow := weir.Async(ctx, p, func(context.Context) (int, error) { time.Sleep(2 * time.Second); return 0, nil })
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err := slow.Get(short)
				check.Error(t, err, context.DeadlineExceeded)
				check.Equal(t, "extra places", p.Stats().Extra, 1)
				time.Sleep(1500 * time.Millisecond)
				check.Equal(t, "extra places", p.Stats().Extra, 0)
				running.Enter()
				time.Sleep(time.Second)
				running.Leave()
				return nil
			})
			g.Go(func(context.Context) error {
				running.Enter()
				time.Sleep(time.Second)
				running.Leave()
				return nil
			})
			return g.Wait()
		}))
		check.Equal(t, "the most at once", running.Peak.Load(), 1)
		hasItsPlaces(t, p, 1)
	})
}

// A goroutine of a subtask comes back from Blocking while the subtask itself waits.
func TestAGoroutineReturnsFromBlockingWhileItsSubtaskWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(1), weir.New(1)
		defer p.Close()
		defer q.Close()
		nap := func(ms int) func() { return func() { time.Sleep(time.Duration(ms) * time.Millisecond) } }
		check.OK(t, run(p, func(ctx context.Context) error {
			g := p.Group(ctx)
			g.Go(func(ctx context.Context) error {
				var left sync.WaitGroup
				left.Go(func() { weir.Blocking(ctx, nap(1)) })
				nap(2)()
				h := q.Group(ctx)
				h.Go(func(context.Context) error { nap(30)(); return nil })
				err := h.Wait()
				left.Wait()
				return err
			})
			g.Go(func(context.Context) error { nap(10)(); return nil })
			return g.Wait()
		}))
		hasItsPlaces(t, p, 1)
		hasItsPlaces(t, q, 1)
	})
}

// A loop over the results of a cancelled group ends in a pause.
func TestPromise08APauseDoesNotHoldALoopOverACancelledGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		ready, goOn := make(chan struct{}), make(chan struct{})
		var inner *weir.Group
		looped := false
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner = p.Group(ctx)
			r := weir.NewResults[int](inner)
			r.Go(func(context.Context) (int, error) { return 1, nil })
			close(ready)
			<-goOn
			for _, err := range r.All() {
				_ = err // the cancellation
			}
			looped = true
			return nil
		})
		<-ready
		p.Pause()
		close(goOn)
		synctest.Wait()
		inner.Cancel(errBoom)
		synctest.Wait()
		check.Equal(t, "ended in the pause", looped, true)
		p.Resume()
		check.OK(t, g.Wait())
	})
}

// In a pause, a task that a subtask adds to its group is discarded when the group is cancelled, also if Wait began before the
// pause.
func TestPromise08APauseDoesNotHoldWhatIsAddedToACancelledGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		add, fail := make(chan struct{}), make(chan struct{})
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			h := p.Group(ctx)
			h.Go(func(context.Context) error {
				<-add
				h.Go(succeed)
				<-fail
				return errBoom
			})
			time.Sleep(time.Second) // until the subtask has begun, on the other worker
			check.Error(t, h.Wait(), errBoom)
			return nil
		})
		time.Sleep(2 * time.Second)
		p.Pause()
		close(add)
		synctest.Wait()
		close(fail)
		check.OK(t, g.Wait())
	})
}

// A cancelled group takes no room in the queue of another pool, and frees none: its tasks that wait for room hold none.
func TestACancelledGroupAddsNoRoomToTheQueueOfAnotherPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(1), weir.New(1, weir.Queue(2))
		defer p.Close()
		defer q.Close()
		release := make(chan struct{})
		for range 3 {
			check.OK(t, q.Submit(func() { <-release }))
		}
		for range 5 {
			go func() { check.OK(t, q.Submit(func() {})) }()
		}
		synctest.Wait()
		cancelled, over := make(chan struct{}), make(chan error)
		go func() {
			over <- run(p, func(ctx context.Context) error {
				g := q.Group(ctx)
				var givers sync.WaitGroup
				givers.Go(func() { g.Go(succeed) })
				time.Sleep(time.Second)
				givers.Go(func() { check.Error(t, g.Wait(), errBoom) }) // learns of the end first
				time.Sleep(time.Second)
				for range 4 {
					givers.Go(func() { g.Go(succeed) })
				}
				<-cancelled
				g.Cancel(errBoom)
				givers.Wait()
				return nil
			})
		}()
		time.Sleep(3 * time.Second)
		check.Equal(t, "in the line", q.Stats().Waiting, 10)
		close(cancelled)
		check.OK(t, <-over)
		synctest.Wait()
		check.Equal(t, "queued", q.Stats().Queued, 2)
		check.Equal(t, "in the line", q.Stats().Waiting, 5)
		close(release)
		synctest.Wait()
	})
}

// A task in Async whose submission was let into the queue, and whose future is then started out of turn, counts as one
// that waits: else a circular wait of two pools would not end.
func TestPromise09ACircularWaitEndsWhileATaskWaitsInAsync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(1, weir.Queue(1)), weir.New(1)
		defer p.Close()
		defer q.Close()
		begin, over := make(chan struct{}), make(chan error, 1)
		go func() {
			over <- run(p, func(ctx context.Context) error {
				<-begin
				f := weir.Async(ctx, p, func(ctx context.Context) (int, error) {
					return weir.Async(ctx, q, func(ctx context.Context) (int, error) {
						return 1, runIn(ctx, p, func(context.Context) error { return nil })
					}).Get(ctx)
				})
				_, err := f.Get(ctx)
				return err
			})
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_ = p.Do(ctx, func(context.Context) error { return nil })
			p.Resume()
		}()
		synctest.Wait() // the queue is full
		p.Pause()
		close(begin)
		synctest.Wait() // Async waits in the queue of submitters
		cancel()
		check.OK(t, <-over)
	})
}

// The first task of a line waits for one of its own pool by way of others, of which each may be the last to begin its wait.
func TestAPlaceIsLentAcrossManyPoolsWhicheverTaskWaitsLast(t *testing.T) {
	const others = 4
	for last := range others + 1 {
		for own := range others { // which task hands the next one to a group with workers of its own
			check.Bubble(t, fmt.Sprintf("last %d, own workers below %d", last, own), func(t *testing.T) {
				var pools [others + 1]*weir.Pool
				for i := range pools { // of which each has a task that does not wait: else any task that waits would lend its place
					pools[i] = weir.New(2)
					defer pools[i].Close()
					v := check.NewValve()
					check.OK(t, pools[i].Submit(v.Hold))
					defer v.Open()
				}
				ran := false
				var task func(ctx context.Context, i int) error
				task = func(ctx context.Context, i int) error {
					if i == len(pools) {
						ran = true
						return nil
					}
					next := (i + 1) % len(pools) // the last one's task runs in the first pool
					g := pools[next].Group(ctx)
					if i == own {
						g = weir.NewGroup(ctx, 1)
					}
					g.Go(func(ctx context.Context) error { return task(ctx, i+1) })
					if i == last {
						time.Sleep(time.Second) // all others wait
					}
					return g.Wait()
				}
				g := pools[0].Group(t.Context())
				g.Go(func(ctx context.Context) error { return task(ctx, 0) })
				check.OK(t, g.Wait())
				check.Equal(t, "the last task ran", ran, true)
			})
		}
	}
}

// The place of a task is lent to one for which it does not wait, as all tasks wait, and that one waits for a lock which the first one holds. Then the
// lane where the first one's work waits gets a permit again: the work takes the place back.
func TestPromise09ALaneThatBidsTakesAPlaceFromATaskThatWaitsForALock(t *testing.T) {
	for range check.Scale(3000, 500) {
		p := weir.New(1, weir.Queue(1))
		locks, other := p.Lane(1, weir.Queue(0)), p.Lane(1, weir.Queue(0))
		over := make(chan struct{})
		var lock sync.Mutex
		holds := func(ctx context.Context) (int, error) {
			lock.Lock()
			defer lock.Unlock()
			g := other.Group(ctx)
			g.Go(succeed)
			g.Go(succeed)
			return 0, g.Wait()
		}
		weir.Async(t.Context(), p, func(ctx context.Context) (int, error) {
			weir.Async(ctx, p, func(ctx context.Context) (int, error) {
				defer close(over)
				for range 2 {
					r := weir.NewResults[int](other.Group(ctx))
					r.Go(func(context.Context) (int, error) { return 0, nil })
					if _, err := r.Wait(); err != nil {
						t.Error(err)
					}
					weir.Async(ctx, locks, holds)
				}
				return 0, nil
			})
			return 0, nil
		})
		check.Within(20*time.Second, func() { <-over; locks.Wait() })
		p.Close()
	}
}

// A goroutine that ranges over results is left behind by its task, and looks again when the task is over. The worker has one of the
// awaited tasks by then, which lends its place to no other.
func TestPromise02AGoroutineLeftBehindWaitsAgainInTheNameOfNone(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var running check.Gauge
		over, left := make(chan struct{}), make(chan struct{})
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			r := weir.NewResults[int](inner)
			r.Go(func(context.Context) (int, error) { return 0, nil })
			for i := range 4 {
				inner.Go(func(context.Context) error {
					running.Enter()
					time.Sleep(time.Duration(4-i) * time.Second)
					running.Leave()
					return nil
				})
			}
			first := make(chan struct{})
			go func() {
				defer close(left)
				for _, err := range r.All() {
					check.OK(t, err)
					close(first)
					<-over
				}
			}()
			<-first
			return nil
		})
		synctest.Wait()
		close(over)
		<-left
		check.OK(t, g.Wait())
		check.Equal(t, "at once", running.Peak.Load(), 1)
	})
}
