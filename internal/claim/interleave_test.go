package claim_test

import (
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/claim"
	"github.com/64ed045f/weir/internal/step"
)

// Each scene is a program whose interleavings the explorer goes through. Here they run with the real
// scheduler, a few times each.
func TestInterleavings(t *testing.T) { step.Test(t, scenes...) }

var scenes = []step.Scene{
	scene("a worker comes while the caller gives up", func(c *contest) {
		c.Go("worker", c.inTurn)
		c.givesUp()
	}),
	scene("a worker comes while another one claims the task", func(c *contest) {
		c.Go("worker", c.inTurn)
		c.claims()
	}),
	scene("a worker and two claimers", func(c *contest) {
		c.Go("worker", c.inTurn)
		c.Go("claimer", c.claims)
		c.claims()
	}),
	scene("a worker, a claimer, and a caller that gives up", func(c *contest) {
		c.Go("worker", c.inTurn)
		c.Go("claimer", c.claims)
		c.givesUp()
	}),
	scene("the task ends while its pool is shut down", func(c *contest) {
		c.Go("worker", c.inTurn)
		c.Go("pool", c.ends)
		c.ends()
	}),
	watching("a worker comes while a watch begins", func(c *contest) { c.inTurn() }),
	watching("a task is claimed while a watch begins", func(c *contest) { c.claims() }),
	watching("the caller gives up while a watch begins", func(c *contest) { c.givesUp() }),
	{Name: "three goroutines want to be the first", Quick: 3, Deep: 4, Free: 2, Body: func(r *step.Run) {
		var first claim.First
		var took atomic.Int32
		take := func() {
			if first.Take() {
				took.Add(1)
			}
			r.Check(first.Taken(), "a goroutine has taken it, and none has")
		}
		r.Go("one", take)
		r.Go("another", take)
		take()
		r.Join()
		r.Check(took.Load() == 1, "%d were the first", took.Load())
	}},
}

// watching makes a scene in which a watch begins over a task.
func watching(name string, body func(c *contest)) step.Scene {
	return step.Scene{Name: name, Quick: 3, Deep: 4, Free: 2, Body: func(r *step.Run) {
		c := &contest{Run: r}
		var stopped atomic.Bool
		r.Go("other", func() { body(c) })
		c.watch.Begin(&c.state, func() bool { stopped.Store(true); return true })
		r.Join()
		r.Check(stopped.Load(), "the task is over, and its watch is not")
	}}
}

// contest is a task that several goroutines want.
type contest struct {
	*step.Run
	state  claim.State
	watch  claim.Watch
	ran    atomic.Int32
	gaveUp atomic.Int32
	ended  atomic.Int32
}

func scene(name string, body func(c *contest)) step.Scene {
	return step.Scene{Name: name, Quick: 3, Deep: 4, Free: 2, Body: func(r *step.Run) {
		c := &contest{Run: r}
		body(c)
		c.Join()
		c.Check(c.ran.Load()+c.gaveUp.Load() <= 1, "the task ran %d times, and was given up %d times", c.ran.Load(), c.gaveUp.Load())
		c.Check(c.ended.Load() == 1, "the task has %d ends", c.ended.Load())
		c.Check(c.state.Over(), "the task is not over")
		c.Check(!c.state.Running(), "the task runs on")
	}}
}

// inTurn is a worker that has taken the task's job from the queue. A void job is no task.
func (c *contest) inTurn() {
	if c.state.Begin(false) {
		c.runs()
	}
}

// claims is a worker that takes the task out of turn.
func (c *contest) claims() {
	if !c.state.Claim() {
		return
	}
	c.Check(c.state.Void(), "the job of a claimed task is not void")
	c.Check(c.state.Begin(true), "a claimed task does not begin")
	c.runs()
}

func (c *contest) runs() {
	c.ran.Add(1)
	c.watch.End()
	c.Point()
	c.ends()
}

func (c *contest) ends() {
	if c.state.End() {
		c.ended.Add(1)
	}
}

func (c *contest) givesUp() {
	if c.state.GiveUp() {
		c.watch.End()
		c.gaveUp.Add(1)
		c.ended.Add(1)
	}
}
