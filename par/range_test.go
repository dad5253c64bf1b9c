package par_test

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestRangeCoversEveryIndexOnce(t *testing.T) {
	r := random(t)
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			for range check.Scale(8, 4) {
				n := r.IntN(3000)
				seen := make(counts, n)
				work := r.IntN(200) // of the slowest index
				par.Range(n, func(lo, hi int) {
					if lo >= hi {
						t.Errorf("called for [%d, %d)", lo, hi)
					}
					for i := lo; i < hi; i++ {
						seen[i].Add(1)
						for range i % (work + 1) {
							runtime.Gosched()
						}
					}
				}, append(where, par.Limit(1+r.IntN(9)))...)
				seen.each(t, 1)
			}
		})
	}
	for _, n := range []int{0, 1, 2} {
		calls := 0
		par.Range(n, func(lo, hi int) { calls += hi - lo })
		check.Equal(t, "indices", calls, n)
	}
}

// Time stands still in a bubble as long as a goroutine runs, so that nothing seems to
// take any.
func TestRangeStartsNoHelperForLittleWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caller := goroutine()
		var others set[string]
		count := func(lo, hi int) {
			if id := goroutine(); id != caller {
				others.add(id)
			}
		}
		for _, n := range []int{1, 2, 100, 1_000_000} {
			par.Range(n, count, par.Limit(8))
		}
		check.Equal(t, "helpers", len(others.m), 0)
		par.Range(1000, func(lo, hi int) {
			count(lo, hi)
			time.Sleep(time.Duration(hi-lo) * time.Microsecond)
		}, par.Limit(8))
		check.Equal(t, "helpers for more", len(others.m), 7)
	})
}

func TestRangeCoversHugeNumbers(t *testing.T) {
	for name, begin := range map[string]time.Duration{"alone": 0, "divided": time.Millisecond} {
		check.Bubble(t, name, func(t *testing.T) {
			var sum, calls atomic.Int64
			par.Range(math.MaxInt, func(lo, hi int) {
				if lo == 0 {
					time.Sleep(begin)
				}
				sum.Add(int64(hi - lo))
				calls.Add(1)
			}, par.Limit(4))
			check.Equal(t, "indices", sum.Load(), math.MaxInt)
			// A share is used up by eighths, and each theft halves one: some log² n calls.
			if n := calls.Load(); n > 100_000 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

func TestRangeKeepsToTheLimit(t *testing.T) {
	for _, limit := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			var running check.Gauge
			begin := time.Now()
			par.Range(100, func(lo, hi int) {
				running.Enter()
				time.Sleep(time.Duration(hi-lo) * time.Second)
				running.Leave()
			}, par.Limit(limit))
			check.Equal(t, "at once", running.Peak.Load(), int64(limit))
			// The first index is alone.
			if took, most := time.Since(begin), time.Duration(1+99/limit+1)*time.Second; took > most {
				t.Errorf("took %v, want at most %v", took, most)
			}
		})
	}
}

func TestRangeOnAPoolUsesItsWorkersAndTheCaller(t *testing.T) {
	check.Bubble(t, "idle", func(t *testing.T) {
		p := weir.New(3)
		defer p.Close()
		var running check.Gauge
		par.Range(100, func(lo, hi int) {
			running.Enter()
			time.Sleep(time.Duration(hi-lo) * time.Second)
			running.Leave()
		}, par.On(p), par.Limit(10))
		check.Equal(t, "at once", running.Peak.Load(), 4)
	})
	check.Bubble(t, "busy, and free again", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		check.OK(t, p.Submit(func() { time.Sleep(40 * time.Second) }))
		begin := time.Now()
		par.Range(100, func(lo, hi int) { time.Sleep(time.Duration(hi-lo) * time.Second) }, par.On(p), par.Limit(10))
		// 40 s alone, some more until it asks again, the rest in two.
		if took := time.Since(begin); took < 69*time.Second || took > 80*time.Second {
			t.Errorf("took %v", took)
		}
	})
	check.Bubble(t, "busy with others to the end", func(t *testing.T) {
		p := weir.New(1)
		out := make(chan struct{})
		check.OK(t, p.Submit(func() { <-out }))
		calls := 0
		par.Range(100, func(lo, hi int) {
			calls += hi - lo
			time.Sleep(time.Duration(hi-lo) * time.Second)
		}, par.On(p))
		check.Equal(t, "indices", calls, 100)
		check.Equal(t, "queued", p.Stats().Queued, 0)
		close(out)
		p.Close()
	})
	check.Bubble(t, "inside a task, whatever the limit", func(t *testing.T) {
		p := weir.New(1)
		var sum atomic.Int64
		var nest func(depth int)
		nest = func(depth int) {
			par.Range(4, func(lo, hi int) {
				time.Sleep(time.Duration(hi-lo) * time.Millisecond)
				for range hi - lo {
					sum.Add(1)
					if depth > 0 {
						nest(depth - 1)
					}
				}
			}, par.On(p), par.Limit(3))
		}
		check.OK(t, p.Submit(func() { nest(3) }))
		p.Close()
		check.Equal(t, "indices", sum.Load(), 4+16+64+256)
	})
}

