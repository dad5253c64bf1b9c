package share_test

import (
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/share"
	"github.com/64ed045f/weir/internal/step"
)

// Each scene is a program whose interleavings the explorer goes through. Here they run with the real
// scheduler, a few times each.
func TestInterleavings(t *testing.T) { step.Test(t, scenes...) }

var scenes = []step.Scene{
	scene("two workers share three items", 2, 2, 3, func(c *workers) { c.short() }),
	scene("two workers share four items, two at a time", 2, 2, 4, func(c *workers) {
		c.grain = 2
		c.short()
	}),
	scene("three workers share four items in two shares", 3, 2, 4, func(c *workers) { c.short() }),
	scene("two items need each other", 2, 2, 2, func(c *workers) { c.meet(0, 1) }),
	scene("the last two of three items need each other", 2, 2, 3, func(c *workers) { c.meet(1, 2) }),
	scene("the last two of four items need each other, and a worker has gone", 2, 2, 4, func(c *workers) { c.meet(2, 3) }),
	scene("two items need each other, and three workers may come", 3, 3, 3, func(c *workers) { c.meet(1, 2) }),
	scene("a worker leaves half of its claim", 2, 2, 4, func(c *workers) {
		c.grain, c.interrupts = 2, true
		c.short()
	}),
	scene("a worker puts items down when another one has gone", 2, 1, 2, func(c *workers) {
		c.meet(0, 1)
		w, first, second := c.holds()
		gone := make(chan struct{})
		c.Go("another worker", func() {
			c.worker()
			close(gone)
		})
		<-gone
		c.Check(c.division.Signal.Load()&share.Hungry != 0, "a worker has gone, and the other does not learn that")
		w.Put(first)
		w.Put(second)
		c.works(w)
	}),
	scene("a worker puts items down while another one finds none", 2, 1, 2, func(c *workers) {
		c.meet(0, 1)
		w, first, second := c.holds()
		c.Go("another worker", c.worker)
		w.Put(first)
		w.Put(second)
		c.works(w)
	}),
	scene("a worker leaves its item to another one that comes", 2, 1, 1, func(c *workers) {
		c.short()
		var w share.Worker
		c.Quietly(func() {
			c.Check(c.division.Reserve(), "no place")
			w = c.division.Join()
			item, _, _ := w.Claim(1)
			w.Put(item)
			c.Check(c.division.Reserve(), "no place")
		})
		c.Go("another worker", c.worker)
		c.leaves(w)
	}),
	windowScene("a producer is one ahead of a consumer of two", 1, 2),
	windowScene("a producer is one ahead of a consumer of three", 1, 3),
	windowScene("a producer is two ahead of a consumer of four", 2, 4),
}

// workers are the workers of a loop.
type workers struct {
	*step.Run
	division   share.Division
	limit      int
	grain      int
	interrupts bool // a worker that has begun an item of a claim leaves the others, if it is to look up
	work       func(item int)
	begun      []atomic.Int32
	running    atomic.Int64 // items
	over       atomic.Bool  // the workers that have not come were sent away
}

func scene(name string, limit, shares, items int, body func(c *workers)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 2, Body: func(r *step.Run) {
		c := &workers{Run: r, limit: limit, grain: 1, begun: make([]atomic.Int32, items)}
		c.division.Init(limit, shares)
		c.division.Put(share.Run{Lo: 0, Hi: items})
		body(c)
		for range min(limit, items) {
			if !c.division.Reserve() {
				break
			}
			if c.division.Signal.Load() != 0 {
				c.division.Cede()
				break
			}
			c.Go("worker", c.worker)
		}
		c.Join()
		c.Check(c.division.Drained(), "items are left")
		c.Check(c.division.Places() == 0, "%d places are taken", c.division.Places())
		for i := range c.begun {
			c.Check(c.begun[i].Load() == 1, "item %d has begun %d times", i, c.begun[i].Load())
		}
	}}
}

// holds has a worker claim both of two items, one by one, and takes a place for another.
func (c *workers) holds() (w share.Worker, first, second share.Run) {
	c.Quietly(func() {
		c.Check(c.division.Reserve(), "no place")
		w = c.division.Join()
		first, _, _ = w.Claim(1)
		w.Alone(1, false) // it has come
		second, _, _ = w.Claim(1)
		c.Check(c.division.Reserve(), "no place")
	})
	return w, first, second
}

// worker does what a helper of a loop does.
func (c *workers) worker() { c.works(c.division.Join()) }

func (c *workers) works(w share.Worker) {
	for {
		claimed, left, more := w.Claim(c.grain)
		if !more {
			break
		}
		if claimed.Empty() {
			continue
		}
		if w.Alone(left, false) && c.division.Reserve() {
			c.Go("another worker", c.worker)
		}
		next := claimed.Lo
		for next < claimed.Hi {
			if c.interrupts && next > claimed.Lo && c.division.Signal.Load() != 0 {
				break
			}
			c.Check(c.begun[next].Add(1) == 1, "an item begins twice")
			n := c.running.Add(1)
			c.Check(n <= int64(c.limit), "%d items run at once", n)
			c.Check(!c.over.Load(), "an item begins though workers were sent away")
			c.work(next)
			c.running.Add(-1)
			next++
		}
		w.Put(share.Run{Lo: next, Hi: claimed.Hi})
	}
	c.leaves(w)
}

func (c *workers) leaves(w share.Worker) {
	w.Leave()
	if w.End() {
		c.Check(c.running.Load() == 0, "workers are sent away while items run")
		c.over.Store(true)
	}
}

// short makes all items last a step.
func (c *workers) short() { c.work = func(int) { c.Point() } }

// meet makes two items each of which lasts until the other one has begun.
func (c *workers) meet(one, other int) {
	begun := make([]chan struct{}, len(c.begun))
	for i := range begun {
		begun[i] = make(chan struct{})
	}
	c.work = func(item int) {
		close(begun[item])
		switch item {
		case one:
			<-begun[other]
		case other:
			<-begun[one]
		}
	}
}
