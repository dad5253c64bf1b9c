package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// 500 mails wait while 100 requests come in, on the same four places. Each request gets the next place that is free.
func TestAnUrgentLaneDoesNotWaitForWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		const mail = 5 * time.Millisecond
		mails := p.Lane(4, weir.Queue(1000))
		api := p.Lane(4, weir.Priority(1), weir.Queue(16))
		for range 500 {
			check.OK(t, mails.TrySubmit(func() { time.Sleep(mail) }))
		}
		begin := time.Now()
		for range 100 {
			from := time.Now()
			check.OK(t, api.Do(t.Context(), succeed))
			if took := time.Since(from); took > mail {
				t.Errorf("a request has waited %v, longer than one mail takes", took)
			}
		}
		mails.Wait()
		if took := time.Since(begin); took < 125*mail || took > 130*mail {
			t.Errorf("the mails took %v, want 125 times %v and next to nothing for the requests", took, mail)
		}
	})
}

// One tenant has 800 tasks of 5 ms on four places, another one has one task.
func TestALaneWithOneTaskDoesNotWaitForOneWithMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		many, one := p.Lane(4), p.Lane(4)
		for range 800 {
			check.OK(t, many.Submit(func() { time.Sleep(5 * time.Millisecond) }))
		}
		synctest.Wait()
		begin := time.Now()
		check.OK(t, one.Do(t.Context(), succeed))
		if took := time.Since(begin); took > 5*time.Millisecond {
			t.Errorf("it has waited %v", took)
		}
	})
}

func TestLanesShareByRunTime(t *testing.T) {
	for _, c := range []struct {
		places, exact int
		span          time.Duration
	}{
		{3, 20, 20 * time.Second},
		{32, 6, 2 * time.Second}, // several become free at once, and the workers that get them look for their tasks at once
	} {
		t.Run(fmt.Sprint(c.places, " places"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { shareByRunTime(t, c.places, c.exact, c.span) })
		})
	}
}

// shareByRunTime checks that each lane has had its share, as exactly as one part of so many.
func shareByRunTime(t *testing.T, places, exact int, span time.Duration) {
	p := weir.New(places)
	defer p.Close()
	shares := []int{1, 2, 5}
	lengths := []time.Duration{300 * time.Millisecond / time.Duration(places), time.Millisecond, 4 * time.Millisecond}
	var used [3]atomic.Int64
	for i, share := range shares {
		l := p.Lane(places, weir.Share(share), weir.Queue(3*places))
		go func() {
			for l.Submit(func() {
				time.Sleep(lengths[i])
				used[i].Add(int64(lengths[i]))
			}) == nil {
			}
		}()
	}
	time.Sleep(time.Second / 2) // the first one had all places
	for i := range used {
		used[i].Store(0)
	}
	time.Sleep(span)
	for i, share := range shares {
		got, want := time.Duration(used[i].Load()), time.Duration(places)*span*time.Duration(share)/8
		if off := got - want; off.Abs() > want/time.Duration(exact) {
			t.Errorf("share %d of 8 has had %v of %v, want %v", share, got, time.Duration(places)*span, want)
		}
	}
}

// The queue of the pool has a share of 1, like a lane.
func TestTheQueueOfThePoolHasAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		l := p.Lane(1)
		var own, lane atomic.Int64
		for range 400 {
			check.OK(t, p.Submit(func() { time.Sleep(2 * time.Millisecond); own.Add(1) }))
			check.OK(t, l.Submit(func() { time.Sleep(time.Millisecond); lane.Add(1) }))
		}
		time.Sleep(400*time.Millisecond - time.Microsecond)
		if own, lane := own.Load(), lane.Load(); own < 95 || own > 105 || lane < 190 || lane > 210 {
			t.Errorf("in 400 ms there were %d tasks of 2 ms from the pool's queue, %d of 1 ms from the lane's", own, lane)
		}
	})
}

func TestALaneOfLowPriorityAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		const d, task = 10 * time.Millisecond, 3 * time.Millisecond
		high := p.Lane(1, weir.Priority(9), weir.Queue(1000))
		low := p.Lane(1, weir.Aging(d))
		for range 1000 {
			check.OK(t, high.Submit(func() { time.Sleep(task) }))
		}
		begin := time.Now()
		for i := range 3 {
			check.OK(t, low.Do(t.Context(), succeed))
			took := time.Since(begin)
			if took > 9*d+task || took < 9*d {
				t.Errorf("task %d began after %v, want within 9 times %v and one task", i, took, d)
			}
			begin = time.Now()
		}
	})
}

