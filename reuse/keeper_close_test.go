package reuse_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

func TestCloseWaitsForAllObjects(t *testing.T) {
	check.Bubble(t, "of an unused keeper", func(t *testing.T) {
		k, f := keeping(t, 1)
		k.Close()
		k.Close()
		_, err := k.Get(t.Context())
		check.Error(t, err, reuse.ErrClosed)
		k.Reset() // does nothing
		f.settled(1)
	})
	check.Bubble(t, "idle, leased and those being closed", func(t *testing.T) {
		k, f := keeping(t, 3, func(c *config) {
			end := c.Close
			c.Close = func(o *thing) { time.Sleep(time.Minute); end(o) }
		})
		warm(t, k, 3)
		a, b := got(t, k), got(t, k)
		got(t, k).Put()
		var closers sync.WaitGroup
		start := time.Now()
		for range 3 {
			closers.Go(func() {
				k.Close()
				check.Equal(t, "time", time.Since(start), 3*time.Minute)
				f.settled(3)
			})
		}
		synctest.Wait()
		_, err := k.Get(t.Context())
		check.Error(t, err, reuse.ErrClosed)
		check.Equal(t, "closing", k.Stats().Closing, 1)
		time.Sleep(time.Minute)
		a.Put()
		time.Sleep(time.Minute)
		b.Discard()
		closers.Wait()
		k.Close()
	})
	check.Bubble(t, "also without a Close function", func(t *testing.T) {
		k, _ := keeping(t, 3, func(c *config) { c.Close = nil })
		warm(t, k, 3)
		l := got(t, k)
		go func() { time.Sleep(time.Minute); l.Put() }()
		start := time.Now()
		k.Close()
		check.Equal(t, "time", time.Since(start), time.Minute)
		check.Equal(t, "closed", k.Stats().Closed, 3)
	})
	check.Bubble(t, "also what is being opened or checked", func(t *testing.T) {
		k, f := keeping(t, 3, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) { time.Sleep(time.Minute); return open(ctx) }
			c.Check = func(context.Context, *thing) error { time.Sleep(time.Minute); return nil }
		})
		got(t, k).Put()
		checks, opens := asks(t, k), asks(t, k)
		start := time.Now()
		k.Close()
		check.Equal(t, "time", time.Since(start), time.Minute)
		checks.failed(t, reuse.ErrClosed)
		opens.failed(t, reuse.ErrClosed)
		f.settled(3)
	})
}

func TestWithoutACloseFunctionPlacesAreFreeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 1, func(c *config) {
			c.Close, c.MinIdle, c.Lifetime = nil, 1, time.Minute
		})
		replaced := int64(1)
		isReplaced := func() {
			t.Helper()
			synctest.Wait()
			replaced++
			check.Equal(t, "opened", f.opened.Load(), replaced)
			check.Equal(t, "idle", k.Stats().Idle, 1)
		}
		got(t, k).Discard()
		isReplaced()
		k.Reset()
		isReplaced()
		l := got(t, k)
		time.Sleep(time.Minute)
		l.Put()
		isReplaced()
		l = got(t, k)
		a := asks(t, k)
		l.Discard()
		a.served(t).Put()
		replaced++
		time.Sleep(time.Minute)
		isReplaced()
		k.Close()
		check.Equal(t, "closed", k.Stats().Closed, replaced)
	})
}

func TestCloseRefusesTheUsersThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 1)
		l := got(t, k)
		users := []*asker{asks(t, k), asks(t, k), asks(t, k)}
		go k.Close()
		for _, a := range users {
			a.failed(t, reuse.ErrClosed)
		}
		l.Put()
		k.Close()
		f.settled(1)
	})
}

func TestShutdownWaitsUntilItsContextIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, f := keeping(t, 2)
		warm(t, k, 2)
		l := got(t, k)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errKept)
		defer cancel()
		check.Error(t, k.Shutdown(ctx), errKept)
		check.Equal(t, "closed", f.closed.Load(), 1) // the idle one
		_, err := k.Get(t.Context())
		check.Error(t, err, reuse.ErrClosed)
		check.Error(t, k.Shutdown(ctx), errKept)
		l.Put()
		check.OK(t, k.Shutdown(t.Context()))
		for range 50 {
			check.OK(t, k.Shutdown(ctx)) // all is done: that its context is done, too, does not matter
		}
		k.Close()
		f.settled(2)
	})
}

func TestAfterResetNoOlderObjectIsLeased(t *testing.T) {
	check.Bubble(t, "idle or leased", func(t *testing.T) {
		k, f := keeping(t, 3)
		warm(t, k, 3)
		l := got(t, k)
		k.Reset()
		synctest.Wait()
		check.Equal(t, "closed", f.closed.Load(), 2)
		c := got(t, k)
		check.Equal(t, "object", c.Value().number, 4)
		a, b := asks(t, k), asks(t, k)
		a.served(t)
		b.waits(t)
		l.Put()
		check.Equal(t, "object", b.served(t).Value().number, 6)
		for _, l := range []lease{a.lease, b.lease, c} {
			l.Put()
		}
		check.Equal(t, "idle", k.Stats().Idle, 3)
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "being opened", func(t *testing.T) {
		open, set := byOrder()
		k, f := keeping(t, 1, set)
		a := asks(t, k)
		k.Reset()
		open.succeed()
		a.waits(t)
		check.Equal(t, "closed", f.closed.Load(), 1)
		open.succeed()
		l := a.served(t)
		check.Equal(t, "object", l.Value().number, 2)
		l.Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "being checked", func(t *testing.T) {
		gate := make(chan struct{})
		k, f := keeping(t, 1, func(c *config) {
			c.Check = func(context.Context, *thing) error { <-gate; return nil }
		})
		warm(t, k, 1)
		a := asks(t, k)
		k.Reset()
		close(gate)
		l := a.served(t)
		check.Equal(t, "object", l.Value().number, 2)
		l.Put()
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "and its heartbeat running", func(t *testing.T) {
		gate := make(chan struct{})
		k, f := keeping(t, 1, func(c *config) {
			c.HeartbeatEvery = time.Minute
			c.Heartbeat = func(context.Context, *thing) error { <-gate; return nil }
		})
		warm(t, k, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		k.Reset()
		close(gate)
		synctest.Wait()
		check.Equal(t, "closed", f.closed.Load(), 1)
		k.Close()
		f.settled(1)
	})
}
