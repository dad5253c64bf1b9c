package programs

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
)

// batch is one execution of an act that hands over tasks and waits for all of them.
type batch struct {
	*act
	by, waiter *actor
	from       actor // by as it is when it hands the tasks over
	tasks      []*task
	started    []atomic.Int64
	seen       []bool // values
	inside     gauge  // tasks that have started and not ended
	own        gauge  // of workers of its own
	closed     atomic.Bool
	delivered  int
	left       bool // by the loop's body, or for the first value, so that tasks may be missing
}

func newBatch(by, waiter *actor, a *act) *batch {
	b := &batch{act: a, by: by, waiter: waiter, from: *by, tasks: flat(a.Kids)}
	b.started, b.seen = make([]atomic.Int64, len(b.tasks)), make([]bool, len(b.tasks))
	b.inside = gauge{limit: len(b.tasks), over: &by.over[members]}
	if limit := a.With["limit"]; limit > 0 {
		b.inside.limit = max(limit, a.With["resized"])
	}
	b.own = gauge{limit: max(a.With["workers"], a.With["resized"]), over: &by.over[apart]}
	return b
}

// run hands the tasks over, waits for them, and checks that all of them are over.
func (b *batch) run(ctx context.Context) error {
	defer func() {
		b.closed.Store(true)
		if b.inside.now.Load() != 0 {
			b.by.fail("a task runs when the wait for it is over: %v", b.act)
		}
	}()
	begin := time.Now()
	err := b.by.library.gather(ctx, b)
	for e := range weir.Failures(err) {
		if b.Pool != own && b.started[e.Index].Load() == 0 {
			b.by.expired(e.Err, b.Pool, begin)
		}
	}
	for i := range b.started {
		if err == nil && !b.left && b.started[i].Load() == 0 {
			b.by.fail("task %d has not run, and there is no error: %v", i, b.act)
		}
	}
	return err
}

// tries is how often each task may run.
func (b *batch) tries() int {
	tries := max(b.With["retry"], 1)
	if b.Pool != own && !b.loops() {
		tries = max(tries, b.by.program.Pools[b.Pool].Tries)
	}
	return tries
}

// live runs a task of the batch.
func (b *batch) live(ctx context.Context, i int, cancel func(error)) (int, error) {
	n := b.started[i].Add(1)
	if n > int64(b.tries()) {
		b.by.fail("task %d runs for the %d. time: %v", i, n, b.act)
	}
	if b.closed.Load() {
		b.by.fail("task %d starts when the wait for it is over: %v", i, b.act)
	}
	b.inside.enter()
	defer b.inside.leave()
	c := b.from.child(b.tasks[i])
	if key := b.With["key"]; key > 0 {
		c.place = c.placeOfKey(b.Pool, key)
	}
	if c.place == nil {
		c.place = &place{running: &b.own}
		if b.Kind == each || b.Kind == mapped || b.Kind == stream {
			c.place.above = b.waiter.place
		}
	}
	if b.With.has("after") {
		c.begun = nil // the stage after it, a task of no shared pool, waits for it
	}
	c.cancel, c.again = cancel, n > 1
	return c.live(ctx)
}

// item is the turn of the body of a loop. It reports whether the loop goes on.
func (b *batch) item() bool {
	b.waiter.place.resume()
	defer b.waiter.place.pause()
	b.by.steps.Add(1)
	b.delivered++
	err := b.by.perform(b.Body)
	b.left = b.left || err != nil || b.delivered == b.With["break"]
	return !b.left
}

// indices is a sequence of the numbers of the tasks, before each of which item has its turn if the
// task itself reads it.
func (b *batch) indices(yield func(int) bool) {
	for i := range b.tasks {
		if b.readsSequence() && !b.item() || !yield(i) {
			return
		}
	}
}

// check looks at what was returned for task i, or for any one if i is below 0.
func (b *batch) check(i, value int, err error) {
	for j, t := range b.tasks {
		if (i < 0 || i == j) && value == t.value() && b.started[j].Load() > 0 && !b.seen[j] {
			b.seen[j] = true
			return
		}
	}
	if err == nil {
		b.by.fail("value %d is %d: %v", i, value, b.act)
	}
}

// checkAll looks at the values of all tasks. With an error some may be 0.
func (b *batch) checkAll(got []int, err error) ([]int, error) {
	if err == nil && !b.left && len(got) != len(b.tasks) {
		b.by.fail("there are %d values: %v", len(got), b.act)
	}
	for i, value := range got {
		if value != 0 || err == nil && !b.left {
			b.check(i, value, nil)
		}
	}
	return got, err
}

// checkEach looks at results that come one after the other, and gives the body its turns.
func (b *batch) checkEach(results func(yield func(int, error) bool), inOrder bool) (last error) {
	for value, err := range results {
		i := -1
		if inOrder {
			i = b.delivered
		}
		b.check(i, value, err)
		if err != nil {
			last = err
		}
		if !b.item() {
			break
		}
	}
	return last
}
