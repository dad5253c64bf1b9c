package par_test

import (
	"context"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// shutdownAfter shuts a pool down without patience.
func shutdownAfter(t *testing.T, d time.Duration, p *weir.Pool) {
	time.AfterFunc(d, func() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Shutdown(ctx); err == nil {
			t.Error("nothing was left to be shut down")
		}
	})
}

func TestAStreamLearnsThatItsHelperWasHandedBack(t *testing.T) {
	for kind := range 4 {
		for _, opts := range [][]par.StreamOption{nil, {par.KeepGoing()}, {par.Unordered()}} {
			check.Bubble(t, "no helper has begun", func(t *testing.T) {
				p := weir.New(1)
				out := make(chan struct{})
				check.OK(t, p.Submit(func() { <-out }))
				shutdownAfter(t, time.Second, p)
				n := 0
				for _, err := range anyPipe(kind, 10, same, append(opts, par.On(p))...).All(t.Context()) {
					check.Error(t, err, weir.ErrClosed)
					n++
				}
				check.Equal(t, "results", n, 1)
				close(out)
				p.Close()
			})
			check.Bubble(t, "one runs", func(t *testing.T) {
				p := weir.New(2)
				out := make(chan struct{})
				check.OK(t, p.Submit(func() { <-out }))
				shutdownAfter(t, time.Second+time.Second/2, p)
				n := 0
				var last error
				for _, err := range anyPipe(kind, 10, func(_ context.Context, i int) (int, error) {
					time.Sleep(time.Second)
					return i, nil
				}, append(opts, par.On(p), par.Limit(2))...).All(t.Context()) {
					check.OK(t, last)
					last = err
					n++
				}
				check.Error(t, last, weir.ErrClosed) // the end of Shutdown's context is that of the helper's
				check.Equal(t, "results", n, 2)      // of the first second, and the error
				close(out)
				p.Close()
			})
		}
	}
	check.Bubble(t, "in a task of the pool", func(t *testing.T) {
		p := weir.New(1)
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			shutdownAfter(t, time.Second/2, p)
			var last error
			for _, err := range par.Stream(ctx, upTo(10), same, par.On(p), par.Ahead(2)) {
				last = err
				time.Sleep(time.Second) // with a helper in the pool that cannot begin
			}
			check.Error(t, last, weir.ErrClosed)
			return nil
		})
		check.Error(t, g.Wait(), weir.ErrClosed)
		p.Close()
	})
}

func TestATaskRunsItsStreamToTheEndWhileItsPoolCloses(t *testing.T) {
	for name, want := range map[string]error{"one stage": nil, "two stages": weir.ErrClosed} {
		check.Bubble(t, name, func(t *testing.T) {
			pool := weir.New(1)
			var last error
			check.OK(t, pool.Go(t.Context(), func(ctx context.Context) error {
				time.Sleep(time.Second) // the pool is closed meanwhile
				stream := par.Pipe(upTo(9), same, par.On(pool))
				if name == "two stages" {
					stream = par.Pipe(stream, same, par.On(pool))
				}
				for _, err := range stream.All(ctx) {
					last = err
				}
				return nil
			}))
			pool.Close()
			check.Equal(t, "last error", last, want)
		})
	}
}
