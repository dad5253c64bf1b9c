package model

import (
	"context"
	"errors"
	"slices"

	"github.com/64ed045f/weir"
)

// ErrRefused is what a call of TryGo ends with that returns false.
var ErrRefused = errors.New("refused")

// Group is the model of a [weir.Group].
type Group struct {
	Pool *Pool
	// Limit is that of the group's own; 0 for none.
	Limit                     int
	KeepGoing, PanicsAsErrors bool
	// Owned says that the pool is the group's alone.
	Owned bool

	parent *Context
	batch  *Batch
	taken  int     // of the group's limit
	line   []*Call // of Go that wait for the limit
}

// NewGroup makes the group of a context, which is no task's.
func (p *Pool) NewGroup(parent *Context) *Group {
	g := &Group{Pool: p, parent: parent}
	p.groups = append(p.groups, g)
	g.renew()
	return g
}

// renew begins a batch. It is cancelled from the beginning if what the group was made from is.
func (g *Group) renew() {
	cause := g.parent.cause()
	g.batch = &Batch{Cancelled: cause != nil, Cause: cause, group: g}
}

// Lined is how many calls of Go wait for the limit of the group.
func (g *Group) Lined() int { return len(g.line) }

// Spare is how many more tasks the limit of the group would allow.
func (g *Group) Spare(limit int) int { return limit - g.taken }

// Batch is the one that tasks are given to now.
func (g *Group) Batch() *Batch { return g.batch }

// Contested reports whether it is open what becomes of the tasks of some group if the pool is
// closed: one that waits for room, or will have to, fails then, and cancels others that just
// start.
func (p *Pool) Contested() bool {
	for _, g := range p.groups {
		if len(g.line) > 0 && !g.KeepGoing {
			return true
		}
	}
	return slices.ContainsFunc(p.line, func(c *Call) bool {
		return c.Task.Batch != nil && !c.Task.Batch.group.KeepGoing
	})
}

// Crowded reports whether tasks of the batch wait for room in the pool. If it is cancelled and
// room is made at once, it is open whether they give up before they are let in.
func (b *Batch) Crowded() bool {
	return slices.ContainsFunc(b.group.Pool.line, func(c *Call) bool { return c.Task.Batch == b })
}

// Awaited reports whether a goroutine waits for the batch: if it is cancelled, room is made at once.
func (b *Batch) Awaited() bool { return len(b.waits) > 0 }

// Batch is a group's tasks from one Wait to the next.
type Batch struct {
	Cancelled bool
	Cause     error // of the cancellation
	Over      bool  // has been waited for

	group    *Group
	begun    int // the next number
	pending  int // tasks that were given, and are not over
	failures []*weir.TaskError
	panicked any
	waits    []*Call
}

// Go gives t to the group. It never waits if try is set.
func (g *Group) Go(t *Task, try bool) *Call {
	b := g.batch
	t.Batch, t.Index = b, b.begun
	b.begun++
	b.pending++
	c := &Call{Task: t, try: try}
	switch {
	case b.Cancelled:
		b.withdraw(c)
	case g.Limit == 0:
		b.add(c)
	case g.taken < g.Limit:
		g.taken++
		b.add(c)
	case try:
		b.withdraw(c)
	default:
		g.line = append(g.line, c)
	}
	return c
}

// add hands a task over that the limit of the group allows.
func (b *Batch) add(c *Call) { b.group.Pool.submit(c, c.try) }

// withdraw forgets a task that was not accepted. It gives its number back if it was the last.
func (b *Batch) withdraw(c *Call) {
	c.Task.State = Rejected
	b.pending--
	if b.begun == c.Task.Index+1 {
		b.begun--
	}
	if c.try {
		c.end(ErrRefused)
		return
	}
	c.end(nil)
}

// refused is called for a task that the pool does not take.
func (b *Batch) refused(c *Call, err error) {
	if c.try {
		b.release()
		b.withdraw(c)
		return
	}
	c.Task.State = Rejected
	if b.Cancelled && !errors.Is(err, weir.ErrClosed) && !errors.Is(err, weir.ErrFull) {
		b.release()
		b.withdraw(c)
		return
	}
	c.end(nil)
	b.fail(c.Task, err)
	b.release()
	b.pending--
}

