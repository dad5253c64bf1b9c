package reuse_test

import (
	"context"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestASlowFunctionDelaysNoOtherUser(t *testing.T) {
	slow := func() { time.Sleep(time.Hour) }
	check.Bubble(t, "Open", func(t *testing.T) {
		first := true
		k, f := keeping(t, 2, func(c *config) {
			open := c.Open
			c.Open = func(ctx context.Context) (*thing, error) {
				if first {
					first = false
					slow()
				}
				return open(ctx)
			}
		})
		a := asks(t, k)
		b := asks(t, k) // its own Open is fast, but a is first
		l := a.served(t)
		b.waits(t)
		l.Put()
		b.served(t).Put()
		got(t, k).Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "Check", func(t *testing.T) {
		first := true
		k, f := keeping(t, 2, func(c *config) {
			c.CheckAfter = time.Second
			c.Check = func(context.Context, *thing) error {
				if first {
					first = false
					slow()
				}
				return nil
			}
		})
		warm(t, k, 2)
		time.Sleep(time.Second)
		a := asks(t, k)
		a.waits(t)
		b := asks(t, k)
		a.served(t).Put()
		b.served(t).Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "Close", func(t *testing.T) {
		k, f := keeping(t, 2, func(c *config) {
			end := c.Close
			c.Close = func(o *thing) { slow(); end(o) }
		})
		warm(t, k, 2)
		start := time.Now()
		got(t, k).Discard()
		got(t, k).Put()
		k.Reset()
		k.Stats()
		check.Equal(t, "time", time.Since(start), 0)
		// But what is being closed exists: no user gets a third.
		a := asks(t, k)
		a.waits(t)
		time.Sleep(time.Hour)
		a.served(t).Put()
		k.Close()
		f.settled(2)
	})
	check.Bubble(t, "OnPanic", func(t *testing.T) {
		k, _ := keeping(t, 2, func(c *config) {
			c.Close = func(*thing) { _ = panicKept() }
			c.OnPanic = func(*weir.Panic) { slow() }
		})
		got(t, k).Discard()
		got(t, k).Put()
		k.Close()
	})
}

func TestAFailingCloseCostsNoCapacity(t *testing.T) {
	for name, how := range map[string]func() error{"panic": panicKept, "Goexit": exitKept} {
		check.Bubble(t, name, func(t *testing.T) {
			var told panics
			k, f := keeping(t, 1, func(c *config) {
				end := c.Close
				c.Close = func(o *thing) { end(o); _ = how() }
				c.Name, c.OnPanic = "kept", told.report
			})
			for range 5 {
				l := got(t, k)
				a := asks(t, k)
				l.Discard()
				a.served(t).Discard()
			}
			got(t, k).Put()
			k.Close()
			f.settled(1)
			check.Equal(t, "closed", k.Stats().Closed, 11)
			if name == "panic" {
				told.want(t, 11)
			}
		})
	}
}

func TestAPanicHandlerThatFailsCostsNothing(t *testing.T) {
	for name, how := range map[string]func() error{"panic": panicKept, "Goexit": exitKept} {
		check.Bubble(t, name, func(t *testing.T) {
			log := check.Log(t)
			k, f := keeping(t, 1, func(c *config) {
				end := c.Close
				c.Close = func(o *thing) { end(o); _ = panicKept() }
				c.OnPanic = func(*weir.Panic) { _ = how() }
			})
			got(t, k).Discard()
			got(t, k).Put()
			k.Close()
			f.settled(1)
			check.Equal(t, "panics of the handler that were logged", lines(log, "panic handler panicked"), map[string]int{"panic": 2}[name])
		})
	}
	check.Bubble(t, "none: they are logged", func(t *testing.T) {
		log := check.Log(t)
		k, _ := keeping(t, 1, func(c *config) {
			c.Name = "sessions"
			c.Close = func(*thing) { _ = panicKept() }
		})
		got(t, k).Put()
		k.Close()
		check.Equal(t, "logged", lines(log, "keeper=sessions"), 1)
	})
}
