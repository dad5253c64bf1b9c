package exporter_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/internal/check"
)

func TestPoolsOfOneNameAreAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := exporter.NewPools(named("sum"))
		made := time.Now()
		paused := weir.New(2, weir.Name("sum"), weir.Measure(1))
		run(t, paused, 2)
		paused.Pause()
		v := check.NewValve()
		busy := weir.New(1, weir.Name("sum"), weir.Queue(2), weir.Measure(1))
		for range 4 { // one runs, two are queued, one waits
			go func() { check.OK(t, busy.Submit(v.Hold)) }()
			synctest.Wait()
		}
		check.Error(t, busy.TrySubmit(nothing), weir.ErrFull)
		closing := weir.New(1, weir.Name("sum"), weir.Measure(1), weir.OnPanic(func(*weir.Panic) {}))
		check.OK(t, closing.Submit(func() { panic("on purpose") }))
		closing.Wait()
		check.OK(t, closing.Submit(v.Hold))
		synctest.Wait()
		check.OK(t, closing.Submit(nothing))
		unrun, err := closing.Shutdown(cancelled())
		check.Error(t, err, context.Canceled)
		check.Equal(t, "tasks handed back", len(unrun), 1)
		time.Sleep(time.Second)
		busy.Pause()
		check.OK(t, paused.Submit(nothing))
		time.Sleep(time.Second)

		got := one(t, pools)
		check.Equal(t, "waits", got.Wait.Count(), 5)
		check.Equal(t, "runs", got.Run.Count(), 3)
		got.Wait, got.Run = exporter.Histogram{}, exporter.Histogram{}
		got.Oldest = got.Oldest.Round(time.Millisecond)
		want := exporter.Totals{
			Name: "sum", Since: made, Pools: 3, Paused: 2, Closing: 1,
			Limit: 4, Queued: 3, Waiting: 1, Oldest: 2 * time.Second, Running: 2, Idle: paused.Stats().Workers,
			Accepted: 9, Finished: 3, HandedBack: 1, Rejected: 1, Panicked: 1,
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		v.Open()
		busy.Resume()
		synctest.Wait() // for the submitter
		for _, p := range []*weir.Pool{paused, busy, closing} {
			p.Resume()
			p.Close()
		}
	})
}

func TestEachWorkerHasOneState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Name("states"))
		pools := exporter.NewPools(named("states"))
		is := func(running, suspended, returning, idle, extra int) {
			t.Helper()
			synctest.Wait()
			got := one(t, pools)
			check.Equal(t, "running", got.Running, running)
			check.Equal(t, "suspended", got.Suspended, suspended)
			check.Equal(t, "returning", got.Returning, returning)
			check.Equal(t, "idle", got.Idle, idle)
			check.Equal(t, "searching", got.Searching, 0)
			check.Equal(t, "extra places", got.Extra, extra)
			check.Equal(t, "all", running+suspended+returning+idle, p.Stats().Workers)
		}
		v, lent := check.NewValve(), make(chan struct{})
		g := p.Group(t.Context())
		for range 3 {
			g.Go(func(context.Context) error { return nil })
		}
		check.OK(t, g.Wait())
		is(0, 0, 0, p.Stats().Workers, 0)
		g.Go(func(ctx context.Context) error {
			weir.Blocking(ctx, func() { <-lent })
			return nil
		})
		g.Go(v.Member)
		is(1, 1, 0, 0, 0)
		g.Go(v.Member)
		is(2, 1, 0, 0, 0)
		close(lent)
		is(2, 0, 1, 0, 0)
		p.Resize(1)
		is(2, 0, 1, 0, p.Stats().Extra)
		check.Equal(t, "there is an extra place", p.Stats().Extra > 0, true)
		v.Open()
		check.OK(t, g.Wait())
		p.Close()
		is(0, 0, 0, 0, 0)
	})
}

