package reuse_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// TestAKeeperUnderStressLosesNoObject lets many users use, lose and close objects at once, with times
// so short that everything expires all the time.
func TestAKeeperUnderStressLosesNoObject(t *testing.T) {
	const capacity, users = 4, 16
	for round := range 8 {
		fails := func() bool { return rand.N(20) == 0 }
		k, f := keeping(t, capacity, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) {
				if fails() {
					return nil, errKept
				}
				return open(ctx)
			}
			proves := func(context.Context, *thing) error {
				if fails() {
					return errKept
				}
				return nil
			}
			if round&1 != 0 {
				c.IdleTimeout, c.Lifetime = 20*time.Microsecond, 500*time.Microsecond
			}
			if round&2 != 0 {
				c.Check, c.CheckAfter = proves, 5*time.Microsecond
			}
			if round&4 != 0 {
				c.Heartbeat, c.HeartbeatEvery, c.MinIdle = proves, 10*time.Microsecond, 2
			}
		})
		user := func() {
			for i := range check.Scale(2000, 300) {
				ctx, cancel := context.WithCancel(t.Context())
				if fails() {
					go cancel()
				}
				l, err := k.Get(ctx)
				cancel()
				if err != nil {
					continue
				}
				o := l.Value()
				f.use(o, 1)
				if i%7 == 0 {
					runtime.Gosched()
				}
				f.use(o, -1)
				switch rand.N(20) {
				case 0:
					l.Discard()
				case 1:
					f.taken.Add(1)
					f.exist.Leave()
					l.Detach()
				default:
					l.Put()
				}
				if rand.N(500) == 0 {
					k.Reset()
				}
			}
		}
		check.Within(time.Minute, func() {
			var all sync.WaitGroup
			for range users {
				all.Go(user)
			}
			if round >= 6 {
				all.Go(k.Close) // at any moment
			}
			all.Wait()
			k.Close()
		})
		s := k.Stats()
		check.Equal(t, "left", s.Opening+s.Checking+s.Idle+s.Leased+s.Closing+s.Waiting, 0)
		f.settled(capacity)
		_, err := k.TryGet()
		check.Error(t, err, reuse.ErrClosed)
	}
}
