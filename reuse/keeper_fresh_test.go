package reuse_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// beatenAndStale is a keeper with two idle objects, of which the first needs no check since its
// heartbeat was a second ago. The second was used later, and needs one, which lasts until it gets its
// result.
func beatenAndStale(t *testing.T) (k *reuse.Keeper[*thing], f *factory, checks chan error) {
	checks = make(chan error)
	k, f = keeping(t, 2, func(c *config) {
		c.CheckAfter, c.HeartbeatEvery = 10*time.Second, time.Minute
		c.Heartbeat = func(context.Context, *thing) error { return nil }
		c.Check = func(_ context.Context, o *thing) error {
			if o.number != 2 {
				t.Errorf("object %d was checked", o.number)
			}
			return <-checks
		}
	})
	first, second := got(t, k), got(t, k)
	first.Put()
	time.Sleep(30 * time.Second)
	second.Put()
	time.Sleep(31 * time.Second)
	synctest.Wait()
	return k, f, checks
}

func TestAnObjectIsNotCheckedLessThanCheckAfterFromItsHeartbeat(t *testing.T) {
	check.Bubble(t, "the first waiting user gets it, and the next one what is checked for the first", func(t *testing.T) {
		k, f, checks := beatenAndStale(t)
		a := asks(t, k)
		a.waits(t) // for the one that was used last
		b := asks(t, k)
		first := a.served(t)
		check.Equal(t, "object", first.Value().number, 1)
		b.waits(t)
		check.Equal(t, "checking", k.Stats().Checking, 1)
		checks <- nil
		second := b.served(t)
		check.Equal(t, "object", second.Value().number, 2)
		first.Put()
		second.Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "and if that fails the next gets a new one", func(t *testing.T) {
		k, f, checks := beatenAndStale(t)
		a, b := asks(t, k), asks(t, k)
		checks <- errKept
		check.Equal(t, "object", a.served(t).Value().number, 1)
		check.Equal(t, "object", b.served(t).Value().number, 3)
		a.lease.Put()
		b.lease.Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "nor for TryGet", func(t *testing.T) {
		k, f, checks := beatenAndStale(t)
		a := asks(t, k)
		a.waits(t)
		_, err := k.TryGet()
		check.Error(t, err, reuse.ErrNoneIdle)
		first := a.served(t)
		check.Equal(t, "object", first.Value().number, 1)
		checks <- nil
		synctest.Wait()
		second, err := k.TryGet()
		check.OK(t, err)
		check.Equal(t, "object", second.Value().number, 2)
		first.Put()
		second.Put()
		k.Close()
		f.settled(2)
	})
}

func TestHeartbeatsDoNotChangeWhichObjectIsLeasedFirst(t *testing.T) {
	beating := func(c *config) {
		c.HeartbeatEvery = 30 * time.Second
		c.Heartbeat = func(context.Context, *thing) error { return nil }
	}
	check.Bubble(t, "that which was used last", func(t *testing.T) {
		k, f := keeping(t, 5, beating)
		leases := []lease{got(t, k), got(t, k), got(t, k), got(t, k), got(t, k)}
		for _, l := range leases {
			l.Put()
			time.Sleep(time.Second)
		}
		time.Sleep(5*time.Minute + 500*time.Millisecond)
		for i := range leases {
			leases[i] = got(t, k)
			check.Equal(t, "object", leases[i].Value().number, 5-i)
		}
		for _, l := range leases {
			l.Put()
		}
		k.Close()
		f.settled(5)
	})
	check.Bubble(t, "so that others expire", func(t *testing.T) {
		k, f := keeping(t, 5, beating, func(c *config) { c.IdleTimeout = 5 * time.Minute })
		warm(t, k, 5)
		for range 8 {
			time.Sleep(45 * time.Second)
			got(t, k).Put()
		}
		f.idle(k, 1)
		k.Close()
		f.settled(5)
	})
	check.Bubble(t, "nor does a check for no user", func(t *testing.T) {
		gate := make(chan struct{})
		k, f := keeping(t, 2, func(c *config) {
			c.CheckAfter = time.Minute
			c.Check = func(context.Context, *thing) error { <-gate; return nil }
		})
		a, b := got(t, k), got(t, k)
		a.Put()
		time.Sleep(time.Minute)
		_, err := k.TryGet()
		check.Error(t, err, reuse.ErrNoneIdle) // and has the first checked
		b.Put()
		close(gate)
		synctest.Wait()
		a, b = got(t, k), got(t, k)
		check.Equal(t, "object", a.Value().number, 2)
		check.Equal(t, "object", b.Value().number, 1)
		a.Put()
		b.Put()
		k.Close()
		f.settled(2)
	})
}
