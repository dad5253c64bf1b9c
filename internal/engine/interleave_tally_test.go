package engine_test

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/step"
)

// tallyScenes are about counting tasks in and out while a goroutine waits for the end of them all.
var tallyScenes = []step.Scene{
	counting("the last task ends while a goroutine waits", 1, func(c *count) {
		c.Go("worker", func() { c.end(1) })
	}),
	counting("two tasks end at once", 2, func(c *count) {
		c.Go("one", func() { c.end(1) })
		c.Go("other", func() { c.end(1) })
	}),
	counting("the last task is withdrawn", 0, func(c *count) {
		if number, ok := c.begin(); ok {
			c.Go("submitter", func() { c.withdraw(number) })
		}
	}),
	counting("a task is withdrawn while another ends", 1, func(c *count) {
		if number, ok := c.begin(); ok {
			c.Go("submitter", func() { c.withdraw(number) })
		}
		c.Go("worker", func() { c.end(1) })
	}),
	counting("a task is withdrawn when another has begun", 0, func(c *count) {
		c.later = true
		if number, ok := c.begin(); ok {
			c.Go("submitter", func() { c.withdraw(number) })
		}
		c.Go("other", func() {
			if _, ok := c.begin(); ok {
				c.end(1)
			}
		})
	}),
	counting("a task begins while another ends", 1, func(c *count) {
		c.later = true
		c.Go("submitter", func() {
			if _, ok := c.begin(); ok {
				c.end(1)
			}
		})
		c.Go("worker", func() { c.end(1) })
	}),
	counting("no waiter is notified while a task that began later is open", 1, func(c *count) {
		c.later = true
		c.Go("submitter", func() {
			if _, ok := c.begin(); !ok {
				return
			}
			c.open.Add(-1)
			c.Check(!c.tally.End(1), "told before the end")
			c.end(1)
		})
	}),
	counting("two tasks begin and one is withdrawn while another ends", 1, func(c *count) {
		c.later = true
		c.Go("submitters", func() {
			if _, ok := c.begin(); !ok {
				return
			}
			if number, ok := c.begin(); ok {
				c.withdraw(number)
			}
			c.end(1)
		})
		c.Go("worker", func() { c.end(1) })
	}),
	counting("two tasks end, and the worker that ran them leaves", 2, func(c *count) {
		for _, name := range []string{"one", "other"} {
			c.Go(name, func() { c.runs() })
		}
	}),
	giving("given up while a task begins", 2, func(c *count) { c.Go("worker", func() { c.takes() }) }),
	giving("given up while a task is handed over", 0, func(c *count) {
		c.Go("submitter", c.hands)
		c.Go("worker", func() { c.takes() })
	}),
	giving("given up while a task is withdrawn", 1, func(c *count) {
		c.Go("submitter", func() {
			if number, ok := c.begin(); ok {
				c.withdraw(number)
			}
		})
	}),
	giving("given up while a task is refused that holds the set", 0, func(c *count) {
		c.begin()
		c.Go("submitter", func() {
			c.tally.Hold()
			c.inside.Add(1)
			c.open.Add(-1)
			c.told(c.tally.Refuse())
			c.inside.Add(-1)
			c.told(c.tally.Leave(0))
		})
	}),
	counting("a task begins and is withdrawn while another ends", 1, func(c *count) {
		c.later = true
		c.Go("submitter", func() {
			if number, ok := c.begin(); ok {
				c.withdraw(number)
			}
		})
		c.Go("worker", func() { c.end(1) })
	}),
}