// However many lanes age, and however much they have to do, an urgent lane waits for one of their tasks at most.
func TestLanesThatAgeDoNotStarveOthers(t *testing.T) {
	for _, lanes := range []int{1, 50} {
		for _, ages := range []bool{false, true} {
			check.Bubble(t, fmt.Sprintf("%d lanes, the urgent one ages %v", lanes, ages), func(t *testing.T) {
				const task = 4 * time.Millisecond
				p := weir.New(1)
				urgent := []weir.Option{weir.Priority(9)}
				if ages {
					urgent = append(urgent, weir.Aging(time.Millisecond))
				}
				high := p.Lane(1, urgent...)
				ran := make([]atomic.Int64, lanes)
				for i := range ran {
					low := p.Lane(2, weir.Aging(time.Millisecond), weir.Queue(1000))
					for range 1000/lanes + 50 {
						check.OK(t, low.Submit(func() { time.Sleep(task); ran[i].Add(1) }))
					}
				}
				time.Sleep(time.Second + 1)
				for i := range 100 {
					begin := time.Now()
					check.OK(t, high.Do(t.Context(), succeed))
					if took := time.Since(begin); took > 2*task {
						t.Errorf("urgent task %d has waited %v", i, took)
					}
				}
				for i := range ran {
					if ran[i].Load() == 0 {
						t.Errorf("lane %d has had no place", i)
					}
				}
				_, _ = p.Shutdown(nothingMore())
				p.Close()
			})
		}
	}
}

// Lanes, and lanes of lanes, of random priorities all have more tasks than they can run. A lane has its turn if it ages, or comes first, in each
// pool above.
func TestNoLaneThatAgesStarvesAmongAny(t *testing.T) {
	type lane struct {
		*weir.Pool
		of       *lane
		priority int
		ages     bool
		ran      atomic.Int64 // also of those below
	}
	seeds := uint64(100)
	if check.Race {
		seeds = 5
	}
	for seed := range seeds {
		check.Bubble(t, fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			root := &lane{Pool: weir.New(1+r.IntN(3), weir.Queue(weir.Unbounded)), ages: true}
			all := []*lane{root}
			for range 2 + r.IntN(6) {
				l := &lane{of: all[r.IntN(len(all))], priority: r.IntN(9) - 4, ages: r.IntN(2) == 0}
				opts := []weir.Option{weir.Priority(l.priority), weir.Queue(weir.Unbounded)}
				if l.ages {
					opts = append(opts, weir.Aging(time.Duration(1+r.IntN(3))*time.Millisecond))
				}
				l.Pool = l.of.Lane(1+r.IntN(3), opts...)
				all = append(all, l)
			}
			busy := all[r.IntN(2):] // without the pool's own queue, or with it
			for _, l := range busy {
				for range 1000 * root.Stats().Limit {
					check.OK(t, l.Submit(func() {
						time.Sleep(time.Millisecond)
						for x := l; x != nil; x = x.of {
							x.ran.Add(1)
						}
					}))
				}
			}
			time.Sleep(time.Second)
			for _, l := range busy {
				has := true
				for x := l; x.of != nil; x = x.of {
					first := x.priority >= 0 // so much has the queue of the pool above
					for _, y := range all {
						first = first && (y.of != x.of || y.priority <= x.priority)
					}
					has = has && (x.ages || first)
				}
				if n := l.ran.Load(); has && n < 3 && l != root {
					t.Errorf("a lane of priority %d, ages %v, has run %d tasks", l.priority, l.ages, n)
				}
			}
			_, _ = root.Shutdown(nothingMore())
			root.Close()
		})
	}
}