// handedBack is called for a task that Shutdown takes off the queue.
func (b *Batch) handedBack(t *Task) {
	b.fail(t, weir.ErrClosed)
	b.release()
	b.pending--
}

// release makes room under the limit of the group, for the first task that waits for it.
func (b *Batch) release() {
	g := b.group
	if g.Limit == 0 {
		return
	}
	g.taken--
	g.admit()
}

func (g *Group) admit() {
	for len(g.line) > 0 && g.taken < g.Limit {
		c := g.line[0]
		g.line = g.line[1:]
		g.taken++
		c.Task.Batch.add(c)
	}
}

// Resize sets the limit of the group, and of the workers that are its own.
func (g *Group) Resize(n int) {
	if g.Limit > 0 {
		g.Limit = n
		g.admit()
	}
	if g.Owned {
		g.Pool.Resize(n)
	}
}

// Cancel cancels the group.
func (g *Group) Cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	g.batch.cancel(cause)
}

func (b *Batch) cancel(cause error) {
	if b.Cancelled {
		return
	}
	b.Cancelled, b.Cause = true, cause
	p, g := b.group.Pool, b.group
	line := g.line
	g.line = nil
	for _, c := range line {
		b.withdraw(c)
	}
	var leaving []*Call
	p.line = slices.DeleteFunc(p.line, func(c *Call) bool {
		if c.Task.Batch == b {
			leaving = append(leaving, c)
			return true
		}
		return false
	})
	for _, c := range leaving {
		p.rejected++
		b.release()
		b.withdraw(c)
	}
}

// strike discards a task that will not start, as its batch is cancelled.
func (b *Batch) strike(t *Task) {
	b.group.Pool.takeBack(t, nil)
	b.release()
	b.pending--
}

// fail notes what a task has failed with.
func (b *Batch) fail(t *Task, err error) {
	failure := &weir.TaskError{Index: t.Index, Err: err}
	if b.group.KeepGoing {
		b.failures = append(b.failures, failure)
	} else {
		b.cancel(failure)
	}
}

// EndMember ends a task of a group that runs, with what it returned.
func (p *Pool) EndMember(t *Task, err error) {
	if err != nil {
		t.Batch.fail(t, err)
	}
	p.endMember(t)
}

func (p *Pool) endMember(t *Task) {
	t.Batch.release()
	t.Batch.pending--
	p.Finish(t)
}

// PanicMember ends a task of a group by a panic. It reports whether the panic is for OnPanic.
func (p *Pool) PanicMember(t *Task, value any) (reported bool) {
	b := t.Batch
	p.panicked++
	panicked := &weir.Panic{Value: value}
	switch {
	case b.group.PanicsAsErrors:
		b.fail(t, panicked)
	case b.panicked == nil:
		b.panicked = value
		b.cancel(&weir.TaskError{Index: t.Index, Err: panicked})
	default:
		reported = true
	}
	p.endMember(t)
	return reported
}

// Wait waits for the group.
func (g *Group) Wait() *Call {
	c := &Call{}
	g.batch.waits = append(g.batch.waits, c)
	return c
}

// over ends the batch if it is waited for, and all of its tasks are over.
func (g *Group) over() bool {
	b := g.batch
	if len(b.waits) == 0 {
		return false
	}
	if b.Cancelled {
		p := g.Pool
		p.queue = slices.DeleteFunc(p.queue, func(t *Task) bool {
			if t.Batch != b {
				return false
			}
			p.workers.loose, p.workers.ghosts = true, int(p.accepted)
			b.strike(t)
			return true
		})
	}
	if b.pending > 0 {
		return false
	}
	b.end()
	return true
}

// end gives the outcome to every call that waits.
func (b *Batch) end() {
	err := b.outcome()
	for _, c := range b.waits {
		c.Done, c.Err, c.Panic = true, err, b.panicked
	}
	b.Over = true
	b.group.renew()
}

func (b *Batch) outcome() error {
	if b.panicked != nil {
		return nil
	}
	if len(b.failures) == 0 {
		return b.Cause
	}
	slices.SortFunc(b.failures, func(x, y *weir.TaskError) int { return x.Index - y.Index })
	var errs []error
	for _, failure := range b.failures {
		errs = append(errs, failure)
	}
	return errors.Join(append(errs, b.Cause)...)
}
