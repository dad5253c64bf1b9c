package reuse_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/reuse"
)

// calls lets a test end calls of a function of the keeper one by one, whatever their contexts say.
type calls struct {
	mu       sync.Mutex
	contexts []context.Context
	ends     []chan func() error
}

func (c *calls) call(ctx context.Context) error {
	end := make(chan func() error)
	c.mu.Lock()
	c.contexts, c.ends = append(c.contexts, ctx), append(c.ends, end)
	c.mu.Unlock()
	return (<-end)()
}

func (c *calls) end(i int, how func() error) {
	synctest.Wait() // it may be about to begin
	c.ends[i] <- how
	synctest.Wait()
}

// began fails the test unless there were so many calls.
func (c *calls) began(t testing.TB, n int) {
	t.Helper()
	synctest.Wait()
	if len(c.ends) != n {
		t.Fatalf("%d calls, want %d", len(c.ends), n)
	}
}

// cancelled fails the test unless the context of a call is done, though the keeper is not closed.
func (c *calls) cancelled(t testing.TB, i int) {
	t.Helper()
	synctest.Wait()
	check.Error(t, c.contexts[i].Err(), context.Canceled)
	if cause := context.Cause(c.contexts[i]); errors.Is(cause, reuse.ErrClosed) {
		t.Errorf("the cause is %v", cause)
	}
}

func wellKept() error { return nil }

// opensBy has each Open wait for its end.
func (c *calls) opensBy(config *config) {
	open := config.Open
	config.Open = func(ctx context.Context) (*thing, error) {
		if err := c.call(ctx); err != nil {
			return nil, err
		}
		return open(ctx)
	}
}