// Tokens are for lanes that age and for others in turn, also if a lane that takes none gets many places in between.
func TestLanesThatAgeDoNotTakeAllTokens(t *testing.T) {
	for _, priority := range []int{9, 10, 11} {
		check.Bubble(t, fmt.Sprintf("the lane that takes no tokens has priority %d", priority), func(t *testing.T) {
			p := weir.New(1, weir.Rate(100, time.Second, 1))
			var high, aged, free atomic.Int64
			feed(p.Lane(1, weir.Priority(10)), time.Microsecond, &high)
			for range 3 {
				feed(p.Lane(1, weir.Aging(time.Microsecond)), time.Microsecond, &aged)
			}
			feed(p.Lane(1, weir.Priority(priority), weir.Rate(1, time.Microsecond, 1)), 100*time.Microsecond, &free)
			time.Sleep(2 * time.Second)
			h, a, n := high.Load(), aged.Load(), free.Load()
			if a < 60 || h < 60 && priority <= 10 || n < 1000 && priority >= 10 {
				t.Errorf("the lane of priority 10 has had %d tasks, those that age %d, and the one without tokens %d", h, a, n)
			}
			_, _ = p.Shutdown(nothingMore())
			p.Close()
		})
	}
}

// Where tokens are plenty, lanes that age leave every other place to a lane that takes none.
func TestLanesThatAgeDoNotTakeAllPlacesWithTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Rate(1, time.Microsecond, 1))
		var aged, free atomic.Int64
		for range 3 {
			feed(p.Lane(1, weir.Aging(time.Microsecond)), time.Millisecond, &aged)
		}
		feed(p.Lane(1, weir.Priority(10), weir.Rate(1, time.Microsecond, 1)), time.Millisecond, &free)
		time.Sleep(time.Second)
		if a, n := aged.Load(), free.Load(); a < 300 || n < 300 {
			t.Errorf("those that age have had %d tasks, and the one without tokens %d", a, n)
		}
		_, _ = p.Shutdown(nothingMore())
		p.Close()
	})
}

// Without Aging it does not: that is what Priority says.
func TestALaneOfLowPriorityWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		high, low := p.Lane(1, weir.Priority(1)), p.Lane(1)
		for range 100 {
			check.OK(t, high.Submit(func() { time.Sleep(time.Millisecond) }))
		}
		begin := time.Now()
		check.OK(t, low.Do(t.Context(), succeed))
		check.Equal(t, "wait", time.Since(begin), 100*time.Millisecond)
	})
}

func TestALaneRunsNoMoreThanItsLimitAndThatOfItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		l := p.Lane(3)
		inner := l.Lane(2)
		var all, lane, below check.Gauge
		task := func(of ...*check.Gauge) func() {
			return func() {
				for _, g := range of {
					g.Enter()
					defer g.Leave()
				}
				time.Sleep(time.Millisecond)
			}
		}
		for range 50 {
			check.OK(t, p.Submit(task(&all)))
			check.OK(t, l.Submit(task(&all, &lane)))
			check.OK(t, inner.Submit(task(&all, &lane, &below)))
		}
		for _, p := range []*weir.Pool{p, l, inner} {
			p.Wait()
		}
		check.Equal(t, "at once in all", all.Peak.Load(), 4)
		check.Equal(t, "at once in the lane", lane.Peak.Load(), 3)
		check.Equal(t, "at once in the lane's lane", below.Peak.Load(), 2)
	})
}

func TestALaneOfLimitOneIsInOrder(t *testing.T) {
	p := weir.New(4)
	defer p.Close()
	l := p.Lane(1)
	const n = 10_000
	var ran []int // without a lock: promise 15
	for i := range n {
		check.OK(t, l.Submit(func() { ran = append(ran, i) }))
		if i%16 == 0 {
			check.OK(t, p.Submit(nothing))
		}
	}
	l.Close()
	check.Equal(t, "tasks", len(ran), n)
	check.Equal(t, "in order", slices.IsSorted(ran), true)
}

// A waiting task lends its place to what it waits for, wherever in the family that runs.
func TestPromise09TasksOfLanesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		pools := []*weir.Pool{p, p.Lane(1, weir.Queue(0)), p.Lane(1)}
		pools = append(pools, pools[1].Lane(1))
		var nest func(ctx context.Context, depth, from int) error
		nest = func(ctx context.Context, depth, from int) error {
			if depth == 0 {
				return nil
			}
			g := pools[from%len(pools)].Group(ctx)
			for i := range 2 {
				g.Go(func(ctx context.Context) error { return nest(ctx, depth-1, from+i+1) })
			}
			f := weir.Async(ctx, pools[(from+2)%len(pools)], func(ctx context.Context) (int, error) { return 1, nest(ctx, depth-2+depth%2, from+1) })
			_, err := f.Get(ctx)
			return errors.Join(g.Wait(), err)
		}
		for from := range pools {
			check.OK(t, pools[from].Do(t.Context(), func(ctx context.Context) error { return nest(ctx, 4, from) }))
		}
	})
}

