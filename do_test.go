package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func never(t testing.TB) func(context.Context) error {
	return func(context.Context) error {
		t.Error("called")
		return nil
	}
}

func TestDoRunsOnTheCallersGoroutineAndReturnsWhatTheTaskReturned(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	check.Error(t, p.Do(t.Context(), func(context.Context) error {
		pcs := make([]uintptr, 64)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
		for {
			frame, more := frames.Next()
			if frame.Function == "testing.tRunner" {
				return errBoom
			}
			if !more {
				t.Error("another goroutine's stack")
				return nil
			}
		}
	}), errBoom)
}

func TestDoWaitsItsTurnAmongTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		v := block(t, p, 1)
		var order []string
		note := func(name string) func() { return func() { order = append(order, name) } }
		var visitors sync.WaitGroup
		for i := range 3 {
			check.OK(t, p.Submit(note(fmt.Sprint("task ", i))))
			visitors.Go(func() {
				check.OK(t, p.Do(t.Context(), func(context.Context) error {
					note(fmt.Sprint("visitor ", i))()
					return nil
				}))
			})
			synctest.Wait()
		}
		v.Open()
		visitors.Wait()
		p.Wait()
		check.Equal(t, "order", fmt.Sprint(order), "[task 0 visitor 0 task 1 visitor 1 task 2 visitor 2]")
	})
}

func TestDoCountsAgainstTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(3)
		defer p.Close()
		var running check.Gauge
		work := func() {
			running.Enter()
			time.Sleep(time.Millisecond)
			running.Leave()
		}
		var visitors sync.WaitGroup
		begin := time.Now()
		for range 30 {
			check.OK(t, p.Submit(work))
			visitors.Go(func() {
				check.OK(t, p.Do(t.Context(), func(context.Context) error {
					work()
					return nil
				}))
			})
		}
		visitors.Wait()
		p.Wait()
		check.Equal(t, "at once", running.Peak.Load(), int64(3))
		check.Equal(t, "took", time.Since(begin), 20*time.Millisecond)
		stats := p.Stats()
		check.Equal(t, "accepted", stats.Accepted, 60)
		check.Equal(t, "finished", stats.Finished, 60)
	})
}

func TestDoIsHeldByPauseAndByResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		p.Pause()
		v := check.NewValve()
		var visitors sync.WaitGroup
		for range 2 {
			visitors.Go(func() { check.OK(t, p.Do(t.Context(), v.Member)) })
		}
		synctest.Wait()
		check.Equal(t, "running while paused", v.Running(), 0)
		p.Resize(1)
		p.Resume()
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 1)
		v.Open()
		visitors.Wait()
	})
}

func TestDoThatIsCancelledInTheQueueNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(1))
		v := block(t, p, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		var visitors sync.WaitGroup
		for range 3 { // one is queued, the others wait for room
			visitors.Go(func() { check.Error(t, p.Do(ctx, never(t)), errBoom) })
		}
		synctest.Wait()
		cancel(errBoom)
		visitors.Wait()
		check.Error(t, p.Do(ctx, never(t)), errBoom)
		v.Open()
		hasItsPlaces(t, p, 1)
		p.Close()
	})
}

func TestDoThatIsCancelledTakesNoRoomInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(2))
		v := block(t, p, 1)
		for range 4 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			check.Error(t, p.Do(ctx, never(t)), context.DeadlineExceeded)
			cancel()
		}
		check.Equal(t, "handed back", p.Stats().HandedBack, 4)
		ran := false
		check.OK(t, p.TrySubmit(func() { ran = true }))
		v.Open()
		p.Close()
		check.Equal(t, "ran", ran, true)
		stats := p.Stats()
		check.Equal(t, "finished", stats.Finished, 2)
		check.Equal(t, "accepted", stats.Accepted, 6)
	})
}

func TestDoInATaskNeverRunsOnceItsContextIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(errBoom)
			check.Error(t, p.Do(ctx, never(t)), errBoom)
			return nil
		})
		check.OK(t, g.Wait())
	})
}

// late is a context that is found to be done, but wakes no goroutine.
type late struct {
	context.Context
	done atomic.Bool
}

func (c *late) Err() error {
	if c.done.Load() {
		return errBoom
	}
	return nil
}

// The place comes before the caller has seen that its context is done.
func TestDoNeverRunsOnceItsContextIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		v := block(t, p, 1)
		ctx := &late{Context: context.Background()}
		var visitor sync.WaitGroup
		visitor.Go(func() { check.Error(t, p.Do(ctx, never(t)), errBoom) })
		synctest.Wait()
		ctx.done.Store(true)
		v.Open()
		visitor.Wait()
		hasItsPlaces(t, p, 1)
	})
}

func TestDoIsRefusedAsSubmitIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		v := block(t, p, 1)
		check.Error(t, p.Do(t.Context(), never(t)), weir.ErrFull)
		v.Open()
		p.Close()
		check.Error(t, p.Do(t.Context(), never(t)), weir.ErrClosed)
	})
}

func TestShutdownRefusesAQueuedDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		var visitor sync.WaitGroup
		visitor.Go(func() { check.Error(t, p.Do(t.Context(), never(t)), weir.ErrClosed) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.Equal(t, "handed back", len(unrun), 0)
		visitor.Wait()
		v.Open()
		p.Close()
	})
}

func TestCloseWaitsForDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		v := check.NewValve()
		var visitors, closing sync.WaitGroup
		for range 2 { // one of them is queued
			visitors.Go(func() { check.OK(t, p.Do(t.Context(), v.Member)) })
		}
		synctest.Wait()
		closed := false
		closing.Go(func() {
			p.Close()
			closed = true
		})
		synctest.Wait()
		check.Equal(t, "closed", closed, false)
		v.Open()
		closing.Wait()
		visitors.Wait()
		check.Equal(t, "ran", v.Ended.Load(), 2)
	})
}

func TestDoThatPanicsOrExitsFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.OnPanic(func(p *weir.Panic) { t.Errorf("reported: %v", p.Value) }))
		defer p.Close()
		check.Equal[any](t, "panic", check.Caught(func() {
			check.OK(t, p.Do(t.Context(), explodeInGroup))
		}), errBoom)
		hasItsPlaces(t, p, 1)
		var exiting sync.WaitGroup
		exiting.Go(func() {
			check.OK(t, p.Do(t.Context(), exitInGroup))
			t.Error("Do returned")
		})
		exiting.Wait()
		hasItsPlaces(t, p, 1)
		check.Equal(t, "panics counted", p.Stats().Panicked, 0)
	})
}

func TestDoInATaskOfThePoolRunsInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		v, done := block(t, p, 1), false
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			return p.Do(ctx, func(ctx context.Context) error {
				return p.Do(ctx, func(context.Context) error {
					done = true
					return errBoom
				})
			})
		})
		check.OK(t, p.Submit(func() { check.Equal(t, "done before what was queued later", done, true) }))
		v.Open()
		check.Error(t, g.Wait(), errBoom)
		p.Wait()
	})
}

func TestGroupsMadeInDoNest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var outlived context.Context
		check.Error(t, p.Do(t.Context(), func(ctx context.Context) error {
			outlived = ctx
			g := p.Group(ctx)
			g.Go(func(context.Context) error { return errBoom })
			return g.Wait()
		}), errBoom)
		// The context is over: it must not stand for a place any more.
		v := check.NewValve()
		var visitor sync.WaitGroup
		visitor.Go(func() { check.OK(t, p.Do(outlived, v.Member)) })
		synctest.Wait()
		check.Equal(t, "workers that stand still", p.Stats().Running, 1)
		v.Open()
		visitor.Wait()
	})
}

// Tasks of two pools want each other's only place.
func TestDoAcrossTwoPoolsDoesNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := [2]*weir.Pool{weir.New(1), weir.New(1)}
		var groups [2]*weir.Group
		both := make(chan struct{})
		arrived := 0
		var mu sync.Mutex
		for i := range pools {
			groups[i] = pools[i].Group(t.Context())
			groups[i].Go(func(ctx context.Context) error {
				mu.Lock()
				if arrived++; arrived == 2 {
					close(both)
				}
				mu.Unlock()
				<-both
				return pools[1-i].Do(ctx, func(context.Context) error {
					time.Sleep(time.Millisecond)
					return nil
				})
			})
		}
		for i := range groups {
			check.OK(t, groups[i].Wait())
			hasItsPlaces(t, pools[i], 1)
			pools[i].Close()
		}
	})
}

// The task of another pool has its place again after a panic that came through Do.
func TestAPanicThroughDoFindsTheCallersPlaceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, inner := weir.New(1), weir.New(1)
		defer outer.Close()
		defer inner.Close()
		for _, task := range []func(context.Context) error{explodeInGroup, exitInGroup} {
			g := outer.Group(t.Context(), weir.PanicsAsErrors())
			g.Go(func(ctx context.Context) error { return inner.Do(ctx, task) })
			if g.Wait() == nil {
				t.Error("no error")
			}
			v := block(t, outer, 1)
			check.Equal(t, "running", outer.Stats().Running, 1)
			v.Open()
			hasItsPlaces(t, outer, 1)
			hasItsPlaces(t, inner, 1)
		}
	})
}

func TestDoKeepsTheCallersPlaceInItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, inner := weir.New(1), weir.New(1)
		defer outer.Close()
		defer inner.Close()
		v, other, back := check.NewValve(), check.NewValve(), false
		g := outer.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			defer func() { back = true }()
			return inner.Do(ctx, v.Member)
		})
		synctest.Wait()
		check.OK(t, outer.Submit(other.Hold))
		synctest.Wait()
		check.Equal(t, "tasks in the caller's place", other.Running(), 0)
		v.Open()
		synctest.Wait()
		check.Equal(t, "returned", back, true)
		check.Equal(t, "tasks after it", other.Running(), 1)
		other.Open()
		check.OK(t, g.Wait())
	})
}

func TestDoUnderStressLosesNoCallAndKeepsTheLimit(t *testing.T) {
	for _, limit := range []int{1, 3} {
		for _, queue := range []int{0, 2, 64} {
			t.Run(fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				check.Within(time.Minute, func() { stressDo(t, limit, queue) })
			})
		}
	}
}

func stressDo(t *testing.T, limit, queue int) {
	const clients = 8
	p := weir.New(limit, weir.Queue(queue), weir.IdleTimeout(time.Microsecond))
	var running check.Gauge
	var ran, returned, tasks, submitted atomic.Int64
	var all sync.WaitGroup
	for range clients {
		dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
		all.Go(func() {
			for range check.Scale(2000, 200) {
				if dice.IntN(3) == 0 {
					check.OK(t, p.Submit(func() {
						running.Enter()
						tasks.Add(1)
						running.Leave()
					}))
					submitted.Add(1)
					continue
				}
				ctx, cancel := context.WithCancel(context.Background())
				turns := dice.IntN(4)
				if dice.IntN(4) == 0 {
					all.Go(func() {
						yield(turns)
						cancel()
					})
				}
				err := p.Do(ctx, func(context.Context) error {
					running.Enter()
					yield(turns)
					ran.Add(1)
					running.Leave()
					return errBoom
				})
				cancel()
				switch {
				case errors.Is(err, errBoom):
					returned.Add(1)
				default:
					check.Error(t, err, context.Canceled)
				}
			}
		})
	}
	all.Wait()
	p.Close()
	check.Equal(t, "visits", ran.Load(), returned.Load())
	check.Equal(t, "tasks", tasks.Load(), submitted.Load())
	if peak := running.Peak.Load(); peak > int64(limit) {
		t.Errorf("%d at once, limit %d", peak, limit)
	}
	stats := p.Stats()
	check.Equal(t, "accepted tasks that ended", stats.Finished+stats.HandedBack, stats.Accepted)
}

func TestDoRefusesMisuse(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	check.Panics(t, "weir: task must not be nil, got nil", func() { _ = p.Do(t.Context(), nil) })
	check.Panics(t, "weir: context must not be nil, got nil", func() { _ = p.Do(nil, never(t)) }) //nolint:staticcheck // the misuse
	check.Panics(t, "weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value", func() { _ = new(weir.Pool).Do(t.Context(), never(t)) })
}

func BenchmarkDo(b *testing.B) {
	task := func(context.Context) error { return nil }
	for _, clients := range []int{1, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			p := weir.New(8)
			defer p.Close()
			b.ReportAllocs()
			var all sync.WaitGroup
			for k := range clients {
				all.Go(func() {
					for range (k+1)*b.N/clients - k*b.N/clients {
						check.OK(b, p.Do(context.Background(), task))
					}
				})
			}
			all.Wait()
		})
	}
}

// The worker that was parked for a task may not be awake yet when the next task comes.
func TestWhenDoHasReturnedItsPlaceIsFree(t *testing.T) {
	p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
	defer p.Close()
	for range 1000 {
		check.OK(t, p.Do(t.Context(), func(context.Context) error { return nil }))
		check.OK(t, p.TrySubmit(nothing))
		p.Wait()
		if t.Failed() {
			return
		}
	}
}

// No call makes the list of the tasks above it anew.
func TestDoNestedInTwoPoolsAllocatesInProportionToTheDepth(t *testing.T) {
	allocations := func(depth int) uint64 {
		pools := [2]*weir.Pool{weir.New(weir.Unbounded), weir.New(weir.Unbounded)}
		defer pools[0].Close()
		defer pools[1].Close()
		var nest func(ctx context.Context, depth int) error
		nest = func(ctx context.Context, depth int) error {
			if depth == 0 {
				return nil
			}
			return pools[depth%2].Do(ctx, func(ctx context.Context) error { return nest(ctx, depth-1) })
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := nest(t.Context(), depth); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	allocations(100)
	if few, many := allocations(200), allocations(800); many > 8*few {
		t.Errorf("%d allocations for a depth of 200, %d for 800", few, many)
	}
}
