package reuse_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func TestTheIdleObjectUsedLastIsLeasedFirst(t *testing.T) {
	k, f := keeping(t, 3)
	check.Equal(t, "objects opened by NewKeeper", f.opened.Load(), 0)
	warm(t, k, 3)
	a, b := got(t, k), got(t, k)
	check.Equal(t, "object", a.Value().number, 1)
	check.Equal(t, "object", b.Value().number, 2)
	a.Put()
	b.Put()
	c := got(t, k)
	check.Equal(t, "object", c.Value().number, 2)
	c.Put()
	check.Equal(t, "opened", f.opened.Load(), 3)
	k.Close()
	f.settled(3)
}

func TestUsersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 1)
		l := got(t, k)
		var line []*asker
		for range 5 {
			line = append(line, asks(t, k))
		}
		line[2].cancel(errKept)
		line[2].failed(t, errKept)
		check.Equal(t, "waiting", k.Stats().Waiting, 4)
		for _, i := range []int{0, 1, 3, 4} {
			l.Put()
			// A newcomer is behind the waiters, though it comes while the next has not run yet.
			_, err := k.TryGet()
			check.Error(t, err, reuse.ErrNoneIdle)
			line = append(line, asks(t, k))
			for j, a := range line {
				check.Equal(t, "answered", a.answered(), j <= i || j == 2)
			}
			l = line[i].served(t)
		}
		for _, a := range line[5:] {
			l.Put()
			l = a.served(t)
		}
		l.Put()
		check.Equal(t, "opened", f.opened.Load(), 1)
		k.Close()
		f.settled(1)
	})
}

func TestAContextThatIsDoneGetsNothing(t *testing.T) {
	k, f := keeping(t, 1)
	warm(t, k, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errKept)
	_, err := k.Get(ctx)
	check.Error(t, err, errKept)
	check.Error(t, k.Use(ctx, func(*thing) error { t.Error("called"); return nil }), errKept)
	check.Equal(t, "idle", k.Stats().Idle, 1)
	check.Equal(t, "cancelled", k.Stats().Cancelled, 2)
	k.Close()
	f.settled(1)
}

func TestAUserServedWhileItsContextEndsLosesNothing(t *testing.T) {
	for range check.Scale(2000, 300) {
		k, f := keeping(t, 1)
		l := got(t, k)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			mine, err := k.Get(ctx)
			if err == nil {
				mine.Put()
			} else {
				check.Error(t, err, context.Canceled)
			}
		}()
		check.Tries(1<<10, func() bool { return k.Stats().Waiting == 1 })
		go cancel()
		l.Put()
		<-over
		check.Equal(t, "idle", k.Stats().Idle, 1)
		k.Close()
		f.settled(1)
	}
}

func TestTryGetNeverWaits(t *testing.T) {
	check.Bubble(t, "it has one object opened in the background", func(t *testing.T) {
		k, f := keeping(t, 3, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) {
				time.Sleep(time.Second)
				return open(ctx)
			}
		})
		for range 5 {
			_, err := k.TryGet()
			check.Error(t, err, reuse.ErrNoneIdle)
		}
		check.Equal(t, "opening", k.Stats().Opening, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		l, err := k.TryGet()
		check.OK(t, err)
		check.Equal(t, "object", l.Value().number, 1)
		l.Put()
		k.Close()
		_, err = k.TryGet()
		check.Error(t, err, reuse.ErrClosed)
		f.settled(3)
	})
	check.Bubble(t, "one object that needs a check is checked in the background", func(t *testing.T) {
		k, f := keeping(t, 2, func(c *config) {
			c.CheckAfter = time.Minute
			c.Check = func(context.Context, *thing) error { time.Sleep(time.Second); return nil }
		})
		warm(t, k, 2)
		time.Sleep(time.Minute)
		for range 3 {
			_, err := k.TryGet()
			check.Error(t, err, reuse.ErrNoneIdle)
		}
		check.Equal(t, "checking", k.Stats().Checking, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		l, err := k.TryGet()
		check.OK(t, err)
		l.Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "no user learns of a failure", func(t *testing.T) {
		fails := true
		k, f := keeping(t, 1, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) {
				if fails {
					return nil, errKept
				}
				return open(ctx)
			}
		})
		for i := range 3 {
			for range 10 { // only the first of them opens an object
				_, err := k.TryGet()
				check.Error(t, err, reuse.ErrNoneIdle)
				synctest.Wait()
			}
			check.Equal(t, "failed", k.Stats().Failed, int64(i+1))
			time.Sleep(time.Second)
		}
		fails = false
		got(t, k).Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "nothing is opened beyond the capacity", func(t *testing.T) {
		k, f := keeping(t, 1)
		l := got(t, k)
		_, err := k.TryGet()
		check.Error(t, err, reuse.ErrNoneIdle)
		l.Put()
		k.Close()
		f.settled(1)
	})
}