func TestAUserThatWaitsAtResetGetsAnotherObjectAsSoonAsThereIsAPlace(t *testing.T) {
	check.Bubble(t, "at once if there is one", func(t *testing.T) {
		var opens calls
		k, f := keeping(t, 2, opens.opensBy)
		a := asks(t, k)
		k.Reset()
		opens.began(t, 2) // though the older one still runs
		opens.end(1, wellKept)
		l := a.served(t)
		opens.end(0, wellKept)
		check.Equal(t, "closed", f.closed.Load(), 1) // that was the older one
		l.Put()
		check.Equal(t, "idle", k.Stats().Idle, 1)
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "or when Open heeds its context", func(t *testing.T) {
		k, f := keeping(t, 1, func(c *config) {
			open, calls := c.Open, 0
			c.Open = func(ctx context.Context) (*thing, error) {
				if calls++; calls == 1 {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return open(ctx)
			}
		})
		a := asks(t, k)
		k.Reset()
		a.served(t).Put()
		check.Equal(t, "failed", k.Stats().Failed, 1)
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "or else when the older one has gone, never more than the capacity", func(t *testing.T) {
		var opens calls
		k, f := keeping(t, 2, opens.opensBy)
		a, b := asks(t, k), asks(t, k)
		k.Reset()
		opens.began(t, 2)
		opens.cancelled(t, 0)
		opens.cancelled(t, 1)
		opens.end(1, wellKept)
		opens.began(t, 3)
		check.OK(t, opens.contexts[2].Err())
		opens.end(2, wellKept)
		l := a.served(t) // the user that came first
		b.waits(t)
		l.Put()
		b.served(t).Put()
		opens.end(0, wellKept)
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "each of many, also after several Resets", func(t *testing.T) {
		var opens calls
		k, f := keeping(t, 6, opens.opensBy)
		users := []*asker{asks(t, k), asks(t, k)}
		k.Reset()
		opens.began(t, 4)
		k.Reset()
		opens.began(t, 6)
		for i := range 4 {
			opens.end(i, wellKept)
			users[0].waits(t)
		}
		opens.end(4, wellKept)
		opens.end(5, wellKept)
		for _, a := range users {
			a.served(t).Put()
		}
		k.Close()
		f.settled(6)
	})
}

func TestNoUserLearnsOfAnErrorFromBeforeAReset(t *testing.T) {
	for name, how := range map[string]func() error{"error": errorKept, "panic": panicKept, "Goexit": exitKept} {
		check.Bubble(t, "Open: "+name, func(t *testing.T) {
			var opens calls
			var told panics
			k, f := keeping(t, 2, opens.opensBy, func(c *config) { c.Name, c.OnPanic = "kept", told.report })
			a := asks(t, k)
			k.Reset()
			opens.end(0, how)
			a.waits(t)
			opens.began(t, 2)
			opens.end(1, errorKept) // that is its own
			a.failed(t, errKept)
			check.Equal(t, "failed", k.Stats().Failed, 2)
			if name == "panic" {
				told.want(t, 1)
			}
			k.Close()
			f.settled(2)
		})
		check.Bubble(t, "Check: "+name, func(t *testing.T) {
			var checks calls
			var told panics
			k, f := keeping(t, 2, func(c *config) {
				c.Name, c.OnPanic = "kept", told.report
				c.Check = func(ctx context.Context, _ *thing) error { return checks.call(ctx) }
			})
			warm(t, k, 1)
			a := asks(t, k)
			k.Reset()
			l := a.served(t) // a new one, which needs no check
			check.Equal(t, "object", l.Value().number, 2)
			checks.cancelled(t, 0)
			checks.end(0, how)
			check.Equal(t, "closed", f.closed.Load(), 1)
			check.Equal(t, "unhealthy", k.Stats().Unhealthy, 0)
			if name == "panic" {
				told.want(t, 1)
			}
			l.Put()
			k.Close()
			f.settled(2)
		})
		check.Bubble(t, "Heartbeat: "+name, func(t *testing.T) {
			var beats calls
			var told panics
			k, f := keeping(t, 1, func(c *config) {
				c.Name, c.OnPanic = "kept", told.report
				c.HeartbeatEvery = time.Minute
				c.Heartbeat = func(ctx context.Context, _ *thing) error { return beats.call(ctx) }
			})
			warm(t, k, 1)
			time.Sleep(time.Minute)
			beats.began(t, 1)
			k.Reset()
			beats.cancelled(t, 0)
			beats.end(0, how)
			check.Equal(t, "closed", f.closed.Load(), 1)
			check.Equal(t, "unhealthy", k.Stats().Unhealthy, 0)
			if name == "panic" {
				told.want(t, 1)
			}
			k.Close()
			f.settled(1)
		})
	}
}

func TestAnOpenFromBeforeAResetKeepsNoObjectFromBeingReady(t *testing.T) {
	check.Bubble(t, "Open", func(t *testing.T) {
		var opens calls
		k, f := keeping(t, 3, opens.opensBy, func(c *config) { c.MinIdle = 1 })
		opens.began(t, 1)
		k.Reset()
		opens.began(t, 2)
		opens.end(1, wellKept)
		opens.end(0, errorKept) // which is no reason to put others off
		check.Equal(t, "idle", k.Stats().Idle, 1)
		l := got(t, k)
		opens.began(t, 3)
		opens.end(2, wellKept)
		l.Put()
		check.Equal(t, "idle", k.Stats().Idle, 2)
		k.Close()
		f.settled(3)
	})
	check.Bubble(t, "a failure", func(t *testing.T) {
		var up atomic.Bool
		k, f := keeping(t, 1, func(c *config) {
			open := c.Open
			c.MinIdle = 1
			c.Open = func(ctx context.Context) (*thing, error) {
				if up.Load() {
					return open(ctx)
				}
				return nil, errKept
			}
		})
		time.Sleep(10 * time.Minute)
		up.Store(true)
		k.Reset()
		f.idle(k, 1) // though Open was to be tried a minute after the last time
		k.Close()
		f.settled(1)
	})
	check.Bubble(t, "Heartbeat", func(t *testing.T) {
		var beats calls
		k, f := keeping(t, 2, func(c *config) {
			c.MinIdle, c.HeartbeatEvery = 1, time.Minute
			c.Heartbeat = func(ctx context.Context, _ *thing) error { return beats.call(ctx) }
		})
		time.Sleep(time.Minute)
		beats.began(t, 1)
		k.Reset()
		synctest.Wait()
		check.Equal(t, "idle", k.Stats().Idle, 1)
		beats.end(0, wellKept)
		f.idle(k, 1)
		check.Equal(t, "closed", f.closed.Load(), 1)
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "TryGet", func(t *testing.T) {
		var opens calls
		k, f := keeping(t, 2, opens.opensBy)
		_, err := k.TryGet()
		check.Error(t, err, reuse.ErrNoneIdle)
		opens.began(t, 1)
		k.Reset()
		_, err = k.TryGet()
		check.Error(t, err, reuse.ErrNoneIdle)
		opens.began(t, 2)
		opens.end(1, wellKept)
		l, err := k.TryGet()
		check.OK(t, err)
		opens.end(0, wellKept)
		l.Put()
		k.Close()
		f.settled(2)
	})
}