func TestNamesAreBoundedAndClean(t *testing.T) {
	ofTest := exporter.Only(func(p weir.PoolInfo) bool { return p.Name == "" || strings.HasPrefix(p.Name, "name") })
	long := "name " + strings.Repeat("x", 200)
	cleaned := exporter.Clean(func(name string) string {
		if len(name) > 128 {
			t.Errorf("%q is to be cleaned", name)
		}
		return strings.Trim(name, "name 0")
	})
	looks := map[*exporter.Pools]string{
		exporter.NewPools(ofTest):                                "name 0: 2, unnamed: 2, " + long[:128] + ": 1, name 1: 1, name: 1",
		exporter.NewPools(ofTest, exporter.MaxNames(2)):          "name 0: 2, unnamed: 2, other: 3",
		exporter.NewPools(ofTest, exporter.MaxNames(0)):          "other: 7",
		exporter.NewPools(ofTest, cleaned):                       "unnamed: 5, " + strings.Repeat("x", 123) + ": 1, 1: 1",
		exporter.NewPools(ofTest, cleaned, exporter.MaxNames(1)): "unnamed: 5, other: 2",
	}
	for _, name := range []string{"name 0", "", long, "name 1", "name 0", "", "name"} {
		p := weir.New(1, weir.Name(name))
		defer p.Close()
		run(t, p, 1)
		for pools := range looks {
			pools.Look()
		}
	}
	for pools, want := range looks {
		for range 2 {
			var got []string
			for _, totals := range pools.Look() {
				got = append(got, fmt.Sprintf("%s: %d", totals.Name, totals.Accepted))
				check.Equal(t, "pools of "+totals.Name, totals.Pools, int(totals.Accepted))
			}
			check.Equal(t, "names", strings.Join(got, ", "), want)
		}
	}
}

func TestCountsStayWhenPoolsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := exporter.NewPools(named("ends"))
		for round := range 3 {
			p := weir.New(2, weir.Name("ends"), weir.Measure(1))
			run(t, p, 5)
			before := one(t, pools)
			run(t, p, 5) // what was done since the last look counts, too
			check.Error(t, p.SubmitContext(cancelled(), nothing), context.Canceled)
			p.Close()
			for range 2 {
				got := one(t, pools)
				check.Equal(t, "waits", got.Wait.Count(), got.Accepted)
				check.Equal(t, "runs", got.Run.Count(), got.Finished)
				got.Wait, got.Run, got.Since = exporter.Histogram{}, exporter.Histogram{}, time.Time{}
				tasks := uint64(10 * (round + 1))
				want := exporter.Totals{Name: "ends", Accepted: tasks, Finished: tasks, Rejected: tasks / 10}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			}
			check.Equal(t, "finished before", before.Finished, uint64(10*round+5))
			check.Equal(t, "limit before", before.Limit, 2)
			check.Equal(t, "runs before", before.Run.Count(), before.Finished) // what Look has returned stays as it is
		}
	})
}

// A pool that closes has no worker for a moment, and then one again: it is in the list, is not, and is. Here it is as Only says.
func TestAPoolThatIsListedAgainIsNotCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := true
		pools := exporter.NewPools(exporter.Only(func(i weir.PoolInfo) bool { return i.Name == "again" && there }))
		p := weir.New(1, weir.Name("again"), weir.Measure(1))
		count := func(tasks int, want uint64) {
			t.Helper()
			run(t, p, tasks)
			got := one(t, pools)
			check.Equal(t, "finished", got.Finished, want)
			check.Equal(t, "runs", got.Run.Count(), want)
		}
		count(1, 1)
		there = false
		count(2, 3) // it had a worker at the last look
		count(2, 3) // these are lost
		there = true
		count(0, 3)
		count(1, 4)
		p.Close()
	})
}

// A pool may be out of the list for a moment also at the first look.
func TestAPoolThatIsFoundAfterLaterOnesCountsInFull(t *testing.T) {
	there := false
	pools := exporter.NewPools(exporter.Only(func(i weir.PoolInfo) bool { return i.Name == "later" || i.Name == "first" && there }))
	first, later := weir.New(1, weir.Name("first"), weir.Measure(1)), weir.New(1, weir.Name("later"))
	run(t, first, 3)
	run(t, later, 5)
	check.Equal(t, "finished without it", one(t, pools).Finished, 5)
	there = true
	got := pools.Look()[1]
	check.Equal(t, "finished", got.Finished, 3)
	check.Equal(t, "runs", got.Run.Count(), 3)
	first.Close()
	later.Close()
}

func TestTheSumOfLimitsDoesNotOverflow(t *testing.T) {
	pools := exporter.NewPools(named("unlimited"))
	for range 3 {
		p := weir.New(math.MaxInt, weir.Name("unlimited"))
		defer p.Close()
		run(t, p, 1)
		check.Equal(t, "limit", one(t, pools).Limit >= p.Stats().Limit, true)
	}
}