func TestUsePutsBackWhatIsSound(t *testing.T) {
	k, f := keeping(t, 1)
	use := func(f func(*thing) error) error { return k.Use(t.Context(), f) }
	first := func(o *thing) error { check.Equal(t, "object", o.number, 1); return nil }
	check.OK(t, use(first))
	check.Error(t, use(func(*thing) error { return errKept }), errKept)
	check.OK(t, use(first)) // an error alone says nothing
	check.OK(t, use(func(*thing) error { return reuse.Broken(nil) }))
	check.OK(t, use(first))

	err := use(func(*thing) error { return errors.Join(errors.New("more"), reuse.Broken(errKept)) })
	check.Error(t, err, errKept)
	check.Equal(t, "text", reuse.Broken(errKept).Error(), errKept.Error())
	check.OK(t, use(func(o *thing) error { check.Equal(t, "object", o.number, 2); return nil }))

	if value := check.Caught(func() { _ = use(func(*thing) error { return panicKept() }) }); value != errKept { //nolint:errorlint // the very value
		t.Errorf("panicked with %v", value)
	}
	check.OK(t, use(func(o *thing) error { check.Equal(t, "object", o.number, 3); return nil }))

	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = use(func(*thing) error { return exitKept() })
		t.Error("the goroutine has not ended")
	}()
	<-over
	check.OK(t, use(func(o *thing) error { check.Equal(t, "object", o.number, 4); return nil }))
	check.Equal(t, "discarded", k.Stats().Discarded, 3)
	k.Close()
	check.Error(t, use(first), reuse.ErrClosed)
	f.settled(1)
}

func TestMisuseOfAKeeperPanics(t *testing.T) {
	for want, change := range map[string]func(*config){
		"reuse: capacity must be at least 1, got 0":                          func(c *config) { c.Capacity = 0 },
		"reuse: Open must not be nil, got nil":                               func(c *config) { c.Open = nil },
		"reuse: idle timeout must be at least 0, got -1s":                    func(c *config) { c.IdleTimeout = -time.Second },
		"reuse: lifetime must be at least 0, got -1s":                        func(c *config) { c.Lifetime = -time.Second },
		"reuse: check after must be at least 0, got -1s":                     func(c *config) { c.CheckAfter = -time.Second },
		"reuse: check after must be 0 without Check, got 1s":                 func(c *config) { c.CheckAfter = time.Second },
		"reuse: heartbeat every must be above 0 with Heartbeat, got 0s":      func(c *config) { c.Heartbeat = func(context.Context, *thing) error { return nil } },
		"reuse: heartbeat every must be 0 without Heartbeat, got 1s":         func(c *config) { c.HeartbeatEvery = time.Second },
		"reuse: minimum of idle objects must be at least 0, got -1":          func(c *config) { c.MinIdle = -1 },
		"reuse: minimum of idle objects must be at most the capacity, got 2": func(c *config) { c.MinIdle = 2 },
	} {
		check.Panics(t, want, func() { keeping(t, 1, change) })
	}
	k, _ := keeping(t, 1)
	check.Panics(t, "reuse: context must not be nil, got nil", func() { _, _ = k.Get(nil) })   //nolint:staticcheck // the mistake under test
	check.Panics(t, "reuse: context must not be nil, got nil", func() { _ = k.Shutdown(nil) }) //nolint:staticcheck // the mistake under test
	check.Panics(t, "reuse: function must not be nil, got nil", func() { _ = k.Use(t.Context(), nil) })
	got(t, k).Put() // it is still open
	k.Close()

	const zero = "reuse: keeper must be made by NewKeeper, got the zero value"
	var none reuse.Keeper[int]
	for _, f := range []func(){
		func() { _, _ = none.Get(t.Context()) },
		func() { _, _ = none.TryGet() },
		func() { _ = none.Use(t.Context(), func(int) error { return nil }) },
		func() { _ = none.Shutdown(t.Context()) },
		func() { none.Stats() },
		none.Close,
		none.Reset,
	} {
		check.Panics(t, zero, f)
	}
}

func TestStatsCountWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, _ := keeping(t, 4, func(c *config) {
			c.Close = func(*thing) { time.Sleep(time.Hour) }
			c.Check = func(context.Context, *thing) error { time.Sleep(time.Second); return nil }
			c.CheckAfter = time.Minute
		})
		check.Equal(t, "unused", k.Stats(), reuse.KeeperStats{Capacity: 4})
		warm(t, k, 4)
		got(t, k).Discard()
		taken := got(t, k)
		taken.Detach()
		time.Sleep(time.Minute)
		kept, checked := got(t, k), asks(t, k)
		want := reuse.KeeperStats{
			Capacity: 4, Checking: 1, Leased: 1, Closing: 1, Waiting: 1, Opened: 4, Discarded: 1, Detached: 1,
			Gets: 4 + 2 + 1, Waits: 4 + 2, WaitTime: time.Second,
		}
		check.Equal(t, "in use", k.Stats(), want)
		checked.cancel(errKept)
		checked.failed(t, errKept)
		want.Waiting, want.Cancelled = 0, 1
		check.Equal(t, "after one has left", k.Stats(), want)
		time.Sleep(time.Second)
		synctest.Wait()
		want.Checking, want.Idle = 0, 1
		check.Equal(t, "after the check", k.Stats(), want)
		kept.Put()
		k.Close()
		want.Idle, want.Leased, want.Closing, want.Closed = 0, 0, 0, 3
		check.Equal(t, "closed", k.Stats(), want)
	})
}

func TestAKeeperWithoutObjectsHasNoTimer(t *testing.T) {
	for name, empty := range map[string]func(*reuse.Keeper[*thing]){
		"after Discard": func(k *reuse.Keeper[*thing]) { got(t, k).Discard() },
		"after Close":   func(k *reuse.Keeper[*thing]) { k.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			k, f := keeping(t, 1, func(c *config) { c.IdleTimeout = time.Hour })
			warm(t, k, 1)
			empty(k)
			check.Tries(1<<20, func() bool { return k.Stats().Closed == 1 })
			f.settled(1)
			if !check.Tries(100, gone(k)) {
				t.Error("the keeper is still there: a timer holds it")
			}
		})
	}
}

func TestADroppedKeeperWhoseObjectsHaveExpiredIsCollected(t *testing.T) {
	dropped := make(chan func() bool, 1)
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 4, func(c *config) { c.IdleTimeout = time.Minute; c.Lifetime = time.Hour })
		warm(t, k, 4)
		time.Sleep(time.Minute)
		synctest.Wait()
		f.settled(4)
		dropped <- gone(k)
	})
	isGone := <-dropped
	if !check.Tries(100, isGone) {
		t.Error("the keeper is still there: a timer or a goroutine holds it")
	}
}