// A lock that is held over a wait hangs nothing, though others on the same places want it.
func TestPromise09ALockHeldOverAWaitForAnotherLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		l, k := p.Lane(2), p.Lane(2)
		lock := make(chan struct{}, 1)
		g := l.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			lock <- struct{}{}
			defer func() { <-lock }()
			time.Sleep(time.Millisecond) // so that the others have the other place
			return k.Do(ctx, succeed)
		})
		for range 5 {
			g.Go(func(context.Context) error {
				lock <- struct{}{}
				<-lock
				return nil
			})
		}
		check.OK(t, g.Wait())
	})
}

func TestBlockingInALaneGivesThePlaceToAnyTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		l := p.Lane(1)
		other := make(chan struct{})
		check.OK(t, l.Do(t.Context(), func(ctx context.Context) error {
			check.OK(t, p.Submit(func() { close(other) }))
			weir.Blocking(ctx, func() { <-other })
			return nil
		}))
	})
}

func TestTasksOfALaneThatDoNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var caught atomic.Int32
		p := weir.New(2)
		defer p.Close()
		l := p.Lane(1, weir.OnPanic(func(*weir.Panic) { caught.Add(1) }))
		for range 100 {
			check.OK(t, l.Submit(explode))
			check.OK(t, l.Submit(runtime.Goexit))
		}
		l.Wait()
		v := check.NewValve()
		for range 2 {
			check.OK(t, p.Submit(v.Hold))
		}
		synctest.Wait()
		check.Equal(t, "panics", caught.Load(), 100)
		check.Equal(t, "places of the pool", v.Running(), 2)
		v.Open()
		check.Equal(t, "finished", l.Stats().Finished, 200)
	})
}

func TestPauseAndResizeOfAPoolHoldForItsLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		l := p.Lane(4)
		var g check.Gauge
		task := func() {
			g.Enter()
			defer g.Leave()
			time.Sleep(time.Millisecond)
		}
		for range 100 {
			check.OK(t, l.Submit(task))
		}
		time.Sleep(3500 * time.Microsecond)
		p.Pause()
		synctest.Wait()
		time.Sleep(10 * time.Millisecond)
		check.Equal(t, "running in a pause", g.Now.Load(), 0)
		check.Equal(t, "finished", l.Stats().Finished, 16)
		p.Resize(2)
		g.Peak.Store(0)
		p.Resume()
		l.Wait()
		check.Equal(t, "at once", g.Peak.Load(), 2)
		l.Pause()
		check.OK(t, l.Submit(task))
		check.OK(t, p.Do(t.Context(), succeed)) // not paused
		time.Sleep(time.Second)
		check.Equal(t, "queued", l.Stats().Queued, 1)
		l.Resume()
		l.Wait()
	})
}

// Shutdown of a pool returns its own tasks first, then those of its lanes, as they were made.
func TestPromise01ShutdownReturnsTheTasksOfLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		var ran []string
		note := func(name string) func() { return func() { ran = append(ran, name) } }
		l := p.Lane(1, weir.Name("l"))
		k := weir.NewFunc(1, func(name string) { ran = append(ran, name) }, weir.On(p))
		inner := l.Lane(1)
		check.OK(t, k.Invoke("k"))
		check.OK(t, inner.Submit(note("inner")))
		check.OK(t, l.Submit(note("l1")))
		check.OK(t, l.Submit(note("l2")))
		check.OK(t, p.Submit(note("p")))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		var e *weir.ShutdownError
		check.Equal(t, "is a ShutdownError", errors.As(err, &e), true)
		check.Equal(t, "running", e.Running, 1)
		for _, task := range unrun {
			task()
		}
		check.Equal(t, "returned", fmt.Sprint(ran), "[p l1 l2 inner k]")
		for _, p := range []*weir.Pool{p, l, inner} {
			check.Error(t, p.Submit(nothing), weir.ErrClosed)
		}
		check.Error(t, k.Invoke(""), weir.ErrClosed)
		v.Open()
		p.Close()
		noWorkers(t)
	})
}

