package weir_test

import (
	"context"
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

func TestGroupsAreResizedLive(t *testing.T) {
	check.Bubble(t, "the limit of a group on a pool", func(t *testing.T) {
		p := weir.New(16)
		defer p.Close()
		g := p.Group(t.Context(), weir.Limit(2))
		v := check.NewValve()
		var added atomic.Int64
		for range 12 {
			go func() {
				g.Go(v.Member)
				added.Add(1)
			}()
		}
		running := func(want int) {
			t.Helper()
			synctest.Wait()
			check.Equal(t, "running", v.Running(), want)
			check.Equal(t, "TryGo", g.TryGo(v.Member), false)
		}
		running(2)
		g.Resize(5)
		running(5)
		g.Resize(3)
		running(5) // what has begun goes on
		for range 2 {
			v.LetOne()
		}
		running(3)
		v.LetOne()
		running(3)
		g.Resize(1)
		g.Resize(2) // keeps a part of what was to go
		v.LetOne()
		running(2)
		check.Equal(t, "added", added.Load(), 6)
		g.Resize(weir.Unbounded)
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 8)
		check.Equal(t, "TryGo", g.TryGo(v.Member), true)
		g.Resize(1)
		check.Equal(t, "TryGo", g.TryGo(v.Member), false)
		v.Open()
		check.OK(t, g.Wait())
		check.Equal(t, "ran", v.Ended.Load(), 13)
		wholeQuota(t, g, 1)
		check.Equal(t, "limit of the pool", p.Stats().Limit, 16)
	})
	check.Bubble(t, "the workers of a group of its own", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		for _, limit := range []int{5, 1, 3} {
			g.Resize(limit)
			v := check.NewValve()
			for range 8 {
				g.Go(v.Member)
			}
			synctest.Wait()
			check.Equal(t, "running", v.Running(), limit)
			v.Open()
			check.OK(t, g.Wait())
		}
	})
	check.Bubble(t, "the limit of a group of its own that has one", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 4, weir.Limit(2))
		g.Resize(3)
		wholeQuota(t, g, 3)
	})
	check.Bubble(t, "the limit and the workers of a group that has both", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.Limit(4))
		g.Resize(8)
		v := check.NewValve()
		for range 8 {
			g.Go(v.Member)
		}
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 8)
		v.Open()
		check.OK(t, g.Wait())
	})
	check.Bubble(t, "for a task that waits in Go, and has given its place up", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		v := check.NewValve()
		sub := make(chan *weir.Group)
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx, weir.Limit(1))
			sub <- inner
			inner.Go(v.Member)
			inner.Go(v.Member)
			return inner.Wait()
		})
		inner := <-sub
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 1)
		inner.Resize(2) // the task goes on when its place is free
		synctest.Wait()
		v.Open()
		check.OK(t, g.Wait())
		check.Equal(t, "ran", v.Ended.Load(), 2)
	})
}

// wholeQuota checks that an idle group has as many places as its limit.
func wholeQuota(t *testing.T, g *weir.Group, limit int) {
	t.Helper()
	v := check.NewValve()
	for i := range limit {
		check.Equal(t, fmt.Sprint("place ", i), g.TryGo(v.Member), true)
	}
	check.Equal(t, "one more", g.TryGo(v.Member), false)
	v.Open()
	check.OK(t, g.Wait())
}

// A quota's books must balance when all of these happen at once: Go, Cancel, the end of
// tasks, and changes of the limit in both directions.
func TestResizingAGroupLosesNoPlace(t *testing.T) {
	p := weir.New(8)
	defer p.Close()
	g := p.Group(context.Background(), weir.Limit(3))
	dice := rand.New(rand.NewPCG(4, 4))
	check.Within(time.Minute, func() {
		for round := range check.Scale(300, 20) {
			var users sync.WaitGroup
			for range 4 {
				users.Go(func() {
					for i := range 50 {
						g.Go(func(context.Context) error {
							runtime.Gosched()
							return nil
						})
						if i%8 == 7 {
							g.TryGo(succeed)
						}
					}
				})
			}
			for range 20 {
				limit := 1 + dice.IntN(5)
				if dice.IntN(8) == 0 {
					limit = weir.Unbounded
				}
				g.Resize(limit)
				runtime.Gosched()
			}
			cancelled := round%4 == 3
			if cancelled {
				g.Cancel(errBoom)
			}
			users.Wait()
			if err := g.Wait(); cancelled {
				check.Error(t, err, errBoom)
			} else {
				check.OK(t, err)
			}
			limit := 1 + dice.IntN(5)
			g.Resize(limit)
			wholeQuota(t, g, limit)
		}
	})
}

// When Resize has returned no task is added while the limit or more are queued or running.
func TestALoweredGroupLimitHoldsAtOnce(t *testing.T) {
	p := weir.New(8)
	defer p.Close()
	g := p.Group(context.Background(), weir.Limit(8))
	check.Within(time.Minute, func() {
		var running check.Gauge
		var finished atomic.Int64
		var stop atomic.Bool
		var producing sync.WaitGroup
		var given [3]atomic.Int64 // by each producer
		for i := range given {
			producing.Go(func() {
				for !stop.Load() {
					g.Go(func(context.Context) error {
						running.Enter()
						runtime.Gosched()
						running.Leave()
						finished.Add(1)
						return nil
					})
					given[i].Add(1)
				}
			})
		}
		dice := rand.New(rand.NewPCG(5, 5))
		for range check.Scale(300, 30) {
			limit := 1 + dice.IntN(8)
			g.Resize(limit)
			for i := range given { // a call of Go that is under way may have been let in before
				for n := given[i].Load(); given[i].Load() == n; {
					runtime.Gosched()
				}
			}
			p.Wait() // for all that had been added before
			running.Peak.Store(0)
			from := finished.Load()
			for finished.Load() < from+50 {
				runtime.Gosched()
			}
			if peak := running.Peak.Load(); peak > int64(limit) {
				t.Errorf("%d tasks ran at once, the limit was %d", peak, limit)
			}
		}
		stop.Store(true)
		producing.Wait()
		check.OK(t, g.Wait())
	})
}
