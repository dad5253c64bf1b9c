package reuse_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// Such as a keeper in a package variable that several tests use.
func TestAKeeperWithoutObjectsIsTiedToNoBubble(t *testing.T) {
	k, f := keeping(t, 2, func(c *config) {
		c.IdleTimeout, c.HeartbeatEvery = time.Minute, 10*time.Second
		c.Heartbeat = func(context.Context, *thing) error { return nil }
	})
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			f.t = t
			a, b := got(t, k), got(t, k)
			waits := []*asker{asks(t, k), asks(t, k)}
			a.Discard()
			c := waits[0].served(t)
			b.Put()
			waits[1].served(t).Put()
			k.Reset()
			got(t, k).Put()
			c.Put()
			time.Sleep(time.Minute)
			f.idle(k, 0)
		})
	}
	k.Close()
	f.settled(2)
}

// Nor does a wait tie the keeper to a bubble, though a wait reuses waiters.
func TestAWaitInABubbleTiesNoKeeperToIt(t *testing.T) {
	plain := func() *reuse.Keeper[int] {
		return reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 1, Open: func(context.Context) (int, error) { return 1, nil }})
	}
	waits := func(t *testing.T, k *reuse.Keeper[int]) {
		l, err := k.Get(t.Context())
		check.OK(t, err)
		time.AfterFunc(time.Millisecond, l.Put)
		l, err = k.Get(t.Context())
		check.OK(t, err)
		l.Put()
	}
	for name, end := range map[string]func(reuse.Lease[int]){
		"Put":     reuse.Lease[int].Put,
		"Discard": reuse.Lease[int].Discard,
		"Detach":  func(l reuse.Lease[int]) { l.Detach() },
	} {
		t.Run("the last object in use ends by "+name, func(t *testing.T) {
			k := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 2, Open: func(context.Context) (int, error) { return 1, nil }})
			for range 3 {
				synctest.Test(t, func(t *testing.T) {
					a, err := k.Get(t.Context())
					check.OK(t, err)
					b, err := k.Get(t.Context())
					check.OK(t, err)
					time.AfterFunc(time.Millisecond, a.Put)
					c, err := k.Get(t.Context())
					check.OK(t, err)
					c.Put()
					end(b)
				})
			}
			k.Close()
		})
	}
	t.Run("inside, and then outside", func(t *testing.T) {
		k := plain()
		synctest.Test(t, func(t *testing.T) { waits(t, k) })
		waits(t, k)
		k.Close()
	})
	t.Run("outside, and then in two bubbles", func(t *testing.T) {
		k := plain()
		waits(t, k)
		for range 2 {
			synctest.Test(t, func(t *testing.T) { waits(t, k) })
		}
		k.Close()
	})
}

func TestAnIdleObjectWithoutChannelsIsTiedToNoBubble(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, k *reuse.Keeper[*thing]){
		"Close": func(*testing.T, *reuse.Keeper[*thing]) {},
		"Reset": func(_ *testing.T, k *reuse.Keeper[*thing]) { k.Reset() },
		"TryGet": func(t *testing.T, k *reuse.Keeper[*thing]) {
			l, err := k.TryGet()
			check.OK(t, err)
			_, err = k.TryGet() // opens another one
			check.Error(t, err, reuse.ErrNoneIdle)
			check.Until(t, "it is open", func() bool { return k.Stats().Opening == 0 })
			l.Put()
		},
	} {
		t.Run(name, func(t *testing.T) {
			k, f := keeping(t, 2)
			synctest.Test(t, func(t *testing.T) {
				f.t = t
				got(t, k).Put()
			})
			f.t = t
			use(t, k)
			k.Close()
			f.settled(2)
		})
	}
}

// In a bubble the clock goes back by years.
func TestAKeeperTakesNoTimeOfAnotherClockForOneOfTheFuture(t *testing.T) {
	t.Run("Check", func(t *testing.T) {
		checks := 0
		k, f := keeping(t, 1, func(c *config) {
			c.Check = func(context.Context, *thing) error { checks++; return nil }
			c.CheckAfter = time.Minute
		})
		got(t, k).Put()
		synctest.Test(t, func(t *testing.T) {
			f.t = t
			time.Sleep(time.Hour)
			got(t, k).Put()
			check.Equal(t, "checks of an object that was unused for an hour", checks, 1)
			got(t, k).Put()
			check.Equal(t, "checks of an object that was just used", checks, 1)
		})
		f.t = t
		k.Close()
		f.settled(1)
	})
	t.Run("TryGet", func(t *testing.T) {
		opens, fails := 0, true
		k := reuse.NewKeeper(reuse.KeeperConfig[int]{Capacity: 1, Open: func(context.Context) (int, error) {
			opens++
			if fails {
				return 0, errKept
			}
			return 1, nil
		}})
		try := func(t *testing.T, want error) {
			l, err := k.TryGet()
			if check.Error(t, err, want); err == nil {
				l.Put()
			}
		}
		try(t, reuse.ErrNoneIdle)
		check.Until(t, "Open has failed", func() bool { return k.Stats().Failed == 1 })
		synctest.Test(t, func(t *testing.T) {
			try(t, reuse.ErrNoneIdle)
			synctest.Wait()
			check.Equal(t, "opens", opens, 2)
			try(t, reuse.ErrNoneIdle)
			synctest.Wait()
			check.Equal(t, "opens within a tenth of a second", opens, 2)
			fails = false
			time.Sleep(time.Second)
			try(t, reuse.ErrNoneIdle)
			synctest.Wait()
			try(t, nil)
		})
		k.Close()
	})
}

