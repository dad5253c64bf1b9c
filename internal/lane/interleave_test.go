package lane_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/lane"
	"github.com/64ed045f/weir/internal/step"
)

// Each scene is a program whose interleavings the explorer goes through. Here they run with the real
// scheduler, a few times each.
func TestInterleavings(t *testing.T) { step.Test(t, scenes...) }

// In the explorer the first function of a group gets a goroutine, and rings begin with 2 slots.
var scenes = []step.Scene{
	scene("a function comes while a goroutine ends", -1, func(c *crowd) {
		c.gives(c.short)
		c.gives(c.short)
		c.gives(c.short)
	}),
	scene("two submitters", -1, func(c *crowd) {
		c.gives(c.short)
		c.Go("submitter", func() {
			c.gives(c.short)
			c.gives(c.short)
		})
		c.gives(c.short)
		c.gives(c.short)
	}),
	scene("two functions that need each other", -1, func(c *crowd) {
		c.gives(c.short)
		c.gives(c.meets(2)...)
	}),
	scene("three functions that need each other, by two submitters", -1, func(c *crowd) {
		all := c.meets(3)
		c.gives(c.short)
		c.Go("submitter", func() { c.gives(all[1]) })
		c.gives(all[0], all[2])
	}),
	scene("six functions that need each other fill the ring", -1, func(c *crowd) {
		c.gives(c.short)
		c.gives(c.meets(6)...)
	}),
	scene("a function gives two that need each other", -1, func(c *crowd) {
		c.gives(c.short)
		c.gives(func() error {
			c.gives(c.meets(2)...)
			return nil
		})
	}),
	scene("a full ring is left for a larger one while its goroutine searches", -1, func(c *crowd) {
		c.gives(c.short)
		c.Go("submitter", func() { c.gives(c.short, c.short) })
		c.gives(c.short, c.short, c.short)
	}),
	scene("two submitters find the ring full", -1, func(c *crowd) {
		c.gives(c.short)
		c.Go("submitter", func() { c.gives(c.short) })
		c.gives(c.short, c.short, c.short, c.short)
	}),
	scene("a group is used again", -1, func(c *crowd) {
		c.gives(c.short, c.short, c.short)
		c.waits()
		c.gives(c.meets(2)...)
	}),
	scene("a limit of 1 and two submitters", 1, func(c *crowd) {
		c.gives(c.short)
		c.Go("submitter", func() { c.gives(c.short) })
		c.gives(c.short)
	}),
	scene("a limit of 2 and three submitters", 2, func(c *crowd) {
		c.gives(c.short)
		c.Go("submitter", func() { c.gives(c.short) })
		c.Go("other submitter", func() { c.gives(c.short) })
		c.gives(c.short)
	}),
	scene("two that need each other, and a limit of 2", 2, func(c *crowd) {
		c.gives(c.short, c.short)
		c.gives(c.meets(2)...)
	}),
	scene("two that need each other come while two end, and a limit of 2", 2, func(c *crowd) {
		all := c.meets(2)
		c.gives(c.short, c.short)
		c.Go("submitter", func() { c.gives(all[0]) })
		c.gives(all[1])
	}),
	scene("a function ends its goroutine under a limit", 1, func(c *crowd) {
		c.gives(c.exits)
		c.Go("submitter", func() { c.gives(c.exits) })
		c.gives(c.short)
	}),
	scene("TryGo while a submitter waits", 1, func(c *crowd) {
		c.gives(c.short)
		c.Go("submitter", func() { c.gives(c.short) })
		c.tries()
		c.tries()
	}),
	scene("two functions fail", -1, func(c *crowd) {
		c.gives(c.fails, c.short, c.fails)
	}),
}

// crowd is a group with books about its functions.
type crowd struct {
	*step.Run
	group  lane.Group
	limit  int
	given  atomic.Int64
	ran    atomic.Int64
	active atomic.Int64
	causes atomic.Int64 // how often the group was cancelled
	failed atomic.Int64
}

var errFailed = errors.New("failed")

func scene(name string, limit int, body func(c *crowd)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 2, Body: func(r *step.Run) {
		c := &crowd{Run: r, limit: limit}
		c.group.Cancel = func(error) { c.causes.Add(1) }
		if limit >= 0 {
			c.group.SetLimit(limit)
		}
		body(c)
		c.Join()
		c.waits()
		c.Check(c.causes.Load() == min(c.failed.Load(), 1), "cancelled %d times", c.causes.Load())
		if limit >= 0 {
			c.Check(c.group.Active() == 0, "the limit counts %d functions", c.group.Active())
		}
	}}
}

// waits waits for all functions that were given.
func (c *crowd) waits() {
	err := c.group.Wait()
	c.Check((err != nil) == (c.failed.Load() > 0), "Wait returns %v", err)
	c.Check(c.ran.Load() == c.given.Load(), "%d functions ran of %d", c.ran.Load(), c.given.Load())
}

// gives gives functions to the group.
func (c *crowd) gives(functions ...func() error) {
	for _, f := range functions {
		c.given.Add(1)
		c.group.Go(c.noted(f))
	}
}

// tries gives a function to the group, if there is room for it.
func (c *crowd) tries() {
	c.given.Add(1)
	if !c.group.TryGo(c.noted(c.short)) {
		c.given.Add(-1)
	}
}

// noted is f with notes of its beginning and its end.
func (c *crowd) noted(f func() error) func() error {
	return func() error {
		n := c.active.Add(1)
		c.Check(c.limit < 0 || n <= int64(c.limit), "%d are active", n)
		defer func() {
			c.active.Add(-1)
			c.ran.Add(1)
		}()
		return f()
	}
}

func (c *crowd) short() error {
	c.Point()
	return nil
}

func (c *crowd) fails() error {
	c.failed.Add(1)
	return errFailed
}

func (c *crowd) exits() error {
	runtime.Goexit()
	return nil
}

// meets makes n functions each of which lasts until all have begun.
func (c *crowd) meets(n int) (functions []func() error) {
	begun := make([]chan struct{}, n)
	for i := range begun {
		begun[i] = make(chan struct{})
	}
	for i := range begun {
		functions = append(functions, func() error {
			close(begun[i])
			for _, other := range begun {
				<-other
			}
			return nil
		})
	}
	return functions
}