// directScenes are about tasks that are never queued, until the set is switched.
var directScenes = []step.Scene{
	counting("two direct tasks end at once", 2, func(c *count) {
		c.Go("one", func() { c.direct(2) })
		c.Go("other", func() { c.direct(2) })
	}),
	counting("two direct tasks under a limit of 1", 2, func(c *count) {
		c.Go("one", func() { c.direct(1) })
		c.Go("other", func() { c.direct(1) })
	}),
	counting("switched while a direct task ends", 1, func(c *count) {
		c.Go("one", func() { c.direct(2) })
		c.Go("switch", c.switches)
	}),
	counting("switched while two direct tasks end", 2, func(c *count) {
		c.Go("one", func() { c.direct(2) })
		c.Go("other", func() { c.direct(2) })
		c.Go("switch", c.switches)
	}),
	counting("a direct task is adopted while another ends", 2, func(c *count) {
		c.Go("one", func() { c.direct(2) })
		c.Go("other", c.adopted)
	}),
	giving("given up while a direct task ends", 0, func(c *count) {
		c.begin()
		c.Go("one", func() { c.direct(2) })
	}),
	giving("given up while a direct task ends, and switched", 0, func(c *count) {
		c.begin()
		c.Go("one", func() { c.direct(2) })
		c.Go("switch", c.switches)
	}),
	giving("given up while a direct task is adopted", 0, func(c *count) {
		c.begin()
		c.Go("one", c.adopted)
	}),
	counting("a direct task waits for another to end", 2, func(c *count) {
		c.limit.Store(1)
		c.Go("one", func() { c.direct(1) })
		c.Go("other", func() { c.joins(0, 1, 1) })
	}),
	counting("two direct tasks wait for another to end", 3, func(c *count) {
		c.limit.Store(1)
		c.beginDirect(1)
		c.Go("others", func() {
			c.joins(0, 1, 2)
			c.joins(1, 2, 2)
		})
		c.runDirectly(1)
	}),
	counting("a direct task waits for two others to end", 3, func(c *count) {
		c.limit.Store(2)
		c.Go("one", func() { c.direct(2) })
		c.Go("two", func() { c.direct(2) })
		c.Go("other", func() { c.joins(0, 1, 1) })
	}),
	counting("submitters wait for another direct task to end", 3, func(c *count) {
		c.limit.Store(1)
		c.joined = make(chan struct{})
		c.beginDirect(1)
		c.Go("others", func() {
			c.joins(0, 1, 1)
			c.joins(1, 2, 1)
			close(c.joined)
		})
		c.runDirectly(1)
	}),
	counting("a submitter without room waits for another direct task to end", 2, func(c *count) {
		c.limit.Store(1)
		c.Go("one", func() { c.direct(1) })
		c.Go("other", func() { c.joins(0, 1, 0) })
	}),
	counting("switched while a direct task waits for another to end", 2, func(c *count) {
		c.limit.Store(1)
		c.Go("one", func() { c.direct(1) })
		c.Go("other", func() { c.joins(0, 1, 1) })
		c.Go("switch", c.switches)
	}),
	counting("switched while a submitter waits for a direct task to end", 2, func(c *count) {
		c.limit.Store(1)
		c.Go("one", func() { c.direct(1) })
		c.Go("other", func() { c.joins(0, 1, 0) })
		c.Go("switch", c.switches)
	}),
	counting("the limit falls while a direct task waits", 3, func(c *count) {
		c.limit.Store(2)
		c.beginDirect(2)
		c.beginDirect(2)
		c.limit.Store(1)
		c.Go("other", func() { c.joins(0, 1, 1) })
		c.Go("one", func() { c.runDirectly(1) })
		c.runDirectly(1)
	}),
	counting("the limit rises while a direct task waits that another needs", 2, func(c *count) {
		c.limit.Store(1)
		c.second = make(chan struct{})
		c.beginDirect(1)
		c.Go("other", func() { c.joins(0, 1, 1) })
		c.rises(2)
		<-c.second
		c.runDirectly(2)
	}),
	counting("the limit rises while a direct task ends and another needs the next one", 3, func(c *count) {
		c.limit.Store(2)
		c.beginDirect(2)
		c.beginDirect(2)
		c.limit.Store(1)
		c.joins(0, 2, 1) // it waits
		c.waited = make(chan struct{})
		c.Go("ends", func() { c.runDirectly(2) })
		c.rises(2)
		<-c.waited
		c.runDirectly(2)
	}),
	counting("the limit rises while direct tasks wait", 4, func(c *count) {
		c.limit.Store(1)
		c.beginDirect(1)
		c.Go("others", func() {
			c.joins(0, 1, 3)
			c.joins(1, 2, 3)
			c.joins(2, 3, 3)
		})
		c.rises(2)
		c.runDirectly(2)
	}),
	giving("given up while a direct task waits for another to end", 0, func(c *count) {
		c.limit.Store(1)
		c.begin()
		c.begin()
		c.Go("one", func() { c.direct(1) })
		c.Go("other", func() { c.joins(0, 1, 1) })
	}),
	giving("given up while a submitter waits for a direct task to end", 0, func(c *count) {
		c.limit.Store(1)
		c.begin()
		c.begin()
		c.Go("one", func() { c.direct(1) })
		c.Go("other", func() { c.joins(0, 1, 0) })
	}),
	cancelling("the last task ends while a goroutine waits that may be cancelled", 1, func(c *count, _ chan struct{}) {
		c.Go("worker", c.takes)
	}),
	cancelling("a goroutine that waits is cancelled", 1, func(_ *count, over chan struct{}) { close(over) }),
	cancelling("a goroutine that waits is cancelled while the last task runs", 1, func(c *count, over chan struct{}) {
		c.Go("worker", c.takes)
		c.Go("cancels", func() { close(over) })
	}),
}

