package weir_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// keepBusy gives a lane more to do than it can, until its pool is closed. In a bubble only.
func keepBusy(l *weir.Pool, each time.Duration) { feed(l, each, new(atomic.Int64)) }

// feed is keepBusy, and counts the tasks that are over.
func feed(l *weir.Pool, each time.Duration, over *atomic.Int64) {
	go func() {
		for l.Submit(func() { time.Sleep(each); over.Add(1) }) == nil {
		}
	}()
}

// wasAlone keeps a and b busy, and pauses b for an hour.
func wasAlone(a, b *weir.Pool, each time.Duration) {
	keepBusy(a, each)
	keepBusy(b, each)
	time.Sleep(time.Minute)
	b.Pause()
	time.Sleep(time.Hour)
	b.Resume()
}

// nothingMore is a context with which Shutdown does not wait.
func nothingMore() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// What a lane has had when no other wanted it, or could not use, does not count later: neither as a debt nor as a claim.
func TestLanesHaveNoDebtsAndNoClaims(t *testing.T) {
	task := time.Second
	if testing.Short() {
		task *= 5
	}
	for _, history := range []struct {
		name   string
		places int
		make   func(p *weir.Pool) (a, b *weir.Pool) // for an hour
	}{
		{"one was alone", 4, func(p *weir.Pool) (a, b *weir.Pool) {
			a, b = p.Lane(4), p.Lane(4)
			wasAlone(a, b, task)
			return a, b
		}},
		{"the limits filled the pool, and a third one comes", 4, func(p *weir.Pool) (a, b *weir.Pool) {
			a, b = p.Lane(2), p.Lane(4)
			keepBusy(a, task)
			keepBusy(b, task)
			time.Sleep(time.Hour)
			a.Pause()
			return p.Lane(4), b
		}},
		{"one had one task at a time", 8, func(p *weir.Pool) (a, b *weir.Pool) {
			a, b = p.Lane(8), p.Lane(8)
			keepBusy(b, task)
			for range 1000 {
				_ = a.Do(context.Background(), func(context.Context) error { time.Sleep(task); return nil })
			}
			return a, b
		}},
		{"one had a long task", 8, func(p *weir.Pool) (a, b *weir.Pool) {
			a, b = p.Lane(8), p.Lane(8)
			_ = a.Submit(func() { time.Sleep(2 * time.Hour) })
			keepBusy(b, task)
			time.Sleep(time.Hour)
			return a, b
		}},
		{"one had a low limit", 4, func(p *weir.Pool) (a, b *weir.Pool) {
			a, b = p.Lane(1), p.Lane(4)
			keepBusy(a, task)
			keepBusy(b, task)
			time.Sleep(time.Hour)
			a.Resize(4)
			return a, b
		}},
		{"the queue of the pool was alone", 2, func(p *weir.Pool) (a, b *weir.Pool) {
			b = p.Lane(2)
			wasAlone(p, b, task)
			return p, b
		}},
		{"one rested", 1, func(p *weir.Pool) (a, b *weir.Pool) {
			a, b = p.Lane(1), p.Lane(1)
			keepBusy(b, task)
			_ = a.Do(context.Background(), func(ctx context.Context) error {
				weir.Blocking(ctx, func() { time.Sleep(time.Hour) })
				return nil
			})
			return a, b
		}},
	} {
		check.Bubble(t, history.name, func(t *testing.T) {
			p := weir.New(history.places)
			a, b := history.make(p)
			keepBusy(a, task)
			keepBusy(b, task)
			first, second := a.Stats().Finished, b.Stats().Finished
			time.Sleep(10 * time.Minute)
			had, others := int(a.Stats().Finished-first), int(b.Stats().Finished-second)
			if had > 2*others || others > 2*had {
				t.Errorf("in ten minutes one has had %d tasks, the other %d", had, others)
			}
			_, _ = p.Shutdown(nothingMore())
			p.Close()
		})
	}
}

// A worker that has run tiny tasks leaves its place after the first long one.
func TestALaneOfShortTasksAndThenLongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		a, b := p.Lane(1, weir.Queue(weir.Unbounded)), p.Lane(1, weir.Queue(weir.Unbounded))
		v := block(t, p, 1)
		var long, before atomic.Int64
		for range 400 {
			check.OK(t, a.Submit(nothing))
		}
		for range 100 {
			check.OK(t, a.Submit(func() { time.Sleep(20 * time.Millisecond); long.Add(1) }))
		}
		for range 1000 {
			check.OK(t, b.Submit(func() { before.CompareAndSwap(0, long.Load()) }))
		}
		v.Open()
		b.Wait()
		if n := before.Load(); n > 2 {
			t.Errorf("%d long tasks of one lane ran before the next of the other", n)
		}
	})
}

