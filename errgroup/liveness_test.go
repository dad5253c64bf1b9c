package errgroup_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

func TestNoFunctionWaitsForAnotherToEnd(t *testing.T) {
	for _, limit := range []int{-1, 2, 8, 100} {
		check.Bubble(t, fmt.Sprintf("all run at once/limit=%d", limit), func(t *testing.T) {
			g := limited(limit)
			most := limit
			if limit < 0 {
				most = 300 // more than wait for a goroutine at once
			}
			for n := 1; n <= most; n += 1 + n/3 {
				v := check.NewValve()
				for range n {
					g.Go(v.Try)
				}
				synctest.Wait()
				check.Equal(t, "running", v.Running(), n)
				v.Open()
				check.OK(t, g.Wait())
			}
		})
		t.Run(fmt.Sprintf("each waits for the next to start/limit=%d", limit), func(t *testing.T) {
			check.Within(time.Minute, func() { chain(t, limit) })
		})
		t.Run(fmt.Sprintf("two that need each other/limit=%d", limit), func(t *testing.T) {
			check.Within(time.Minute, func() { pairs(t, limit) })
		})
		t.Run(fmt.Sprintf("short ones before one that blocks/limit=%d", limit), func(t *testing.T) {
			check.Within(time.Minute, func() { mixed(t, limit) })
		})
	}
}

// chain runs functions that each wait for the next one's start.
func chain(t *testing.T, limit int) {
	g := limited(limit)
	links := check.Scale(4000, 300)
	started := make([]chan struct{}, links+1)
	for i := range started {
		started[i] = make(chan struct{})
	}
	close(started[links])
	for i := range links {
		g.Go(func() error {
			close(started[i])
			<-started[i+1]
			return nil
		})
	}
	check.OK(t, g.Wait())
}

// pairs runs two functions that only end together, over and over: with no pause,
// each pair after the one before, and with the partner added by a function.
func pairs(t *testing.T, limit int) {
	g := limited(limit)
	meet := make(chan struct{})
	give := func() error { meet <- struct{}{}; return nil }
	take := func() error { <-meet; return nil }
	rounds := check.Scale(20_000, 1_000)
	for range rounds {
		g.Go(give)
		g.Go(take)
	}
	check.OK(t, g.Wait())
	for range rounds {
		g.Go(give)
		g.Go(take)
		check.OK(t, g.Wait())
	}
	for range rounds {
		g.Go(func() error {
			g.Go(take)
			return give()
		})
		check.OK(t, g.Wait())
	}
}

// mixed has bursts of short functions, each with one that waits for something
// behind it.
func mixed(t *testing.T, limit int) {
	g := limited(limit)
	var ran atomic.Int64
	short := func() error { ran.Add(1); return nil }
	for round := range check.Scale(2000, 80) {
		ran.Store(0)
		for range round % 70 {
			g.Go(short)
		}
		release := make(chan struct{})
		g.Go(func() error { <-release; return nil })
		for range round % 7 {
			g.Go(short)
		}
		g.Go(func() error { close(release); return nil })
		check.OK(t, g.Wait())
		check.Equal(t, "ran", int(ran.Load()), round%70+round%7)
	}
}

// A function that any goroutine gives to the group while another function is active has
// ended when Wait returns.
func TestWaitMissesNothingThatIsAddedMeanwhile(t *testing.T) {
	const producers = 3
	check.Within(2*time.Minute, func() {
		for _, limit := range []int{-1, producers + 1, 100} {
			var ended atomic.Int64
			f := func() error { ended.Add(1); return nil }
			for round := range check.Scale(2000, 80) {
				// Bursts of all sizes end at all times, while Wait has begun.
				each := 1 + 7*round%300
				g := limited(limit)
				ended.Store(0)
				for range producers {
					g.Go(func() error {
						for range each {
							g.Go(f)
						}
						return nil
					})
				}
				check.OK(t, g.Wait())
				check.Equal(t, "functions of functions", ended.Load(), int64(producers*each))

				ended.Store(0)
				added := make(chan struct{})
				g.Go(func() error { <-added; return nil })
				waited := make(chan int64)
				go func() {
					check.OK(t, g.Wait())
					waited <- ended.Load()
				}()
				var adding sync.WaitGroup
				for range producers {
					adding.Go(func() {
						for range each {
							g.Go(f)
						}
					})
				}
				adding.Wait()
				close(added)
				check.Equal(t, "functions of others", <-waited, int64(producers*each))
			}
		}
	})
}

// What a function writes can be read after Wait, and what was written before Go
// can be read in the function: the race detector checks.
func TestGoAndWaitSynchronize(t *testing.T) {
	for _, limit := range limits {
		g := limited(limit)
		results := make([]int, 1000)
		for round := range check.Scale(50, 5) {
			for i := range results {
				results[i] = round
				g.Go(func() error {
					results[i] += i
					return nil
				})
			}
			check.OK(t, g.Wait())
			for i, got := range results {
				if got != round+i {
					t.Fatalf("limit %d: result %d is %d", limit, i, got)
				}
			}
		}
	}
	t.Run("one after the other", func(t *testing.T) {
		g := limited(1)
		sum := 0
		for i := range check.Scale(20_000, 2_000) {
			g.Go(func() error {
				sum += i
				return nil
			})
		}
		check.OK(t, g.Wait())
		n := check.Scale(20_000, 2_000)
		check.Equal(t, "sum", sum, n*(n-1)/2)
	})
}

func TestShortFunctionsShareGoroutines(t *testing.T) {
	if check.Race {
		t.Skip("each function has a goroutine of its own, so that the race detector sees what plain goroutines show")
	}
	for _, limit := range []int{-1, 64} {
		// AllocsPerRun lets one processor run at a time. So functions gather in
		// rings until Go has to wait or is interrupted, and one goroutine runs many.
		g := limited(limit)
		const n = 100_000
		got := testing.AllocsPerRun(1, func() {
			for range n {
				g.Go(succeed)
			}
			check.OK(t, g.Wait())
		})
		if got > n/10 {
			t.Errorf("limit %d: %d functions took %.0f allocations", limit, n, got)
		}
	}
}