func TestCloseOfAPoolRunsTheTasksOfItsLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		l := p.Lane(1)
		var ran int
		for range 100 {
			check.OK(t, l.Submit(func() { time.Sleep(time.Millisecond); ran++ }))
		}
		l.Pause()
		p.Close()
		check.Equal(t, "ran", ran, 100)
		noWorkers(t)
		check.Error(t, p.Lane(1).Submit(nothing), weir.ErrClosed)
	})
}

func TestShutdownOfALaneConcernsItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		l := p.Lane(1)
		v := block(t, p, 1)
		check.OK(t, l.Submit(nothing))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		unrun, err := l.Shutdown(ctx)
		check.Equal(t, "unrun", len(unrun), 1)
		check.Error(t, err, context.DeadlineExceeded)
		v.Open()
		check.OK(t, p.Do(t.Context(), succeed))
		l.Close()
	})
}

// A worker of a lane that has ended makes room in the pool, before any goroutine learns of its task's end.
func TestATaskOfALaneThatIsOverTakesNoPlace(t *testing.T) {
	p := weir.New(1, weir.Queue(0))
	defer p.Close()
	l := p.Lane(1)
	for range check.Scale(5000, 500) {
		check.OK(t, l.Do(t.Context(), succeed))
		f := weir.Async(t.Context(), l, func(context.Context) (int, error) { return 1, nil })
		_, err := f.Get(t.Context())
		check.OK(t, err)
		done := make(chan struct{})
		check.OK(t, p.TrySubmit(func() { close(done) }))
		<-done
		p.Wait()
	}
}

// Of the memory of one that has had a task 0.6 KiB are for times, as those of a pool are.
func TestALaneAtRestIsSmall(t *testing.T) {
	const lanes, unused, used = 10_000, 1024 + 48, 2048 + 448 // those for the list of Pools and the labels of the worker, if the program has called Watch
	p := weir.New(4)
	defer p.Close()
	keep := make([]*weir.Pool, lanes)
	before := heap()
	for i := range keep {
		keep[i] = p.Lane(2)
	}
	if each := (heap() - before) / lanes; each > unused && !check.Race {
		t.Errorf("a lane that is not used takes %d bytes, more than %d", each, unused)
	}
	for _, l := range keep {
		check.OK(t, l.Submit(nothing))
		l.Wait()
	}
	if each := (heap() - before) / lanes; each > used && !check.Race {
		t.Errorf("a lane at rest takes %d bytes, more than %d", each, used)
	}
	if n := p.Stats().Workers; n > 4 {
		t.Errorf("%d workers, more than the limit", n)
	}
	runtime.KeepAlive(keep)
}