func TestADroppedPoolBecomesGarbage(t *testing.T) {
	pools := exporter.NewPools(named("dropped"))
	func() {
		p := weir.New(1, weir.Name("dropped"), weir.IdleTimeout(0))
		run(t, p, 3)
		pools.Look() // perhaps with the worker
	}()
	check.Until(t, "the pool leaves the list", func() bool {
		runtime.GC()
		got := one(t, pools)
		check.Equal(t, "finished", got.Finished, 3)
		return got.Pools == 0
	})
}

func TestPoolsOfABubbleAreCountedFromOutside(t *testing.T) {
	pools := exporter.NewPools(named("bubble"))
	var over atomic.Bool
	var looks sync.WaitGroup
	looks.Go(func() {
		for !over.Load() {
			for _, totals := range pools.Look() {
				if totals.Oldest < 0 {
					t.Errorf("a task is queued for %v", totals.Oldest)
				}
			}
		}
	})
	const bubbles = 20
	measured := uint64(0) // those of another clock may be a few less
	for range bubbles {
		synctest.Test(t, func(t *testing.T) {
			p := weir.New(2, weir.Name("bubble"), weir.Measure(1))
			for range 4 {
				check.OK(t, p.Submit(func() { time.Sleep(time.Second) }))
			}
			synctest.Wait()
			check.Equal(t, "queued", one(t, pools).Queued, 2)
			p.Close()
			measured += p.Times().Run.Count()
		})
	}
	over.Store(true)
	looks.Wait()
	got := one(t, pools)
	check.Equal(t, "finished", got.Finished, 4*bubbles)
	check.Equal(t, "runs", got.Run.Count(), measured)
}

func TestANameCountsSinceTheLastLookWithoutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := exporter.NewPools(named("since"))
		made := time.Now()
		for n := range 3 {
			p := weir.New(1, weir.Name(fmt.Sprint("since ", n)))
			defer p.Close()
			run(t, p, 1)
			time.Sleep(time.Second)
			for i, totals := range pools.Look() {
				check.Equal(t, "place", totals.Name, fmt.Sprint("since ", i))
				check.Equal(t, totals.Name, totals.Since, made.Add(time.Duration(i)*time.Second))
			}
		}
	})
}

// counts are what must never fall.
func counts(pools *exporter.Pools) map[string]float64 {
	all := make(map[string]float64)
	for _, t := range pools.Look() {
		for what, n := range map[string]uint64{
			"accepted": t.Accepted, "finished": t.Finished, "handed back": t.HandedBack, "rejected": t.Rejected, "panicked": t.Panicked,
		} {
			all[t.Name+" "+what] = float64(n)
		}
		for what, h := range map[string]exporter.Histogram{"wait": t.Wait, "run": t.Run} {
			all[t.Name+" "+what] = h.Sum()
			for i, n := range h.Buckets() {
				all[fmt.Sprint(t.Name, " ", what, " ", i)] = float64(n)
			}
		}
	}
	return all
}

func TestNoCountFallsInAStormOfPools(t *testing.T) {
	pools := exporter.NewPools(named("storm"), exporter.MaxNames(3))
	var storm, looks sync.WaitGroup
	var over atomic.Bool
	var accepted atomic.Uint64
	for k := range 3 {
		storm.Go(func() {
			for i := 0; !over.Load(); i++ {
				p := weir.New(1+i%4, weir.Name(fmt.Sprint("storm", (i+k)%5)), weir.Queue(i%40), weir.Measure(1))
				ctx, cancel := context.WithCancel(t.Context())
				g := p.Group(ctx)
				for j := range 50 {
					g.Go(func(context.Context) error { return nil })
					_ = p.TrySubmit(nothing) // the queue may be full
					if j == 25 {
						p.Resize(1 + i%3)
					}
				}
				if i%3 == 0 {
					cancel()
				}
				_ = g.Wait() // it may have been cancelled
				cancel()
				if i%5 == 0 {
					_, _ = p.Shutdown(cancelled()) // Close follows
				}
				p.Close()
				accepted.Add(p.Stats().Accepted)
			}
		})
	}
	for range 2 {
		looks.Go(func() {
			before := make(map[string]float64)
			for i := 0; i < check.Scale(1000, 100) || len(before) == 0; i++ {
				now := counts(pools)
				for what, n := range before {
					if !(now[what] >= n) {
						t.Errorf("%s falls from %v to %v", what, n, now[what])
					}
				}
				before = now
			}
		})
	}
	looks.Wait()
	over.Store(true)
	storm.Wait()
	now, total := pools.Look(), uint64(0)
	for _, totals := range now {
		total += totals.Accepted
		check.Equal(t, "pools left of "+totals.Name, totals.Pools, 0)
	}
	if most := accepted.Load(); total == 0 || total > most {
		t.Errorf("%v tasks were counted, of %v", total, most)
	}
	check.Equal(t, "names are bounded", len(now) <= 4, true)
	check.Equal(t, "nothing changes at rest", reflect.DeepEqual(pools.Look(), now), true)
}