func TestRangePanicsAsItsBodyDoes(t *testing.T) {
	for name, where := range map[string]func(caller bool) bool{
		"on the caller": func(caller bool) bool { return caller },
		"on a helper":   func(caller bool) bool { return !caller },
		"on both":       func(bool) bool { return true },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			var running check.Gauge
			caller := goroutine()
			wantPanic(t, func() {
				par.Range(1000, func(lo, hi int) {
					running.Enter()
					defer running.Leave()
					time.Sleep(time.Duration(hi-lo) * time.Second)
					if lo > 10 && where(goroutine() == caller) {
						explode()
					}
				}, par.Limit(4))
			})
			check.Equal(t, "still running", running.Now.Load(), 0)
			if took := running.Peak.Load(); took != 4 {
				t.Errorf("%d at once", took)
			}
		})
	}
	wantPanic(t, func() { par.Range(1, func(int, int) { explode() }) })
	wantPanic(t, func() { par.Range(9, func(int, int) { explode() }, par.Limit(1)) })
}

func TestRangeStopsSoonAfterAPanic(t *testing.T) {
	for where, opt := range map[string]func() par.Option{
		"own goroutines": func() par.Option { return par.Limit(2) },
		"pool":           func() par.Option { return par.On(weir.New(1, weir.IdleTimeout(0))) },
	} {
		for _, onCaller := range []bool{true, false} {
			check.Bubble(t, fmt.Sprintf("%s, on the caller: %t", where, onCaller), func(t *testing.T) {
				caller := goroutine()
				begin := time.Now()
				wantPanic(t, func() {
					par.Range(1000, func(lo, hi int) {
						time.Sleep(time.Duration(hi-lo) * time.Second)
						if lo > 10 && onCaller == (goroutine() == caller) {
							explode()
						}
					}, par.Limit(2), opt())
				})
				if took := time.Since(begin); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
			})
		}
	}
}

func TestRangeExitsWithItsBody(t *testing.T) {
	for name, where := range map[string]func(caller bool) bool{
		"on the caller": func(caller bool) bool { return caller },
		"on a helper":   func(caller bool) bool { return !caller },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			var running check.Gauge
			if !check.Exits(func() {
				caller := goroutine()
				par.Range(1000, func(lo, hi int) {
					running.Enter()
					defer running.Leave()
					time.Sleep(time.Duration(hi-lo) * time.Second)
					if lo > 10 && where(goroutine() == caller) {
						runtime.Goexit()
					}
				}, par.Limit(4))
			}) {
				t.Error("Range returned")
			}
			check.Equal(t, "still running", running.Now.Load(), 0)
		})
	}
	if !check.Exits(func() { par.Range(3, func(int, int) { runtime.Goexit() }) }) {
		t.Error("Range returned")
	}
}

func TestRangeAllocatesNothingAlone(t *testing.T) {
	body := func(int, int) {}
	if got := testing.AllocsPerRun(100, func() { par.Range(10, body, par.Limit(1)) }); got > 2 {
		t.Errorf("%v allocations with an option", got)
	}
	if got := testing.AllocsPerRun(100, func() { par.Range(1, body) }); got >= 1 {
		t.Errorf("%v allocations", got)
	}
}