// count is a tally, and the scene waits for its end.
type count struct {
	*step.Run
	intake engine.Intake
	tally  engine.Tally
	open   atomic.Int64 // tasks that have begun, and not ended
	later  bool         // tasks begin while the scene waits
	bell   engine.Bell

	queued, void, inside atomic.Int64 // tasks in a queue; void ones taken from it; workers with a task, and holders
	directly, permits    atomic.Int64 // direct tasks that run; those of them that an engine counts

	waiting    engine.DirectQueue // for the end of a direct task
	limit      atomic.Int64       // of direct tasks
	nextDirect int                // which of those that wait is next
	waited     chan struct{}      // if not nil, is closed when a task that has waited begins
	joined     chan struct{}      // if not nil, those that have waited wait for this, too
	second     chan struct{}      // if not nil, is closed when two direct tasks run
	cancelled  chan struct{}

	tells func()      // if not nil, is called before the bell is rung
	rung  atomic.Bool // the bell was rung
}

func newCount(r *step.Run) *count {
	c := &count{Run: r, cancelled: make(chan struct{})}
	c.tally.Init(&c.intake)
	return c
}

// counting makes a scene that waits for the end of a tally, of which some tasks have begun.
func counting(name string, begun int, body func(c *count)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
		c := newCount(r)
		for range begun {
			c.begin()
		}
		body(c)
		told := false
		for !c.tally.Seal() {
			c.Check(c.later || !told, "told before the end")
			c.bell.Wait()
			told = true
		}
		c.Check(c.open.Load() == 0, "sealed while tasks are open")
		_, ok := c.begin()
		c.Check(!ok, "a task begins after the end")
		c.Join()
		c.Check(c.permits.Load() == 0, "%d direct tasks have ended, and count in the engine", c.permits.Load())
	}}
}

// giving makes a scene in which the waiter gives up a tally with some tasks in a queue.
func giving(name string, queued int, body func(c *count)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
		c := newCount(r)
		for range queued {
			c.hands()
		}
		body(c)
		c.givesUp()
	}}
}

// givesUp waits only for the tasks that run.
func (c *count) givesUp() {
	c.tally.Close()
	close(c.cancelled)
	left, over := c.tally.Finish()
	for !over {
		c.bell.WaitUntil(nil)
		left, over = c.tally.Finish()
	}
	c.Check(c.inside.Load() == 0, "finished while a task runs, or a goroutine holds the set")
	_, ok := c.begin()
	c.Check(!ok, "a task begins after the end")
	c.Join()
	n := int(c.queued.Load() + c.void.Load())
	c.Check(left == n, "%d are left, and %d stand in the queue", left, n)
	c.Check(c.permits.Load() == 0, "%d direct tasks have ended, and count in the engine", c.permits.Load())
}

// cancelling makes a scene that waits for the end of a tally, with some tasks in a queue, and gives it up when over is closed.
func cancelling(name string, queued int, body func(c *count, over chan struct{})) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 1, Body: func(r *step.Run) {
		c := newCount(r)
		for range queued {
			c.hands()
		}
		over := make(chan struct{})
		body(c, over)
		for !c.tally.Seal() {
			if !c.bell.WaitUntil(over) {
				c.givesUp()
				return
			}
		}
		c.Check(c.open.Load() == 0, "sealed while tasks are open")
	}}
}

// hands puts a task into the queue.
func (c *count) hands() {
	if _, ok := c.begin(); ok {
		c.queued.Add(1)
		c.told(c.intake.Handed())
	}
}

// takes runs a task of the queue, if there is one, and it may begin.
func (c *count) takes() {
	for {
		n := c.queued.Load()
		if n == 0 {
			return
		}
		if c.queued.CompareAndSwap(n, n-1) {
			break
		}
	}
	if !c.tally.Enter() {
		c.void.Add(1)
		return
	}
	c.inside.Add(1)
	c.open.Add(-1)
	c.inside.Add(-1)
	c.told(c.tally.Leave(1))
}

// runs runs a task that has begun.
func (c *count) runs() {
	c.Check(c.tally.Enter(), "closed")
	c.open.Add(-1)
	c.told(c.tally.Leave(1))
}

// direct runs a task that has begun as a direct one, if it may. Else the task is queued.
func (c *count) direct(limit int64) {
	if !c.beginDirect(limit) {
		c.queue()
		return
	}
	c.runDirectly(limit)
}

