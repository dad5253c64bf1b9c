package weirprom_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirprom"
)

func TestPoolsOfOneNameAreAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScraper(named("sum"))
		var pools []*weir.Pool
		for i := range 3 {
			p := weir.New(2, weir.Name("sum"), weir.Measure(1))
			run(t, p, i+1)
			pools = append(pools, p)
		}
		pools[0].Pause()
		check.OK(t, pools[0].Submit(nothing))
		time.Sleep(time.Second)
		synctest.Wait()
		idle := 0
		for _, p := range pools {
			idle += p.Stats().Idle
		}
		series := s.scrape(t)
		for name, want := range map[string]float64{
			"weir_pools sum": 3, "weir_pool_limit sum": 6, "weir_pool_accepted_total sum": 7, "weir_pool_finished_total sum": 6,
			"weir_pool_paused sum": 1, "weir_pool_queued sum": 1, "weir_pool_workers sum idle": float64(idle), "weir_pool_run_seconds sum": 6,
		} {
			check.Equal(t, name, value(series[name]), want)
		}
		near(t, "oldest", value(series["weir_pool_oldest_queued_seconds sum"]), 1)
		for _, p := range pools {
			p.Close()
		}
	})
}

func TestEachWorkerHasOneState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Name("states"))
		s := newScraper(named("states"))
		is := func(want map[string]float64) {
			t.Helper()
			synctest.Wait()
			all, series := 0.0, s.scrape(t)
			for _, state := range []string{"running", "suspended", "returning", "idle", "searching"} {
				n := value(series["weir_pool_workers states "+state])
				check.Equal(t, state, n, want[state])
				all += n
			}
			check.Equal(t, "all states", all, float64(p.Stats().Workers))
		}
		gate, lent := make(chan struct{}), make(chan struct{})
		block := func(context.Context) error {
			<-gate
			return nil
		}
		g := p.Group(t.Context())
		for range 3 {
			g.Go(func(context.Context) error { return nil })
		}
		check.OK(t, g.Wait())
		is(map[string]float64{"idle": float64(p.Stats().Workers)})
		g.Go(func(ctx context.Context) error {
			weir.Blocking(ctx, func() { <-lent })
			return nil
		})
		g.Go(block)
		is(map[string]float64{"running": 1, "suspended": 1})
		g.Go(block)
		is(map[string]float64{"running": 2, "suspended": 1})
		close(lent)
		is(map[string]float64{"running": 2, "returning": 1})
		close(gate)
		check.OK(t, g.Wait())
		p.Close()
		is(nil)
	})
}

func TestNamesThatAreNoLabelsAreMadeOnes(t *testing.T) {
	none := weir.New(1)
	defer none.Close()
	run(t, none, 1)
	for name, label := range map[string]string{
		"":                               "unnamed",
		"odd \xff\xfe name":              "odd __ name",
		"odd \"quote\"\n\\ {}":           "odd \"quote\"\n\\ {}",
		"odd" + strings.Repeat("é", 500): "odd" + strings.Repeat("é", 62) + "_",
		"odd \uFFFD":                     "odd _",
		"odd \x00":                       "odd \x00",
	} {
		p := weir.New(1, weir.Name(name))
		run(t, p, 2)
		opt := named("odd")
		if name == "" {
			opt = weirprom.Only(func(p weir.PoolInfo) bool { return p.Name == "" })
		}
		series := newScraper(opt).scrape(t)
		if got := value(series["weir_pool_finished_total "+label]); !(got >= 2) {
			t.Errorf("%q: %v tasks have finished", label, got)
		}
		p.Close()
	}
}

func TestNamesBeyondTheLimitShareOne(t *testing.T) {
	s := newScraper(named("many"), weirprom.MaxNames(2))
	for i := range 5 {
		p := weir.New(1, weir.Name(fmt.Sprint("many", i)))
		defer p.Close()
		run(t, p, 1)
		s.scrape(t)
		run(t, p, 1)
	}
	series := s.scrape(t)
	check.Equal(t, "first", value(series["weir_pool_accepted_total many0"]), 2)
	check.Equal(t, "second", value(series["weir_pool_accepted_total many1"]), 2)
	check.Equal(t, "others", value(series["weir_pool_accepted_total other"]), 6)
	check.Equal(t, "pools of others", value(series["weir_pools other"]), 3)
	if series["weir_pools many2"] != nil {
		t.Error("there is a third name")
	}
	series = newScraper(named("many"), weirprom.MaxNames(0)).scrape(t)
	check.Equal(t, "all", value(series["weir_pool_accepted_total other"]), 10)
}

