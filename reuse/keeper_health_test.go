package reuse_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func TestAnObjectThatWasIdleForLongIsCheckedBeforeItIsLeased(t *testing.T) {
	var checks int
	var verdict func() error
	checked := func(c *config) {
		checks, verdict = 0, func() error { return nil }
		c.CheckAfter = time.Minute
		c.Check = func(ctx context.Context, o *thing) error {
			checks++
			check.OK(t, ctx.Err())
			return verdict()
		}
	}
	check.Bubble(t, "not before that", func(t *testing.T) {
		k, f := keeping(t, 1, checked)
		for range 3 {
			warm(t, k, 1)
			time.Sleep(time.Minute - 1)
		}
		got(t, k).Put()
		check.Equal(t, "checks", checks, 0)
		time.Sleep(time.Minute)
		got(t, k).Put()
		check.Equal(t, "checks", checks, 1)
		got(t, k).Put()
		check.Equal(t, "checks", checks, 1)
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "always", func(t *testing.T) {
		k, f := keeping(t, 1, checked, func(c *config) { c.CheckAfter = 0 })
		for i := range 3 {
			got(t, k).Put()
			check.Equal(t, "checks", checks, i)
		}
		k.Close()
		f.settled(1)
	})
	for name, how := range map[string]func() error{"error": errorKept, "Goexit": exitKept} {
		check.Bubble(t, "one that fails is replaced: "+name, func(t *testing.T) {
			k, f := keeping(t, 3, checked)
			warm(t, k, 3)
			time.Sleep(time.Minute)
			verdict = how
			l := got(t, k)
			check.Equal(t, "checks", checks, 3)
			check.Equal(t, "object", l.Value().number, 4)
			check.Equal(t, "unhealthy", k.Stats().Unhealthy, 3)
			l.Put()
			k.Close()
			f.settled(3)
		})
	}
	check.Bubble(t, "a panic comes out of Get", func(t *testing.T) {
		k, f := keeping(t, 1, checked)
		warm(t, k, 1)
		time.Sleep(time.Minute)
		verdict = panicKept
		a := asks(t, k)
		synctest.Wait()
		wantKeptPanic(t, a.panicked)
		got(t, k).Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "the one it is for leaves, and the next gets it", func(t *testing.T) {
		gate := make(chan struct{})
		var told panics
		k, f := keeping(t, 1, checked, func(c *config) { c.Name, c.OnPanic = "kept", told.report })
		warm(t, k, 1)
		for _, result := range []func() error{func() error { return nil }, errorKept, panicKept} {
			time.Sleep(time.Minute)
			verdict = func() error { <-gate; return result() }
			a, b := asks(t, k), asks(t, k)
			a.cancel(errKept)
			a.failed(t, errKept)
			b.waits(t)
			gate <- struct{}{}
			b.served(t).Put()
		}
		told.want(t, 1)
		check.Equal(t, "opened", f.opened.Load(), 3)
		k.Close()
		f.settled(1)
	})
}

func TestAnObjectIsCheckedAlsoIfAUserWaitsForIt(t *testing.T) {
	var checks, gate chan struct{} // each check sends to one, and then waits for the other
	var verdict func() error
	always := func(c *config) {
		checks, gate = make(chan struct{}, 10), make(chan struct{})
		verdict = func() error { return nil }
		c.Check = func(ctx context.Context, _ *thing) error {
			checks <- struct{}{}
			<-gate
			check.OK(t, ctx.Err())
			return verdict()
		}
	}
	check.Bubble(t, "when it is put back", func(t *testing.T) {
		k, f := keeping(t, 1, always)
		l := got(t, k)
		a, b := asks(t, k), asks(t, k)
		for _, user := range []*asker{a, b} { // in their order
			l.Put()
			user.waits(t)
			check.Equal(t, "checks under way", k.Stats().Checking, 1)
			gate <- struct{}{}
			l = user.served(t)
		}
		close(gate)
		l.Put()
		check.Equal(t, "checks", len(checks), 2)
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "after a heartbeat", func(t *testing.T) {
		k, f := keeping(t, 1, always, func(c *config) {
			c.HeartbeatEvery = time.Minute
			c.Heartbeat = func(context.Context, *thing) error { <-gate; return nil }
		})
		warm(t, k, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		a := asks(t, k)
		gate <- struct{}{} // to the heartbeat
		a.waits(t)
		check.Equal(t, "checks", len(checks), 1)
		close(gate)
		a.served(t).Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "one that fails is replaced", func(t *testing.T) {
		k, f := keeping(t, 1, always)
		verdict = errorKept
		close(gate)
		l := got(t, k)
		a := asks(t, k)
		l.Put()
		l = a.served(t)
		check.Equal(t, "object", l.Value().number, 2)
		check.Equal(t, "unhealthy", k.Stats().Unhealthy, 1)
		l.Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "a panic comes out of Get", func(t *testing.T) {
		k, f := keeping(t, 1, always)
		verdict = panicKept
		close(gate)
		l := got(t, k)
		a, b := asks(t, k), asks(t, k)
		l.Put()
		b.served(t).Put()
		wantKeptPanic(t, a.panicked)
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "the user gets it before another that is being opened", func(t *testing.T) {
		open := make(chan struct{}, 1)
		open <- struct{}{}
		k, f := keeping(t, 2, always, func(c *config) {
			made := c.Open
			c.Open = func(ctx context.Context) (*thing, error) { <-open; return made(ctx) }
		})
		l := got(t, k)
		a := asks(t, k)
		l.Put()
		a.waits(t)
		gate <- struct{}{}
		l = a.served(t)
		check.Equal(t, "object", l.Value().number, 1)
		close(open)
		synctest.Wait()
		check.Equal(t, "idle", k.Stats().Idle, 1)
		close(gate)
		l.Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "the users have left: it was put back last", func(t *testing.T) {
		k, f := keeping(t, 2, always)
		first, second := got(t, k), got(t, k)
		second.Put()
		a := asks(t, k) // the second is checked for it
		first.Put()
		a.cancel(errKept)
		a.failed(t, errKept)
		check.Equal(t, "checks under way", k.Stats().Checking, 2)
		close(gate)
		f.idle(k, 2)
		l := got(t, k)
		check.Equal(t, "object", l.Value().number, 1)
		l.Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "until Close", func(t *testing.T) {
		k, f := keeping(t, 1, func(c *config) {
			c.Check = func(ctx context.Context, _ *thing) error { <-ctx.Done(); return ctx.Err() }
		})
		l := got(t, k)
		a := asks(t, k)
		l.Put()
		a.waits(t)
		k.Close()
		a.failed(t, reuse.ErrClosed)
		f.settled(1)
	})
}

func TestHeartbeatsKeepIdleObjectsAlive(t *testing.T) {
	var beats atomic.Int32
	var verdict func() error
	beating := func(c *config) {
		beats.Store(0)
		verdict = func() error { return nil }
		c.HeartbeatEvery = time.Minute
		c.Heartbeat = func(ctx context.Context, o *thing) error {
			beats.Add(1)
			check.OK(t, ctx.Err())
			return verdict()
		}
	}
	check.Bubble(t, "on their schedule", func(t *testing.T) {
		k, f := keeping(t, 3, beating)
		warm(t, k, 2)
		for i := range 10 {
			time.Sleep(time.Minute - 1)
			synctest.Wait()
			check.Equal(t, "beats", beats.Load(), int32(2*i))
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			check.Equal(t, "beats", beats.Load(), int32(2*i+2))
		}
		// One that is used has no need of it.
		l := got(t, k)
		time.Sleep(time.Hour)
		synctest.Wait()
		check.Equal(t, "beats", beats.Load(), 20+60)
		l.Put()
		f.idle(k, 2)
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "but not for IdleTimeout", func(t *testing.T) {
		k, f := keeping(t, 3, beating, func(c *config) { c.IdleTimeout = 5*time.Minute + 1 })
		warm(t, k, 2)
		time.Sleep(5 * time.Minute)
		f.idle(k, 2)
		check.Equal(t, "beats", beats.Load(), 10)
		time.Sleep(time.Nanosecond)
		f.idle(k, 0)
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "and count as a check", func(t *testing.T) {
		k, f := keeping(t, 1, beating, func(c *config) {
			c.CheckAfter = time.Minute + 1
			c.Check = func(context.Context, *thing) error { t.Error("checked"); return nil }
		})
		warm(t, k, 1)
		time.Sleep(time.Hour)
		got(t, k).Put()
		k.Close()
		f.settled(1)
	})
	for name, how := range map[string]func() error{"error": errorKept, "Goexit": exitKept, "panic": panicKept} {
		check.Bubble(t, "one that fails is closed: "+name, func(t *testing.T) {
			var told panics
			gate := make(chan struct{})
			k, f := keeping(t, 2, beating, func(c *config) { c.Name, c.OnPanic = "kept", told.report })
			verdict = func() error { <-gate; return how() }
			warm(t, k, 2)
			time.Sleep(time.Minute)
			synctest.Wait()
			a := asks(t, k)
			a.waits(t) // both are in use by their heartbeats
			close(gate)
			l := a.served(t)
			check.Equal(t, "object", l.Value().number, 3)
			check.Equal(t, "unhealthy", k.Stats().Unhealthy, 2)
			if name == "panic" {
				told.want(t, 2)
			}
			verdict = func() error { return nil }
			l.Put()
			f.idle(k, 1) // replaced for the waiting user only
			k.Close()
			f.settled(2)
		})
	}
	check.Bubble(t, "a waiting user gets the object after it", func(t *testing.T) {
		gate := make(chan struct{})
		k, f := keeping(t, 1, beating)
		verdict = func() error { <-gate; return nil }
		warm(t, k, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		a := asks(t, k)
		a.waits(t)
		close(gate)
		a.served(t).Put()
		check.Equal(t, "opened", f.opened.Load(), 1)
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "until Close, which cancels those that run", func(t *testing.T) {
		k, f := keeping(t, 1, func(c *config) {
			c.HeartbeatEvery = time.Minute
			c.Heartbeat = func(ctx context.Context, _ *thing) error { <-ctx.Done(); return ctx.Err() }
		})
		warm(t, k, 1)
		time.Sleep(time.Hour)
		k.Close()
		f.settled(1)
	})
}
