package errgroup_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

func TestGoBlocksAtTheLimit(t *testing.T) {
	for _, limit := range []int{1, 2, 5, 100} {
		check.Bubble(t, fmt.Sprintf("limit=%d", limit), func(t *testing.T) {
			g := limited(limit)
			v := check.NewValve()
			var added atomic.Int64
			go func() {
				for range limit + 3 {
					g.Go(v.Try)
					added.Add(1)
				}
			}()
			for i := range 3 {
				synctest.Wait()
				check.Equal(t, "added", int(added.Load()), limit+i)
				check.Equal(t, "running", v.Running(), limit)
				check.Equal(t, "TryGo", g.TryGo(v.Try), false)
				v.LetOne()
			}
			synctest.Wait()
			check.Equal(t, "added", int(added.Load()), limit+3)
			check.Equal(t, "running", v.Running(), limit)
			v.Open()
			check.OK(t, g.Wait())
			check.Equal(t, "ran", int(v.Ended.Load()), limit+3)
		})
	}
	check.Bubble(t, "without a limit never", func(t *testing.T) {
		var g errgroup.Group
		v := check.NewValve()
		for range 10_000 {
			g.Go(v.Try)
		}
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 10_000)
		v.Open()
		check.OK(t, g.Wait())
	})
	check.Bubble(t, "those that wait are let in in order", func(t *testing.T) {
		g := limited(1)
		v := check.NewValve()
		g.Go(v.Try)
		var order []int
		var adding sync.WaitGroup
		for i := range 10 {
			adding.Go(func() {
				g.Go(func() error {
					order = append(order, i) // one at a time
					return nil
				})
			})
			synctest.Wait()
		}
		check.Equal(t, "TryGo while others wait", g.TryGo(succeed), false)
		v.Open()
		adding.Wait()
		check.OK(t, g.Wait())
		check.Equal(t, "order", fmt.Sprint(order), "[0 1 2 3 4 5 6 7 8 9]")
	})
}

func TestTryGoReportsWhetherThereIsRoom(t *testing.T) {
	check.Bubble(t, "limits one after the other", func(t *testing.T) {
		var g errgroup.Group
		for _, limit := range []int{42, 1, 7} {
			g.SetLimit(limit)
			for range 2 { // again after Wait
				v := check.NewValve()
				for range limit {
					check.Equal(t, "with room", g.TryGo(v.Try), true)
				}
				check.Equal(t, "without", g.TryGo(v.Try), false)
				v.LetOne()
				synctest.Wait()
				check.Equal(t, "with room again", g.TryGo(v.Try), true)
				check.Equal(t, "without", g.TryGo(v.Try), false)
				v.Open()
				check.OK(t, g.Wait())
				check.Equal(t, "ran", int(v.Ended.Load()), limit+1)
			}
		}
		g.SetLimit(0)
		for range 1000 {
			check.Equal(t, "with limit 0", g.TryGo(succeed), false)
		}
		check.OK(t, g.Wait())
		g.SetLimit(-1)
		v := check.NewValve()
		for range 1000 {
			check.Equal(t, "without a limit", g.TryGo(v.Try), true)
		}
		v.Open()
		check.OK(t, g.Wait())
	})
	t.Run("those let in run once, the others never", func(t *testing.T) {
		check.Within(time.Minute, func() {
			for _, limit := range limits {
				g := limited(limit)
				for range check.Scale(100, 10) {
					var in, ran atomic.Int64
					var adding sync.WaitGroup
					for range 3 {
						adding.Go(func() {
							for range 100 {
								if g.TryGo(func() error { ran.Add(1); return nil }) {
									in.Add(1)
								}
							}
						})
					}
					adding.Wait()
					check.OK(t, g.Wait())
					check.Equal(t, "ran", ran.Load(), in.Load())
					if limit > 0 { // no place was lost, none won
						v := check.NewValve()
						for range limit {
							check.Equal(t, "with room", g.TryGo(v.Try), true)
						}
						check.Equal(t, "without", g.TryGo(v.Try), false)
						v.Open()
						check.OK(t, g.Wait())
					}
				}
			}
		})
	})
}