func TestLanesThatAreDroppedAreForgotten(t *testing.T) {
	p := weir.New(4)
	defer p.Close()
	use := func(n int) uint64 {
		for i := range n {
			check.OK(t, p.Lane(2).Do(t.Context(), succeed))
			if i%500 == 499 {
				runtime.GC() // until then the lanes are in the list of all
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := use(1000)
	if many := use(10_000); many > few+1<<20 {
		t.Errorf("the heap takes %d bytes after 10 000 lanes more, %d before", many, few)
	}
}

// The cost of a task of a lane does not depend on how many other lanes there are, nor on how many wait.
func TestLanesCostNoMoreWhereThereAreMany(t *testing.T) {
	check.Flat(t, 100, func(n int) (f, end func()) {
		p := weir.New(1)
		v := check.NewValve()
		for range n {
			check.OK(t, p.Lane(1).Submit(nothing)) // waits behind the valve's task
			p.Lane(1)
		}
		l := p.Lane(1, weir.Priority(1))
		hold := p.Lane(1, weir.Priority(2))
		check.OK(t, hold.Submit(v.Hold))
		_ = hold
		return func() {
				for range 100 {
					check.OK(t, l.Submit(nothing))
				}
			}, func() {
				v.Open()
				p.Close()
			}
	})
}

func BenchmarkLane(b *testing.B) {
	for _, way := range []struct {
		name  string
		lanes int
		limit int
	}{{"a pool", 0, 64}, {"a lane", 1, 64}, {"two lanes on two places", 2, 2}, {"eight lanes on two places", 8, 2}} {
		b.Run(way.name, func(b *testing.B) {
			p := weir.New(way.limit)
			defer p.Close()
			pools := []*weir.Pool{p}
			if way.lanes > 0 {
				pools = nil
				for range way.lanes {
					pools = append(pools, p.Lane(64))
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				check.OK(b, pools[i%len(pools)].Submit(nothing))
			}
			for _, p := range pools {
				p.Wait()
			}
		})
	}
	for _, lane := range []bool{false, true} {
		b.Run(fmt.Sprintf("lone task, in a lane %v", lane), func(b *testing.B) {
			p := weir.New(64)
			defer p.Close()
			at := p
			if lane {
				at = p.Lane(64)
			}
			b.ReportAllocs()
			for b.Loop() {
				check.OK(b, at.Submit(nothing))
				at.Wait()
			}
		})
	}
}

func TestASubmitterThatWaitsDoesNotOvertakeLanes(t *testing.T) {
	for name, free := range map[string]func(p *weir.Pool){"Resume": (*weir.Pool).Resume, "Resize": func(p *weir.Pool) { p.Resize(2) }} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(1, weir.Queue(1))
			high := p.Lane(1, weir.Priority(1))
			v := check.NewValve()
			if name == "Resume" {
				p.Pause()
			} else {
				check.OK(t, p.Submit(v.Hold))
				synctest.Wait()
			}
			var own, lane atomic.Bool
			check.OK(t, p.Submit(func() { own.Store(true); v.Hold() }))
			go func() { _ = p.Submit(v.Hold) }() // gets room in the end, or the pool is closed before
			synctest.Wait()
			check.OK(t, high.Submit(func() { lane.Store(true); v.Hold() }))
			synctest.Wait()
			free(p)
			synctest.Wait()
			check.Equal(t, "the task of priority 0 has started", own.Load(), false)
			check.Equal(t, "that of priority 1 has", lane.Load(), true)
			v.Open()
			p.Close()
		})
	}
}

// A worker that comes to a cancelled call makes room for one, and not for one more as it goes on to a lane.
func TestAPoolWithLanesQueuesNoMoreThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Queue(2))
		l := p.Lane(2, weir.Priority(1))
		v := check.NewValve()
		p.Pause()
		check.OK(t, p.Submit(v.Hold))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { check.Error(t, p.Do(ctx, succeed), context.Canceled) }()
		synctest.Wait()
		for range 3 {
			go func() { _ = p.Submit(v.Hold) }() // likewise
			synctest.Wait()
		}
		for range 2 {
			check.OK(t, l.Submit(v.Hold))
		}
		cancel()
		synctest.Wait()
		p.Resume()
		synctest.Wait()
		check.Equal(t, "queued", p.Stats().Queued, 2)
		v.Open()
		p.Close()
	})
}

func TestWaitOfALaneSeesThatACallWasCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		low, high := p.Lane(1), p.Lane(1, weir.Priority(1))
		first, second, urgent := check.NewValve(), check.NewValve(), check.NewValve()
		check.OK(t, low.Submit(first.Hold))
		synctest.Wait()
		check.OK(t, low.Submit(second.Hold))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { check.Error(t, low.Do(ctx, succeed), context.Canceled) }()
		synctest.Wait()
		waited := false
		go func() { low.Wait(); waited = true }()
		cancel()
		synctest.Wait()
		first.Open()
		synctest.Wait()
		check.OK(t, high.Submit(urgent.Hold))
		second.Open()
		synctest.Wait()
		check.Equal(t, "Wait has returned while the place is another lane's", waited, true)
		low.Close()
		urgent.Open()
		p.Close()
	})
}

// Lanes of different pools compare where these meet.
func TestCloseEndsThePausesOfLanesByPriority(t *testing.T) {
	for name, first := range map[string]func(p *weir.Pool) *weir.Pool{
		"lane":           func(p *weir.Pool) *weir.Pool { return p.Lane(1, weir.Priority(-2)) },
		"lane of a lane": func(p *weir.Pool) *weir.Pool { return p.Lane(1, weir.Priority(-2)).Lane(1, weir.Priority(1)) },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(1)
			low, high := first(p), p.Lane(1, weir.Priority(-1))
			low.Pause()
			high.Pause()
			var ran []string
			check.OK(t, low.Submit(func() { ran = append(ran, "low") }))
			check.OK(t, high.Submit(func() { ran = append(ran, "high") }))
			p.Close()
			check.Equal(t, "ran", fmt.Sprint(ran), "[high low]")
		})
	}
}

