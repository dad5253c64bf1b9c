package par_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestThePoolsLimitHolds(t *testing.T) {
	for kind := range 4 {
		synctest.Test(t, func(t *testing.T) {
			p := weir.New(3)
			defer p.Close()
			var running check.Gauge
			begin := time.Now()
			_, err := anyMap(t.Context(), kind, 30, func(context.Context, int) (int, error) {
				running.Enter()
				defer running.Leave()
				time.Sleep(time.Second)
				return 0, nil
			}, par.On(p), par.Limit(50))
			check.OK(t, err)
			check.Equal(t, "at once", running.Peak.Load(), 3)
			check.Equal(t, "time", time.Since(begin), 10*time.Second)
		})
	}
}

func TestALoopDoesNotWaitForWorkersItDoesNotNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		out := make(chan struct{})
		check.OK(t, p.Submit(func() { <-out }))
		check.OK(t, par.Each(t.Context(), upTo(10), sleep(time.Second), par.On(p), par.Limit(8)))
		check.Equal(t, "queued", p.Stats().Queued, 0)
		n := 0
		for _, err := range par.Stream(t.Context(), upTo(10), same, par.On(p), par.Limit(8)) {
			check.OK(t, err)
			n++
		}
		check.Equal(t, "results", n, 10)
		check.Equal(t, "queued", p.Stats().Queued, 0)
		close(out)
		p.Close()
	})
}

func TestALoopWaitsForAFullPool(t *testing.T) {
	for name, p := range map[string]*weir.Pool{"short queue": weir.New(1, weir.Queue(1)), "no queue": weir.New(1, weir.Queue(0))} {
		check.Bubble(t, name, func(t *testing.T) {
			begin := time.Now()
			for p.TrySubmit(func() { time.Sleep(time.Second) }) == nil {
			}
			busy := time.Duration(p.Stats().Accepted-p.Stats().Finished) * time.Second
			check.OK(t, par.Each(t.Context(), upTo(10), nothing, par.On(p), par.Limit(3)))
			check.Equal(t, "time", time.Since(begin), busy)

			check.OK(t, p.Submit(func() { time.Sleep(time.Second) }))
			begin = time.Now()
			n := 0
			for _, err := range par.Stream(t.Context(), channel(10), same, par.On(p), par.Limit(3)) {
				check.OK(t, err)
				n++
			}
			check.Equal(t, "results", n, 10)
			check.Equal(t, "time", time.Since(begin), time.Second)

			// As soon as there is room, and there is a result.
			check.OK(t, p.Submit(func() { time.Sleep(time.Second) }))
			begin = time.Now()
			for _, err := range par.Stream(t.Context(), upTo(10), func(context.Context, int) (int, error) {
				time.Sleep(time.Second)
				return 0, nil
			}, par.On(p), par.Limit(3)) {
				check.OK(t, err)
				check.Equal(t, "time", time.Since(begin), 2*time.Second)
				break
			}

			// Not longer than the context lasts.
			out := make(chan struct{})
			for p.TrySubmit(func() { <-out }) == nil {
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			check.Error(t, par.Each(ctx, upTo(10), nothing, par.On(p)), context.DeadlineExceeded)
			for _, err := range par.Stream(ctx, upTo(10), same, par.On(p)) {
				check.Error(t, err, context.DeadlineExceeded)
			}
			close(out)
			p.Close()
		})
	}
}

func TestWhatThePoolRefusesFails(t *testing.T) {
	refuse := func(t *testing.T, p *weir.Pool, want error) {
		for kind := range 4 {
			_, err := anyMap(t.Context(), kind, 3, same, par.On(p), par.Limit(2))
			check.Error(t, err, want)
			_, err = anyMap(t.Context(), kind, 3, same, par.On(p), par.KeepGoing())
			check.Error(t, err, want)
		}
		for _, opts := range [][]par.StreamOption{{par.On(p)}, {par.On(p), par.KeepGoing()}} {
			n := 0
			for _, err := range par.Stream(t.Context(), upTo(3), same, opts...) {
				check.Error(t, err, want)
				n++
			}
			check.Equal(t, "results", n, 1)
		}
	}
	check.Bubble(t, "closed", func(t *testing.T) {
		p := weir.New(1)
		p.Close()
		refuse(t, p, weir.ErrClosed)
		n := 0
		par.Range(9, func(lo, hi int) { n += hi - lo; time.Sleep(time.Second) }, par.On(p))
		check.Equal(t, "indices", n, 9)
	})
	check.Bubble(t, "too slow", func(t *testing.T) {
		p := weir.New(1, weir.ExpireAfter(time.Second))
		out := make(chan struct{})
		check.OK(t, p.Submit(func() { <-out }))
		refuse(t, p, weir.ErrExpired)
		close(out)
		p.Close()
	})
	check.Bubble(t, "full", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		out := make(chan struct{})
		check.OK(t, p.Submit(func() { <-out }))
		refuse(t, p, weir.ErrFull)
		close(out)
		p.Close()
	})
}

func TestAHelperMayExpireWhileAnotherWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.ExpireAfter(time.Second))
		check.OK(t, par.Each(t.Context(), upTo(5), sleep(time.Second), par.On(p), par.Limit(2)))
		n := 0
		for _, err := range par.Stream(t.Context(), upTo(5), func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Second)
			return i, nil
		}, par.On(p), par.Limit(2)) {
			check.OK(t, err)
			n++
		}
		check.Equal(t, "results", n, 5)
		p.Close()
		if p.Stats().HandedBack == 0 {
			t.Error("no helper has expired")
		}
	})
}

func TestALoopSurvivesTheClosingOfItsPool(t *testing.T) {
	check.Bubble(t, "Close", func(t *testing.T) {
		p := weir.New(2)
		time.AfterFunc(time.Second, p.Close)
		// The helpers are accepted already.
		check.OK(t, par.Each(t.Context(), upTo(10), sleep(time.Second), par.On(p)))
		p.Close()
	})
	check.Bubble(t, "Shutdown", func(t *testing.T) {
		p := weir.New(2)
		out := make(chan struct{})
		check.OK(t, p.Submit(func() { <-out }))
		check.OK(t, p.Submit(func() { <-out }))
		time.AfterFunc(time.Second, func() {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := p.Shutdown(ctx); err == nil {
				t.Error("nothing was left to be shut down")
			}
		})
		check.Error(t, par.Each(t.Context(), upTo(10), nothing, par.On(p)), weir.ErrClosed)
		close(out)
		p.Close()
	})
	check.Bubble(t, "Shutdown, while calls run that give up then", func(t *testing.T) {
		for kind := range 4 {
			for _, give := range []func(ctx context.Context) error{context.Context.Err, func(context.Context) error { return nil }} {
				p := weir.New(2)
				shutdownAfter(t, time.Second, p)
				_, err := anyMap(t.Context(), kind, 2, func(ctx context.Context, i int) (int, error) {
					<-ctx.Done()
					return i, give(ctx)
				}, par.On(p), par.Limit(2))
				check.Error(t, err, weir.ErrClosed)
				p.Close()
			}
		}
	})
	check.Bubble(t, "Shutdown, and Range", func(t *testing.T) {
		p := weir.New(3)
		shutdownAfter(t, 2*time.Second+time.Second/2, p)
		var n atomic.Int32
		par.Range(20, func(lo, hi int) { n.Add(int32(hi - lo)); time.Sleep(time.Second) }, par.On(p))
		check.Equal(t, "indices", n.Load(), 20)
		p.Close()
	})
}

// What the pool has refused a helper for once is no reason later.
func TestALoopWhoseLastCallExitsTellsOfTheEndOfItsPool(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		err := par.Each(t.Context(), upTo(1), func(ctx context.Context, _ int) error {
			go func() { _, _ = p.Shutdown(over) }()
			<-ctx.Done()
			runtime.Goexit()
			return nil
		}, par.On(p), par.KeepGoing())
		check.Error(t, err, weir.ErrGoexit)
		check.Error(t, err, weir.ErrClosed)
		p.Close()
	})
}

func TestAStreamForgetsAnExpiredHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Queue(1), weir.ExpireAfter(50*time.Millisecond))
		out := make(chan struct{})
		check.OK(t, p.Submit(func() { <-out }))
		n := 0
		for _, err := range par.Stream(t.Context(), upTo(12), func(_ context.Context, i int) (int, error) {
			time.Sleep(60 * time.Millisecond)
			return i, nil
		}, par.On(p), par.Limit(2), par.Ahead(3)) {
			check.OK(t, err)
			if n++; n == 4 {
				time.Sleep(time.Second)
				busy := make(chan struct{}) // the pool is full for a moment
				for p.TrySubmit(func() { <-busy }) == nil {
				}
				time.AfterFunc(20*time.Millisecond, func() { close(busy) })
			}
		}
		check.Equal(t, "results", n, 12)
		if p.Stats().HandedBack == 0 {
			t.Error("no helper has expired")
		}
		close(out)
		p.Close()
	})
}

// A loop asks for helpers again in place of those that have expired.
func TestALoopReplacesExpiredHelpers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(3, weir.ExpireAfter(50*time.Millisecond))
		for _, d := range []time.Duration{30, 100, 100} {
			check.OK(t, p.Submit(func() { time.Sleep(d * time.Millisecond) }))
		}
		begun := time.Now()
		check.OK(t, par.Each(t.Context(), upTo(100), sleep(10*time.Millisecond), par.On(p), par.Limit(3)))
		if d := time.Since(begun); d > 700*time.Millisecond {
			t.Errorf("it took %v, where three helpers take 0.4 s", d)
		}
		p.Close()
	})
}
