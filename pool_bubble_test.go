package weir_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise12EverythingWorksInOneBubbleAfterTheOther(t *testing.T) {
	use := func(t *testing.T, p *weir.Pool) {
		v := check.NewValve()
		for range 20 {
			check.OK(t, p.Submit(v.Hold))
		}
		synctest.Wait()
		g := p.Group(t.Context())
		slow := func(context.Context) error { time.Sleep(time.Minute); return nil }
		for range 3 {
			g.Go(slow)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		check.Error(t, p.WaitContext(ctx), context.DeadlineExceeded)
		v.Open()
		check.OK(t, g.Wait())
		p.Wait()
		own := weir.NewGroup(t.Context(), 2)
		own.Go(slow)
		check.OK(t, own.Wait())
	}
	for _, name := range []string{"first", "second", "third"} {
		check.Bubble(t, name+" bubble", func(t *testing.T) {
			p := weir.New(4, weir.Queue(100))
			use(t, p)
			// A submitter that waits for room, and one that leaves.
			full := weir.New(1, weir.Queue(0))
			v := block(t, full, 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			check.Error(t, full.SubmitContext(ctx, nothing), context.DeadlineExceeded)
			go func() { check.OK(t, full.Submit(nothing)) }()
			synctest.Wait()
			v.Open()
			full.Wait()
			full.Close()
			p.Close()
		})
		// No other test uses the default pool outside a bubble, and examples come last.
		check.Bubble(t, name+" bubble with the default pool", func(t *testing.T) {
			p := weir.Default()
			use(t, p)
			time.Sleep(time.Hour)
			synctest.Wait()
			check.Equal(t, "workers after the idle timeout", p.Stats().Workers, 0)
		})
	}
	// A pool that was made and has rested outside works inside, too.
	made := weir.New(1, weir.Queue(1))
	for _, name := range []string{"first", "second"} {
		check.Bubble(t, name+" bubble with a pool from outside", func(t *testing.T) {
			use := block(t, made, 1)
			check.OK(t, made.Submit(use.Hold))
			go func() { check.OK(t, made.Submit(use.Hold)) }()
			synctest.Wait()
			check.Equal(t, "waiting", made.Stats().Waiting, 1)
			use.Open()
			made.Wait()
			time.Sleep(time.Hour)
		})
	}
}

// What an engine keeps for its next user must not belong to a bubble that has
// ended: to touch it is fatal.
func TestWhatWasUsedInABubbleCanBeUsedOutside(t *testing.T) {
	t.Run("the idle timer", func(t *testing.T) {
		p := weir.New(2)
		synctest.Test(t, func(t *testing.T) {
			check.OK(t, p.Submit(nothing))
			time.Sleep(time.Minute)
		})
		check.OK(t, p.Submit(nothing))
		p.Close()
	})
	t.Run("the places of waiters", func(t *testing.T) {
		g := weir.NewGroup(context.Background(), 1, weir.Queue(0))
		more := func() {
			for range 3 {
				g.Go(func(context.Context) error {
					runtime.Gosched()
					return nil
				})
			}
			check.OK(t, g.Wait())
		}
		synctest.Test(t, func(*testing.T) { more() })
		more()
	})
}