// Lanes are made while the pool is shut down.
func TestALaneIsMadeDuringShutdown(t *testing.T) {
	for i := range check.Scale(200, 100) {
		p := weir.New(2)
		var makers sync.WaitGroup
		makers.Go(func() {
			for p.Lane(1).Submit(func() { yield(5) }) == nil {
				runtime.Gosched() // on one processor it would make thousands before others come to run
			}
		})
		yield(i % 50)
		_, _ = p.Shutdown(nothingMore())
		p.Close()
		makers.Wait()
	}
}

// Nothing but the pool refers to a lane that is paused.
func TestPromise01TasksOfALaneThatWasDroppedAreNotLost(t *testing.T) {
	for _, shuts := range []bool{false, true} {
		p := weir.New(1)
		var ran atomic.Int64
		func() {
			l := p.Lane(1)
			l.Pause()
			for range 10 {
				check.OK(t, l.Submit(func() { ran.Add(1) }))
			}
		}()
		runtime.GC()
		runtime.GC()
		if shuts {
			unrun, _ := p.Shutdown(nothingMore())
			check.Equal(t, "handed back", len(unrun), 10)
		}
		p.Close()
		if !shuts {
			check.Equal(t, "ran", ran.Load(), 10)
		}
	}
}

func TestAgingWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		high := p.Lane(1, weir.Priority(1<<30))
		low := p.Lane(1, weir.Priority(-1<<30), weir.Aging(math.MaxInt64))
		v := block(t, p, 1)
		var ran []string
		check.OK(t, low.Submit(func() { ran = append(ran, "low") }))
		check.OK(t, high.Submit(func() { ran = append(ran, "high") }))
		time.Sleep(time.Hour)
		v.Open()
		p.Close()
		check.Equal(t, "first", ran[0], "high")
	})
}

// A lane of a higher priority is made when the other one waits already.
func TestALaneAgesToAPriorityThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		low := p.Lane(1, weir.Aging(10*time.Millisecond))
		v := block(t, p, 1)
		done := make(chan struct{})
		check.OK(t, low.Submit(func() { close(done) }))
		keepBusy(p.Lane(1, weir.Priority(5)), time.Millisecond)
		begin := time.Now()
		v.Open()
		<-done
		if took := time.Since(begin); took > 51*time.Millisecond {
			t.Errorf("it has waited %v", took)
		}
		_, _ = p.Shutdown(nothingMore())
		p.Close()
	})
}

// A lane that is gone does not count.
func TestAPriorityIsForgottenWithItsLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		for i := range 100 {
			p.Lane(1, weir.Priority(1000+i)).Close()
		}
		low := p.Lane(1, weir.Aging(10*time.Millisecond))
		keepBusy(p.Lane(1, weir.Priority(1)), time.Millisecond)
		time.Sleep(5 * time.Millisecond)
		begin := time.Now()
		check.OK(t, low.Do(t.Context(), succeed))
		if took := time.Since(begin); took > 11*time.Millisecond {
			t.Errorf("it has waited %v", took)
		}
		_, _ = p.Shutdown(nothingMore())
		p.Close()
	})
}

// The submitters of a pool without a queue count as its queue.
func TestSubmittersAndLanesAreServedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		l := p.Lane(1, weir.Priority(-1))
		keepBusy(l, time.Millisecond)
		time.Sleep(10*time.Millisecond + 1)
		begin := time.Now()
		check.OK(t, p.Do(t.Context(), succeed))
		check.OK(t, p.Submit(nothing))
		if took := time.Since(begin); took > 2*time.Millisecond {
			t.Errorf("they have waited %v", took)
		}
		_, _ = p.Shutdown(nothingMore())
		p.Close()
	})
}

// A task waits for one of the same pool, or of a lane of it, or the other way round, while one of the pools is paused. It makes no difference which
// of them, or whether tasks were queued there before, so that the lane bids for a place.
func TestSubtasksDoNotBeginInAPauseAndBeginAfterIt(t *testing.T) {
	const pools = 3
	for setting := range pools * pools * pools * 2 {
		at, on, paused, queued := setting%pools, setting/pools%pools, setting/(pools*pools)%pools, setting/(pools*pools*pools) > 0
		check.Bubble(t, fmt.Sprintf("a task of %d waits for one of %d, and %d is paused, queued %v", at, on, paused, queued), func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			chain := [pools]*weir.Pool{p, p.Lane(1)}
			chain[2] = chain[1].Lane(1)
			var began atomic.Bool
			goes := make(chan struct{})
			g := chain[at].Group(t.Context())
			g.Go(func(ctx context.Context) error {
				<-goes
				inner := chain[on].Group(ctx)
				inner.Go(func(context.Context) error { began.Store(true); return nil })
				return inner.Wait()
			})
			synctest.Wait()
			for _, p := range chain {
				if queued {
					check.OK(t, p.Submit(func() {}))
				}
			}
			chain[paused].Pause()
			close(goes)
			time.Sleep(time.Second)
			check.Equal(t, "began in the pause", began.Load(), paused > on)
			chain[paused].Resume()
			check.OK(t, g.Wait())
		})
	}
}