func TestCountsStayWhenPoolsEnd(t *testing.T) {
	s := newScraper(named("ends"))
	for round := range 3 {
		p := weir.New(2, weir.Name("ends"), weir.Measure(1))
		run(t, p, 5)
		s.scrape(t)
		run(t, p, 5) // what was done since the last look counts, too
		check.Error(t, p.SubmitContext(cancelled(), nothing), context.Canceled)
		p.Close()
		for range 2 {
			series := s.scrape(t)
			tasks := float64(10 * (round + 1))
			for name, want := range map[string]float64{
				"weir_pool_accepted_total ends": tasks, "weir_pool_finished_total ends": tasks, "weir_pool_run_seconds ends": tasks,
				"weir_pool_wait_seconds ends": tasks, "weir_pool_rejected_total ends": tasks / 10, "weir_pools ends": 0, "weir_pool_limit ends": 0,
			} {
				check.Equal(t, name, value(series[name]), want)
			}
		}
	}
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestAPoolThatComesBackIsNotCountedTwice(t *testing.T) {
	p := weir.New(1, weir.Name("comes back"))
	defer p.Close()
	there := true
	s := newScraper(weirprom.Only(func(i weir.PoolInfo) bool { return there && i.Name == "comes back" }))
	for _, there = range []bool{true, false, false, true} {
		run(t, p, 10)
		s.scrape(t)
	}
	run(t, p, 10)
	if got := value(s.scrape(t)["weir_pool_accepted_total comes back"]); got < 20 || got > 50 {
		t.Errorf("%v tasks, of 50", got)
	}
}

func TestACollectorKeepsNoDroppedPool(t *testing.T) {
	s := newScraper(named("dropped"))
	gone := make(chan struct{})
	func() {
		p := weir.New(1, weir.Name("dropped"), weir.IdleTimeout(0))
		runtime.AddCleanup(p, func(struct{}) { close(gone) }, struct{}{})
		run(t, p, 3)
		s.scrape(t) // perhaps with the worker
	}()
	check.Until(t, "the pool is garbage", func() bool {
		check.Equal(t, "accepted", value(s.scrape(t)["weir_pool_accepted_total dropped"]), 3)
		runtime.GC()
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
}

func TestAPoolOfABubbleIsCollectedFromOutside(t *testing.T) {
	s := newScraper(named("bubble"))
	look := make(chan struct{})
	looked := make(chan float64)
	go func() {
		for range look {
			looked <- value(s.scrape(t)["weir_pool_oldest_queued_seconds bubble"])
		}
		close(looked)
	}()
	ask := make(chan float64, 1)
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Name("bubble"))
		check.OK(t, p.Submit(func() {
			look <- struct{}{}
			ask <- <-looked
		}))
		for range 3 {
			check.OK(t, p.Submit(nothing))
		}
		p.Close()
	})
	if age := <-ask; age < 0 {
		t.Errorf("a task is queued for %v s", age)
	}
	check.Equal(t, "accepted", value(s.scrape(t)["weir_pool_accepted_total bubble"]), 4)
	close(look)
	<-looked
}

// counts are the series that must never fall, with the buckets of histograms.
func counts(t *testing.T, s scraper) map[string]float64 {
	all := make(map[string]float64)
	for name, m := range s.scrape(t) {
		switch {
		case m.GetCounter() != nil:
			all[name] = value(m)
		case m.GetHistogram() != nil:
			all[name] = value(m)
			all[name+" sum"] = m.GetHistogram().GetSampleSum()
			for i, n := range native(m.GetHistogram()) {
				all[fmt.Sprint(name, " ", i)] = float64(n)
			}
		}
	}
	return all
}

func TestNoCountFallsInAStormOfPools(t *testing.T) {
	s := newScraper(named("storm"), weirprom.MaxNames(3))
	var storm, scrapers sync.WaitGroup
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
		scrapers.Go(func() {
			before := make(map[string]float64)
			for range check.Scale(1000, 100) {
				now := counts(t, s)
				for name, v := range before {
					if !(now[name] >= v) {
						t.Errorf("%s falls from %v to %v", name, v, now[name])
					}
				}
				before = now
			}
		})
	}
	scrapers.Wait()
	over.Store(true)
	storm.Wait()
	now, total := counts(t, s), 0.0
	for name, v := range now {
		if strings.HasPrefix(name, "weir_pool_accepted_total") {
			total += v
		}
	}
	if most := float64(accepted.Load()); total == 0 || total > most {
		t.Errorf("%v tasks were counted, of %v", total, most)
	}
	check.Equal(t, "nothing changes at rest", maps.Equal(counts(t, s), now), true)
}

func TestTenThousandPoolsOfOneName(t *testing.T) {
	s := newScraper(named("crowd"))
	n := check.Scale(10_000, 1_000)
	pools := make([]*weir.Pool, n)
	for i := range pools {
		pools[i] = weir.New(1, weir.Name("crowd"))
		run(t, pools[i], 1)
	}
	series := s.scrape(t)
	check.Equal(t, "pools", value(series["weir_pools crowd"]), float64(n))
	check.Equal(t, "accepted", value(series["weir_pool_accepted_total crowd"]), float64(n))
	for _, p := range pools {
		p.Close()
	}
	series = s.scrape(t)
	check.Equal(t, "pools", value(series["weir_pools crowd"]), 0)
	check.Equal(t, "finished", value(series["weir_pool_finished_total crowd"]), float64(n))
}

// Counts of a pool may be off by what is under way, and so may fall.
func TestACountThatFallsIsHeldUntilItIsHigher(t *testing.T) {
	total, last := uint64(100), uint64(0) // others have counted 100
	for _, step := range [][2]uint64{{5, 105}, {3, 105}, {5, 105}, {6, 106}} {
		weirprom.Grow(&total, &last, step[0])
		check.Equal(t, "total", total, step[1])
	}
}
