package reuse_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// idle fails the test unless so many objects are idle, and no others exist.
func (f *factory) idle(k *reuse.Keeper[*thing], want int) {
	f.t.Helper()
	synctest.Wait()
	check.Equal(f.t, "idle", k.Stats().Idle, want)
	check.Equal(f.t, "existing", f.exist.Now.Load(), int64(want))
}

func TestIdleObjectsExpire(t *testing.T) {
	timeout := func(c *config) { c.IdleTimeout = time.Minute }
	check.Bubble(t, "to the nanosecond, those used last later", func(t *testing.T) {
		k, f := keeping(t, 3, timeout)
		for range 3 {
			leases := []lease{got(t, k), got(t, k), got(t, k)}
			for _, l := range leases {
				l.Put()
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute - 3*time.Second - 1)
			for left := 2; left >= 0; left-- {
				f.idle(k, left+1)
				time.Sleep(time.Nanosecond)
				f.idle(k, left)
				time.Sleep(time.Second - 1)
			}
		}
		check.Equal(t, "expired", k.Stats().Expired, 9)
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "not while others use them", func(t *testing.T) {
		k, f := keeping(t, 3, timeout)
		warm(t, k, 3)
		for range 100 {
			got(t, k).Put()
			time.Sleep(time.Second)
		}
		f.idle(k, 1)
		l := got(t, k)
		time.Sleep(time.Hour)
		check.Equal(t, "object", l.Value().number, 1)
		l.Put()
		time.Sleep(time.Minute)
		f.idle(k, 0)
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "never without a timeout", func(t *testing.T) {
		k, f := keeping(t, 3)
		warm(t, k, 3)
		time.Sleep(10000 * time.Hour)
		f.idle(k, 3)
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "never with the longest timeouts", func(t *testing.T) {
		k, f := keeping(t, 3, func(c *config) { c.IdleTimeout, c.Lifetime = 1<<63-1, 1<<63-1 })
		time.Sleep(time.Hour)
		warm(t, k, 3)
		time.Sleep(10000 * time.Hour)
		f.idle(k, 3)
		k.Close()
		f.settled(3)
	})
}

func TestObjectsAreClosedAtTheEndOfTheirLifetime(t *testing.T) {
	const lifetime = 1000 * time.Second
	check.Bubble(t, "idle ones, not all at once", func(t *testing.T) {
		k, f := keeping(t, 50, func(c *config) { c.Lifetime = lifetime })
		warm(t, k, 50)
		time.Sleep(lifetime - lifetime/10 - 1)
		f.idle(k, 50)
		steps, left := 0, 50
		for range 100 {
			time.Sleep(lifetime / 1000)
			synctest.Wait()
			if now := k.Stats().Idle; now != left {
				steps, left = steps+1, now
			}
		}
		time.Sleep(time.Nanosecond)
		f.idle(k, 0)
		if steps < 10 {
			t.Errorf("50 objects were closed at %d times", steps)
		}
		check.Equal(t, "expired", k.Stats().Expired, 50)
		k.Close()
		f.settled(50)
	})
	check.Bubble(t, "leased ones when they are put back", func(t *testing.T) {
		k, f := keeping(t, 1, func(c *config) { c.Lifetime = lifetime })
		l := got(t, k)
		time.Sleep(lifetime)
		check.Equal(t, "closed", l.Value().closed.Load(), 0)
		a := asks(t, k)
		l.Put()
		l = a.served(t)
		check.Equal(t, "object", l.Value().number, 2)
		l.Put()
		k.Close()
		f.settled(1)
	})
}

func TestObjectsAboveMinIdleExpireOnTimeWhenAnotherIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 3, func(c *config) { c.MinIdle, c.IdleTimeout = 1, 10*time.Second })
		synctest.Wait()
		a := got(t, k)
		synctest.Wait()
		b := got(t, k)
		time.Sleep(5 * time.Second)
		a.Put() // one more than MinIdle: the other has been idle for five seconds
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		check.Equal(t, "idle", k.Stats().Idle, 2)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		check.Equal(t, "idle", k.Stats().Idle, 1)
		check.Equal(t, "expired", k.Stats().Expired, 1)
		b.Put()
		k.Close()
		f.settled(3)
	})
}

// The timer may come late, as when all processors compute.
func TestNoObjectIsLeasedAfterItsLifetime(t *testing.T) {
	const lifetime = 9 // so short that no random part is taken off
	for range check.Scale(200, 20) {
		synctest.Test(t, func(t *testing.T) {
			k := reuse.NewKeeper(reuse.KeeperConfig[time.Time]{
				Capacity: 2, Lifetime: lifetime, Open: func(context.Context) (time.Time, error) { return time.Now(), nil },
			})
			defer k.Close()
			l, err := k.Get(t.Context())
			check.OK(t, err)
			l.Put()
			time.Sleep(lifetime)
			if l, err := k.TryGet(); err == nil {
				t.Errorf("leased by TryGet at the age of %v", time.Since(l.Value()))
				l.Put()
			}
			l, err = k.Get(t.Context())
			check.OK(t, err)
			if age := time.Since(l.Value()); age >= lifetime {
				t.Errorf("leased at the age of %v", age)
			}
			l.Put()
		})
	}
}
