package peers_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// pondCases show what no test of the library shows as a whole.
var pondCases = cases{
	// It finds at once that Get blocks for ever. Of the library's tests, another one comes first, and hangs.
	"AnExitedGoroutineIsCalledThat": func(t *testing.T) {
		p := endless(t, 1)
		_, err := weir.Async(t.Context(), p, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil }).Get(t.Context())
		check.Error(t, err, weir.ErrGoexit)
	},
	"TheEndOfTheContextIsToldEvenAfterSuccess": func(t *testing.T) {
		p := endless(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		g := p.Group(ctx)
		r := weir.NewResults[string](g)
		tells := func(end func(), cause error) {
			r.Go(func(context.Context) (string, error) { return "output1", nil })
			p.Wait()
			end()
			values, err := r.Wait()
			check.Equal(t, "error", err, cause)
			check.Equal(t, "the value is there", slices.Equal(values, []string{"output1"}), true)
		}
		tells(func() { g.Cancel(errBoom) }, errBoom)
		tells(cancel, context.Canceled)
	},
	"PartsHaveLimitsOfTheirOwn": func(t *testing.T) {
		const tasks, pause = 10, 10 * time.Millisecond
		p := endless(t, 10)
		timed := func(ctx context.Context, limit int) error {
			start := time.Now()
			g := p.Group(ctx, weir.Limit(limit))
			for range tasks {
				g.Go(func(context.Context) error { time.Sleep(pause); return nil })
			}
			err := g.Wait()
			check.Equal(t, "time", time.Since(start), time.Duration(tasks/limit)*pause)
			return err
		}
		whole := p.Group(t.Context())
		whole.Go(func(ctx context.Context) error { return timed(t.Context(), 5) })
		part := p.Group(t.Context(), weir.Limit(5))
		part.Go(func(ctx context.Context) error { return timed(ctx, 1) })
		check.OK(t, part.Wait())
		check.OK(t, whole.Wait())
	},
}