func TestClosingAKeeperEndsTheTimerOfARetry(t *testing.T) {
	k := reuse.NewKeeper(config{
		Capacity: 1,
		MinIdle:  1,
		Open:     func(context.Context) (*thing, error) { return nil, errKept },
	})
	check.Tries(1<<20, func() bool { return k.Stats().Failed > 0 })
	k.Close()
	if !check.Tries(5, gone(k)) { // before it goes off by itself
		t.Error("the keeper is still there: a timer holds it")
	}
}

func TestTheContextOfAFunctionThatHasReturnedIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []context.Context
		notes := func(ctx context.Context, _ *thing) error {
			all = append(all, ctx)
			return nil
		}
		k, f := keeping(t, 1, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) { _ = notes(ctx, nil); return open(ctx) }
			c.Check, c.Heartbeat, c.HeartbeatEvery = notes, notes, time.Minute
		})
		got(t, k).Put()
		got(t, k).Put()
		time.Sleep(time.Minute)
		synctest.Wait()
		l := got(t, k)
		k.Reset()
		synctest.Wait()
		check.Equal(t, "contexts", len(all), 4)
		for _, ctx := range all {
			check.OK(t, ctx.Err()) // also while the object is leased
		}
		l.Put()
		k.Close()
		synctest.Wait()
		check.Equal(t, "calls", len(all), 4)
		for _, ctx := range all {
			check.OK(t, ctx.Err())
		}
		f.settled(1)
	})
}

func TestAPanicHandlerMayUseTheKeeperWhichWaitsForItInClose(t *testing.T) {
	for name, panics := range map[string]func(c *config, first func()){
		"Open": func(c *config, first func()) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) { first(); return open(ctx) }
		},
		"Check": func(c *config, first func()) {
			c.Check = func(context.Context, *thing) error { first(); return nil }
		},
		"Heartbeat": func(c *config, first func()) {
			c.HeartbeatEvery = time.Minute
			c.Heartbeat = func(context.Context, *thing) error { first(); return nil }
		},
		"Close": func(c *config, first func()) {
			end := c.Close
			c.Close = func(o *thing) { end(o); first() }
		},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			var once, over atomic.Bool
			var k *reuse.Keeper[*thing]
			k, f := keeping(t, 1, func(c *config) {
				panics(c, func() {
					if once.CompareAndSwap(false, true) {
						_ = panicKept()
					}
				})
				c.OnPanic = func(*weir.Panic) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					k.Stats()
					check.OK(t, k.Use(ctx, func(*thing) error { return nil }))
					time.Sleep(time.Hour)
					over.Store(true)
				}
			})
			for range 2 { // to open one, and to check it
				if l, err := k.TryGet(); err == nil {
					l.Put()
				}
				synctest.Wait()
			}
			time.Sleep(time.Minute + 1)
			k.Reset()
			synctest.Wait()
			check.Equal(t, "panicked", once.Load(), true)
			k.Close()
			check.Equal(t, "the handler has returned", over.Load(), true)
			f.settled(1)
		})
	}
}

// What the calls of Close wait at belongs to the bubble in which the keeper is closed.
func TestAKeeperMayBeClosedInABubbleThatItWasNotMadeIn(t *testing.T) {
	k := reuse.NewKeeper(reuse.KeeperConfig[int]{
		Capacity: 1,
		Open:     func(context.Context) (int, error) { return 1, nil },
		Close:    func(int) { time.Sleep(time.Second) },
	})
	synctest.Test(t, func(t *testing.T) {
		l, err := k.Get(t.Context())
		check.OK(t, err)
		l.Put()
		begin := time.Now()
		k.Close()
		check.Equal(t, "Close took", time.Since(begin), time.Second)
	})
}