func TestTenThousandPoolsOfOneName(t *testing.T) {
	pools := exporter.NewPools(named("crowd"))
	n := check.Scale(10_000, 1_000)
	list := make([]*weir.Pool, n)
	for i := range list {
		list[i] = weir.New(1, weir.Name("crowd"))
		run(t, list[i], 1)
	}
	got := one(t, pools)
	check.Equal(t, "pools", got.Pools, n)
	check.Equal(t, "accepted", got.Accepted, uint64(n))
	for _, p := range list {
		p.Close()
	}
	got = one(t, pools)
	check.Equal(t, "pools", got.Pools, 0)
	check.Equal(t, "finished", got.Finished, uint64(n))
}

// Counts of a pool may be off by what is under way, and so may fall.
func TestACountThatFallsIsHeldUntilItIsHigher(t *testing.T) {
	total, highest := uint64(100), uint64(0) // other pools have counted 100
	for _, step := range [][2]uint64{{5, 105}, {3, 105}, {5, 105}, {6, 106}} {
		exporter.Grow(&total, &highest, step[0])
		check.Equal(t, "total", total, step[1])
	}
}

func TestBadOptionsPanic(t *testing.T) {
	for want, f := range map[string]func(){
		"exporter: option must not be nil, got nil":                    func() { exporter.NewPools(nil) },
		"exporter: choice of pools must not be nil, got nil":           func() { exporter.Only(nil) },
		"exporter: number of names must be at least 0, got -1":         func() { exporter.MaxNames(-1) },
		"exporter: function for names must not be nil, got nil":        func() { exporter.Clean(nil) },
		"exporter: Pools must be made by NewPools, got the zero value": func() { new(exporter.Pools).Look() },
	} {
		check.Panics(t, want, f)
	}
}

func TestALongNameIsNotCutInsideACharacter(t *testing.T) {
	for _, last := range []string{"é", "€", "𝄞"} {
		p := weir.New(1, weir.Name("cut "+strings.Repeat("x", 123)+last))
		run(t, p, 1)
		check.Equal(t, "name", one(t, exporter.NewPools(named("cut "))).Name, "cut "+strings.Repeat("x", 123))
		p.Close()
	}
}

// A worker that works for a lane counts once, among those of the lane.
func TestAWorkerOfALaneCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := weir.New(4, weir.Name("pool of a lane"))
		defer pool.Close()
		lane := pool.Lane(4, weir.Name("a lane"))
		v := check.NewValve()
		defer v.Open()
		for range 3 {
			check.OK(t, lane.Submit(v.Hold))
		}
		synctest.Wait()
		for _, totals := range exporter.NewPools().Look() {
			n := fmt.Sprint(totals.Running, totals.Suspended, totals.Returning, totals.Idle, totals.Searching)
			switch totals.Name {
			case "a lane":
				check.Equal(t, "workers of the lane", n, "3 0 0 0 0")
			case "pool of a lane":
				check.Equal(t, "workers of the pool", n, "0 0 0 0 0")
			}
		}
		check.Equal(t, "in lanes", pool.Stats().InLanes, 3)
	})
}

// All keys of a Keyed count as a pool of the name of their pool, which has the limit. Keys that are not in use any more count as well.
func TestTasksOfAKeyedAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := weir.New(4, weir.Name("keyed"))
		defer pool.Close()
		k := weir.NewKeyed[int](pool, 1)
		looks := exporter.NewPools(named("keyed"))
		finished, v := uint64(0), check.NewValve()
		for range 3 {
			for key := range 200 { // more than there are lanes for other keys
				check.OK(t, k.Submit(key, func() {}))
			}
			synctest.Wait()
			finished += 200
			check.Equal(t, "finished", looks.Look()[0].Finished, finished)
		}
		for range 3 {
			check.OK(t, k.Submit(1, v.Hold))
		}
		synctest.Wait()
		totals := looks.Look()[0]
		check.Equal(t, "limit, running, queued, searching", fmt.Sprint(totals.Limit, totals.Running, totals.Queued, totals.Searching), "4 1 2 0")
		v.Open()
		synctest.Wait()
		check.Equal(t, "finished", looks.Look()[0].Finished, finished+3)
	})
}
