package par_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// A task that ranges over a stream on its own pool goes on before what is queued there.
func TestAConsumerGoesOnBeforeQueuedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			for range 3 {
				check.OK(t, p.Submit(func() { time.Sleep(time.Hour) }))
			}
			begin := time.Now()
			check.OK(t, par.Each(ctx, upTo(3), nothing, par.On(p)))
			check.Equal(t, "loop", time.Since(begin), 0)
			for _, err := range par.Stream(ctx, upTo(100), same, par.On(p)) {
				check.OK(t, err)
			}
			check.Equal(t, "stream", time.Since(begin), 0)
			return nil
		})
		check.OK(t, g.Wait())
		p.Close()
	})
}

// With a single place the consumer gets it back after the first result, not when all that
// may be ahead is done.
func TestAConsumerGetsItsOnlyPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			begin, next := time.Now(), 0
			for got, err := range par.Stream(ctx, upTo(8), func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Second)
				return i, nil
			}, par.On(p)) {
				check.OK(t, err)
				check.Equal(t, "result", got, next)
				next++
				if late := time.Since(begin) - time.Duration(next)*time.Second; late > time.Second {
					t.Errorf("result %d came %v late", got, late)
				}
			}
			check.Equal(t, "results", next, 8)
			return nil
		})
		check.OK(t, g.Wait())
		p.Close()
	})
}

// In a pool that had no room a helper comes alone, so that its first result is not held
// up by others.
func TestTheFirstResultFromAPausedPoolIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		p.Pause()
		time.AfterFunc(time.Second, p.Resume)
		begin := time.Now()
		for i, err := range par.Stream(t.Context(), upTo(3), func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Second)
			if i > 0 {
				time.Sleep(time.Minute)
			}
			return i, nil
		}, par.On(p), par.Limit(2)) {
			check.OK(t, err)
			if i == 0 {
				check.Equal(t, "first result after", time.Since(begin), 2*time.Second)
			}
		}
	})
}