func TestALaneThatWasPausedAndShutDownIsForgotten(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var kept []weak.Pointer[weir.Pool]
	for range 100 {
		l := p.Lane(1)
		l.Pause()
		check.OK(t, l.Submit(nothing))
		_, _ = l.Shutdown(done)
		check.Equal(t, "is paused", l.Stats().Paused, false)
		kept = append(kept, weak.Make(l))
	}
	runtime.GC()
	runtime.GC()
	for _, l := range kept[:99] {
		if l.Value() != nil {
			t.Fatal("its pool keeps a lane that has ended")
		}
	}
}

func TestThePlaceThatALaneWaitsForIsNotExtra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		l := p.Lane(2)
		v := check.NewValve()
		for range 2 {
			check.OK(t, l.Submit(v.Hold))
		}
		synctest.Wait()
		l.Resize(1)
		check.Equal(t, "extra places", l.Stats().Extra, 0)
		v.Open()
		p.Close()
	})
}

// A lane whose priority is below that of the pool's queue ages as others do while the queue holds tasks.
func TestALaneAgesFromBelowTheQueueOfThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const task = 3 * time.Millisecond
		p := weir.New(1)
		keepBusy(p.Lane(1, weir.Priority(5)), task)
		low := p.Lane(1, weir.Priority(-1), weir.Aging(time.Millisecond))
		done := make(chan struct{})
		check.OK(t, low.Submit(func() { close(done) }))
		keepBusy(p, task)
		begin := time.Now()
		select {
		case <-done:
		case <-time.After(time.Minute):
		}
		if took := time.Since(begin); took > 6*time.Millisecond+task {
			t.Errorf("it has waited %v", took)
		}
		_, _ = p.Shutdown(nothingMore())
		p.Close()
	})
}

// Lanes that age have backlogs, and so has one of a lower priority that does not age.
func TestALaneThatKeepsItsPlaceDoesNotStarveThoseThatAge(t *testing.T) {
	for limit := 1; limit <= 2; limit++ {
		check.Bubble(t, fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			const task = 10 * time.Millisecond
			p := weir.New(1)
			var ran [3]atomic.Int64
			for i, opts := range [][]weir.Option{
				{weir.Priority(-1), weir.Aging(time.Millisecond)},
				{weir.Priority(-2), weir.Aging(time.Millisecond)},
				{weir.Priority(-3)},
			} {
				feed(p.Lane(limit, opts...), task, &ran[i])
			}
			time.Sleep(1000 * task)
			if a, b, c := ran[0].Load(), ran[1].Load(), ran[2].Load(); a < 300 || b < 300 || c > 10 {
				t.Errorf("of 1000 tasks they have had %d, %d and %d", a, b, c)
			}
			_, _ = p.Shutdown(nothingMore())
			p.Close()
		})
	}
}

// A lane waits since the end of its last task, also while it asks for a second place.
func TestALaneDoesNotAgeWhileItRunsATask(t *testing.T) {
	for limit := 1; limit <= 2; limit++ {
		check.Bubble(t, fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			p := weir.New(1)
			keepBusy(p.Lane(1, weir.Priority(20)), time.Millisecond)
			var ran atomic.Int64
			feed(p.Lane(limit, weir.Aging(time.Millisecond)), 20*time.Millisecond, &ran)
			time.Sleep(time.Second)
			if n := ran.Load(); n > 26 {
				t.Errorf("it has had %d tasks in 1 s, want one in 40 ms", n)
			}
			_, _ = p.Shutdown(nothingMore())
			p.Close()
		})
	}
}

// The pool takes the place back in a pause.
func TestALaneWaitsSinceItsLastTaskEvenIfThatEndedInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		ran := ""
		high := p.Lane(1, weir.Priority(9))
		low := p.Lane(1, weir.Aging(time.Millisecond))
		for range 3 {
			check.OK(t, low.Submit(func() { time.Sleep(20 * time.Millisecond); ran += "l" }))
		}
		time.Sleep(10 * time.Millisecond)
		check.OK(t, high.Submit(func() { time.Sleep(20 * time.Millisecond); ran += "h" }))
		p.Pause()
		time.Sleep(15 * time.Millisecond)
		p.Resume()
		p.Close()
		check.Equal(t, "order", ran, "lhll")
	})
}