func TestSetLimitPanicsWhileFunctionsAreActiveUnderALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const message = "errgroup: limit must be set while no function is active, got 2 active ones"
		g := limited(3)
		v := check.NewValve()
		g.Go(v.Try)
		g.Go(v.Try)
		for _, n := range []int{0, 1, 2, 3, 4} {
			err, isError := check.Caught(func() { g.SetLimit(n) }).(error)
			if !isError || err.Error() != message {
				t.Errorf("SetLimit(%d) panicked with %v", n, err)
			}
		}
		// The limit is what it was.
		check.Equal(t, "the third", g.TryGo(v.Try), true)
		check.Equal(t, "the fourth", g.TryGo(v.Try), false)
		v.Open()
		synctest.Wait()
		g.SetLimit(1) // all have ended: Wait is not needed for that
		v = check.NewValve()
		check.Equal(t, "the first", g.TryGo(v.Try), true)
		check.Equal(t, "the second", g.TryGo(v.Try), false)
		v.Open()
		check.OK(t, g.Wait())
	})
	check.Bubble(t, "not if the limit is lifted", func(t *testing.T) {
		g := limited(2)
		v := check.NewValve()
		g.Go(v.Try)
		g.Go(v.Try)
		var adding sync.WaitGroup
		adding.Go(func() { g.Go(v.Try) })
		synctest.Wait()
		g.SetLimit(-1)
		for range 5 {
			g.Go(v.Try)
		}
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 7)
		v.Open()
		adding.Wait()
		check.OK(t, g.Wait())
		check.Equal(t, "ran", int(v.Ended.Load()), 8) // also the one that waited for the former limit
	})
	check.Bubble(t, "not if there was none", func(t *testing.T) {
		var g errgroup.Group
		v := check.NewValve()
		g.Go(v.Try)
		g.SetLimit(1)
		check.Equal(t, "the first", g.TryGo(v.Try), true)
		check.Equal(t, "the second", g.TryGo(v.Try), false)
		check.Equal(t, "running", func() int { synctest.Wait(); return v.Running() }(), 2)
		v.Open()
		check.OK(t, g.Wait())
		v = check.NewValve()
		check.Equal(t, "the first", g.TryGo(v.Try), true)
		check.Equal(t, "the second", g.TryGo(v.Try), false)
		v.Open()
		check.OK(t, g.Wait())
	})
}

func TestLimitZeroLetsNothingIn(t *testing.T) {
	// Such a Go never returns, so a bubble would never end: this test uses none.
	g := limited(0)
	var returned, ran atomic.Bool
	go func() {
		g.Go(func() error { ran.Store(true); return nil })
		returned.Store(true)
	}()
	check.Equal(t, "Go returned", check.Tries(10_000, returned.Load), false)
	check.Equal(t, "TryGo", g.TryGo(succeed), false)
	check.OK(t, g.Wait())
	check.Equal(t, "ran", ran.Load(), false)
}

func TestNeverMoreThanTheLimitAreActive(t *testing.T) {
	check.Within(2*time.Minute, func() {
		for _, limit := range []int{1, 2, 3, 8, 100} {
			for _, producers := range []int{1, 2, 5} {
				t.Run(fmt.Sprintf("limit=%d/producers=%d", limit, producers), func(t *testing.T) {
					g := limited(limit)
					var active check.Gauge
					var ran atomic.Int64
					each := check.Scale(2000, 200)
					for range 3 {
						ran.Store(0)
						var producing sync.WaitGroup
						for p := range producers {
							producing.Go(func() {
								for i := range each {
									g.Go(func() error {
										active.Enter()
										for range (i + p) % 3 {
											runtime.Gosched()
										}
										active.Leave()
										ran.Add(1)
										if i%97 == 0 {
											runtime.Goexit()
										}
										return nil
									})
								}
							})
						}
						producing.Wait()
						check.OK(t, g.Wait())
						check.Equal(t, "ran", int(ran.Load()), each*producers)
					}
					if peak := active.Peak.Load(); peak > int64(limit) {
						t.Errorf("%d were active at once", peak)
					}
				})
			}
		}
	})
}