// runDirectly is a direct task that has begun, and those that wait for its end.
func (c *count) runDirectly(limit int64) {
	for next := true; next; {
		c.ends()
		next = c.endDirectly(limit)
	}
}

// endDirectly reports whether a task that has waited begins in the place of the one that ends.
func (c *count) endDirectly(limit int64) (next bool) {
	task, tell, end := c.waiting.End(&c.tally, func() int64 {
		if c.limit.Load() > 0 {
			return c.limit.Load()
		}
		return limit
	})
	switch end {
	case engine.DirectNext:
		c.inTurn(task)
		c.begins(limit)
		if c.joined != nil {
			<-c.joined
		}
		return true
	case engine.DirectSwitched:
		c.permits.Add(-1)
		tell = c.tally.EndSwitched()
	}
	c.told(tell)
	return false
}

// joins runs the task that has begun with that number as a direct one, if need be when another one has ended, in that order. Else the task is
// queued.
func (c *count) joins(order, number, room int) {
	if c.beginDirect(c.limit.Load()) {
		c.runDirectly(c.limit.Load())
		return
	}
	result, s := c.waiting.Join(&c.tally, engine.Task{N: order}, c.limit.Load, room, true)
	switch result {
	case engine.DirectBegins:
		c.begins(c.limit.Load())
		c.told(c.intake.Handed())
		c.runDirectly(c.limit.Load())
		return
	case engine.DirectRefused:
		c.queue()
		return
	case engine.DirectBlocks:
		select {
		case standing := <-s.Turn:
			if standing != nil {
				c.queue()
				return
			}
		case <-c.cancelled:
			if c.waiting.Withdraw(&c.tally, s) {
				c.withdraw(number)
				return
			}
			if <-s.Turn != nil {
				c.queue()
				return
			}
		}
	}
	c.told(c.intake.Handed())
}

// queue hands a task over that is no direct one.
func (c *count) queue() {
	c.queued.Add(1)
	c.told(c.intake.Handed())
	c.takes()
}

// inTurn checks that no task that waits goes ahead of an earlier one.
func (c *count) inTurn(task engine.Task) {
	if c.waited != nil {
		close(c.waited)
	}
	c.Check(task.N >= c.nextDirect, "task %d has its turn before task %d", task.N, c.nextDirect)
	c.nextDirect = task.N + 1
}

func (c *count) begins(limit int64) {
	c.inside.Add(1)
	n := c.directly.Add(1)
	c.Check(n <= limit, "more direct tasks run than may")
	if n == 2 && c.second != nil {
		close(c.second)
	}
}

// rises lets more direct tasks run.
func (c *count) rises(limit int64) {
	c.limit.Store(limit)
	for {
		task, ok := c.waiting.Begin(&c.tally, int(limit))
		if !ok {
			return
		}
		c.inTurn(task)
		c.begins(limit)
		c.Go("begun", func() { c.runDirectly(limit) })
	}
}

func (c *count) beginDirect(limit int64) bool {
	if !c.tally.BeginDirect(int(limit)) {
		return false
	}
	c.begins(limit)
	c.told(c.intake.Handed())
	return true
}

// ends is the last of a direct task.
func (c *count) ends() {
	c.open.Add(-1)
	c.directly.Add(-1)
	c.inside.Add(-1)
}

// switches makes the tasks that wait queued ones.
func (c *count) switches() {
	n := 0
	c.waiting.Switch(&c.tally, func(direct int) { c.permits.Add(int64(direct)) }, func(task engine.Task, accepted bool) *engine.Standing {
		c.inTurn(task)
		if !accepted {
			return new(engine.Standing)
		}
		n++
		c.queued.Add(1)
		return nil
	})
	for range n {
		c.takes()
	}
}

// adopted runs a task that has begun as a direct one, and goes on on a worker.
func (c *count) adopted() {
	if !c.beginDirect(2) {
		c.queue()
		return
	}
	c.switches()
	c.permits.Add(-1) // it has it for itself
	c.tally.Adopt(true)
	c.ends()
	c.told(c.tally.Leave(1))
}

func (c *count) begin() (number int, ok bool) {
	if number, ok = c.intake.Begin(); ok {
		c.open.Add(1)
	}
	return number, ok
}

func (c *count) end(n int) {
	c.open.Add(-int64(n))
	c.told(c.tally.End(n))
}

func (c *count) withdraw(number int) {
	c.open.Add(-1)
	c.told(c.tally.Withdraw(number))
}

func (c *count) told(tell bool) {
	if !tell {
		return
	}
	if c.tells != nil {
		c.tells()
	}
	c.rung.Store(true)
	c.bell.Ring()
}
