package reuse_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

func TestMinIdleObjectsAreKeptReady(t *testing.T) {
	check.Bubble(t, "from the beginning, as far as the capacity allows", func(t *testing.T) {
		k, f := keeping(t, 5, func(c *config) { c.MinIdle, c.IdleTimeout, c.Lifetime = 3, time.Minute, time.Hour })
		f.idle(k, 3)
		var leases []lease
		for i := range 5 {
			leases = append(leases, got(t, k))
			synctest.Wait()
			check.Equal(t, "idle", k.Stats().Idle, min(3, 5-i-1))
		}
		leases[0].Discard()
		synctest.Wait()
		check.Equal(t, "idle", k.Stats().Idle, 1)
		for _, l := range leases[1:] {
			l.Put()
		}
		f.idle(k, 5)
		time.Sleep(time.Minute)
		f.idle(k, 3)
		time.Sleep(30 * time.Minute)
		check.Equal(t, "opened", f.opened.Load(), 6) // IdleTimeout leaves them alone
		time.Sleep(30 * time.Minute)
		f.idle(k, 3)
		if f.opened.Load() != 9 {
			t.Errorf("%d objects were opened; those over their lifetime were to be replaced", f.opened.Load())
		}
		k.Reset()
		f.idle(k, 3)
		k.Close()
		f.settled(5)
	})
	check.Bubble(t, "and are tried again, less and less often", func(t *testing.T) {
		var mu sync.Mutex
		var tries []time.Duration
		tried := func() []time.Duration {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			all := tries
			tries = nil
			return all
		}
		var works atomic.Bool
		start := time.Now()
		k, f := keeping(t, 2, func(c *config) {
			c.MinIdle = 1
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) {
				mu.Lock()
				tries = append(tries, time.Since(start))
				mu.Unlock()
				if !works.Load() {
					return nil, errKept
				}
				return open(ctx)
			}
		})
		time.Sleep(time.Second)
		want := []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond}
		if all := tried(); !slices.Equal(all, want) {
			t.Errorf("tries at %v, want %v", all, want)
		}
		a := asks(t, k)
		a.failed(t, errKept) // a user that asks is not put off
		tried()
		time.Sleep(time.Hour)
		if n := len(tried()); n < 55 || n > 70 {
			t.Errorf("%d tries in an hour", n)
		}
		works.Store(true)
		time.Sleep(time.Minute)
		f.idle(k, 1)
		tried()
		works.Store(false)
		l := got(t, k)
		check.Equal(t, "tries", len(tried()), 1)
		time.Sleep(100 * time.Millisecond) // as at the beginning, since one has succeeded
		check.Equal(t, "tries", len(tried()), 1)
		l.Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "without a timer when Close has returned", func(t *testing.T) {
		k, f := keeping(t, 2, func(c *config) {
			c.MinIdle = 1
			c.Open = func(context.Context) (*thing, error) { return nil, errKept }
		})
		time.Sleep(time.Minute)
		k.Close()
		failed := k.Stats().Failed
		time.Sleep(time.Hour)
		check.Equal(t, "failed", k.Stats().Failed, failed)
		f.settled(2)
	})
}