// A task waits for two of a group with workers of its own, which wait for a task of a lane and for one of a lane's lane. Both get its place.
func TestATaskWaitsForLanesAtTwoDepths(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	lanes := [2]*weir.Pool{p.Lane(1), p.Lane(1).Lane(1)}
	check.Within(time.Minute, func() {
		for range 1000 { // one of some fifty found a lane that was passed over
			check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
				both := weir.NewGroup(ctx, 2)
				for _, l := range lanes {
					both.Go(func(ctx context.Context) error {
						g := l.Group(ctx)
						g.Go(func(context.Context) error { return nil })
						return g.Wait()
					})
				}
				return both.Wait()
			}))
		}
	})
}

// Lanes whose tasks have waited for others leave nothing behind, and cost their pool nothing later.
func TestNestedWaitsInManyLanesLeaveNothing(t *testing.T) {
	check.Flat(t, 200, func(n int) (f, end func()) {
		p := weir.New(1, weir.Queue(weir.Unbounded))
		a := p.Lane(2)
		for range n {
			l := a.Lane(1)
			check.OK(t, l.Do(t.Context(), func(ctx context.Context) error {
				g := l.Group(ctx)
				g.Go(succeed)
				return g.Wait()
			}))
		}
		return func() {
			for range 20 {
				v := check.NewValve()
				check.OK(t, p.Submit(v.Hold))
				check.OK(t, a.Submit(nothing)) // bids
				v.Open()
				a.Wait()
			}
		}, p.Close
	})
}

// Lanes that age below one that is never reached cost nothing while they wait.
func TestManyLanesAge(t *testing.T) {
	check.Flat(t, 100, func(n int) (f, end func()) {
		p := weir.New(1)
		high := p.Lane(1, weir.Priority(1<<20), weir.Queue(weir.Unbounded))
		v := check.NewValve()
		check.OK(t, high.Submit(v.Hold))
		for range n {
			check.OK(t, p.Lane(1, weir.Aging(time.Microsecond)).Submit(nothing))
		}
		v.Open()
		return func() {
			for range 100 {
				check.OK(t, high.Submit(nothing))
			}
		}, p.Close
	})
}

// The end of a pool takes time in proportion to its lanes, whatever priorities they have.
func TestManyLanesCloseInLinearTime(t *testing.T) {
	const lanes = 32 * 100
	check.Flat(t, lanes/32, func(n int) (f, end func()) {
		return func() {
			for range lanes / n {
				p := weir.New(1)
				for i := range n {
					p.Lane(1, weir.Priority(2*i/n))
				}
				p.Close()
			}
		}, func() {}
	})
}

// A task of the pool's own queue that a lane has waited for pays for that, even if nothing is left to do when it ends.
func TestTheQueueOfAPoolPaysAtARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		l := p.Lane(1)
		takes := func(d time.Duration) func() { return func() { time.Sleep(d) } }
		check.OK(t, p.Submit(takes(100*time.Millisecond)))
		check.OK(t, p.Submit(takes(time.Millisecond)))
		synctest.Wait()
		check.OK(t, l.Submit(takes(time.Millisecond))) // waits for 100 ms,
		check.OK(t, p.Submit(takes(time.Second)))      // 99 of which this one runs
		p.Wait()
		synctest.Wait()

		check.OK(t, p.Submit(takes(time.Second)))
		check.OK(t, p.Submit(takes(time.Millisecond)))
		synctest.Wait()
		var mu sync.Mutex
		order := ""
		notes := func(s string) func() {
			return func() {
				mu.Lock()
				order += s
				mu.Unlock()
				time.Sleep(10 * time.Millisecond)
			}
		}
		for range 3 {
			check.OK(t, p.Submit(notes("p")))
			check.OK(t, l.Submit(notes("l")))
		}
		l.Wait()
		p.Wait()
		check.Equal(t, "order", order, "lllppp")
	})
}
