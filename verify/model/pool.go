package model

import (
	"context"
	"slices"
	"time"

	"github.com/64ed045f/weir"
)

// Pool is the model of a [weir.Pool] or a [weir.FuncPool], and of a lane: see AddLane.
//
// Its methods change what they are called for, and no more. Settle then does what follows.
type Pool struct {
	Limit       int
	Queue       int // how many accepted tasks may wait
	MaxWaiting  int
	IdleTimeout time.Duration
	Now         time.Duration // since the pool was made; 0 for a lane
	Priority    int           // of a lane

	Paused, Closed bool

	queue  []*Task
	line   []*Call // submitters that wait for room, the first first
	begun  []*Task // that have started and not finished, in that order
	comers []*Task // those of them that return, the first first
	groups []*Group
	waits  []*Call // calls of Wait
	closes []*Call // calls of Close and Shutdown

	above *Pool   // of which this one is a lane; nil for none
	lanes []*Pool // the oldest first
	onces []*Once

	several bool // places are free

	workers workers

	accepted, finished, handedBack, rejected, panicked uint64
}

// Prestart starts n workers.
func (p *Pool) Prestart(n int) {
	for range n {
		p.workers.all++
		p.workers.free++
	}
}

// Submit hands t over. It never waits if try is set.
func (p *Pool) Submit(ctx *Context, t *Task, try bool) *Call {
	c := &Call{Task: t, context: ctx}
	p.submit(c, try)
	return c
}

func (p *Pool) submit(c *Call, try bool) {
	switch {
	case c.context.cause() != nil:
		p.refuse(c, c.context.Cause)
	case p.Closed:
		p.refuse(c, weir.ErrClosed)
	case len(p.line) == 0 && p.room():
		p.accept(c)
	case try || len(p.line) >= p.MaxWaiting:
		p.refuse(c, weir.ErrFull)
	default:
		p.line = append(p.line, c)
	}
}

// Go is Submit of a task whose context is made from ctx.
func (p *Pool) Go(ctx *Context, t *Task) *Call {
	t.Context = ctx
	return p.Submit(ctx, t, false)
}

// Do asks for a place in which the caller runs t. The call ends with t.
func (p *Pool) Do(ctx *Context, t *Task) *Call {
	c := &Call{Task: t, context: ctx}
	t.Visit = c
	p.submit(c, false)
	return c
}

// room reports whether one more task can be accepted. A free worker has always room for one,
// and in a pool that is paused none is free.
func (p *Pool) room() bool { return len(p.queue) < p.Queue || p.place() }

// place reports whether there is one under the limit that no task has.
func (p *Pool) place() bool {
	return !p.Paused && p.places() < p.Limit && (p.above == nil || p.above.place())
}

// places is how many there are now: one for each task that has begun and has not given it up, also in the lanes.
func (p *Pool) places() (n int) {
	for _, t := range p.begun {
		if t.State == Running {
			n++
		}
	}
	for _, l := range p.lanes {
		n += l.places()
	}
	return n
}

func (p *Pool) accept(c *Call) {
	p.accepted++
	c.Task.State, c.Task.number, c.Task.Pool = Queued, int(p.accepted), p
	p.queue = append(p.queue, c.Task)
	if c.Task.Visit == nil {
		c.end(nil)
	}
}

// refuse ends the call of a submitter.
func (p *Pool) refuse(c *Call, err error) {
	p.rejected++
	c.Task.State = Rejected
	if b := c.Task.Batch; b != nil {
		b.refused(c, err)
		return
	}
	c.end(err)
}

// Cancel makes ctx done. A call that waits with it gives up.
func (p *Pool) Cancel(ctx *Context, cause error) {
	if ctx.Cause != nil {
		return
	}
	ctx.Cause = cause
	for _, q := range p.family() {
		q.cancelled(ctx, cause)
	}
	for _, o := range p.onces {
		o.leave(ctx)
	}
}

func (p *Pool) cancelled(ctx *Context, cause error) {
	for _, t := range p.begun {
		if t.Context == ctx {
			t.endContext(cause)
		}
	}
	for _, g := range p.groups {
		if g.parent == ctx {
			g.batch.cancel(cause)
		}
	}
	p.line = slices.DeleteFunc(p.line, func(c *Call) bool {
		gone := c.context == ctx
		if gone {
			p.refuse(c, cause)
		}
		return gone
	})
	p.queue = slices.DeleteFunc(p.queue, func(t *Task) bool {
		gone := t.Visit != nil && t.Visit.context == ctx
		if gone {
			p.workers.loose, p.workers.ghosts = true, int(p.accepted)
			p.takeBack(t, cause)
		}
		return gone
	})
	for _, c := range p.waits {
		if c.context == ctx {
			c.end(cause)
		}
	}
	p.waits = slices.DeleteFunc(p.waits, func(c *Call) bool { return c.Done })
	for _, c := range p.closes {
		if c.context == ctx && !c.Done {
			p.abandon(c)
		}
	}
	p.closes = slices.DeleteFunc(p.closes, func(c *Call) bool { return c.Done })
}

// takeBack removes a task that will not start from the queue. The calls that wait for it get why.
func (p *Pool) takeBack(t *Task, why error) {
	p.handedBack++
	t.State, t.Dropped = HandedBack, why
	if t.Visit != nil {
		t.Visit.end(why)
	}
	p.over(t)
}

// abandon removes all tasks from the queues, and cancels the groups and contexts of those that run, for a Shutdown whose context is done.
func (p *Pool) abandon(c *Call) {
	for _, q := range p.family() {
		c.Running += len(q.begun)
		q.handBack(c)
	}
	c.end(c.context.Cause)
}

func (p *Pool) handBack(c *Call) {
	queued := p.queue
	p.queue = nil
	for _, t := range queued {
		p.takeBack(t, weir.ErrClosed)
		switch {
		case t.Batch != nil:
			t.Batch.handedBack(t)
		case t.Visit == nil && t.Context == nil:
			c.Unrun = append(c.Unrun, t)
		}
	}
	for _, t := range p.begun {
		if t.Batch != nil {
			t.Batch.cancel(weir.ErrClosed)
		}
		t.endContext(weir.ErrClosed)
	}
}

// Finish ends a task that runs, in any way.
func (p *Pool) Finish(t *Task) {
	i := slices.Index(p.begun, t)
	p.begun = slices.Delete(p.begun, i, i+1)
	p.finished++
	t.State = Finished
	t.endContext(context.Canceled)
	if t.Visit != nil {
		t.Visit.Done = true // with what the caller of Finish has put there
	}
	p.workers.free++
	p.over(t)
}

// GiveUp makes a task that runs give its place up.
func (p *Pool) GiveUp(t *Task) { t.State = Away }

// Return makes it want to go on.
func (p *Pool) Return(t *Task) {
	t.State = Returning
	p.comers = append(p.comers, t)
}

// Panicked counts a task that has panicked. It goes on until the handler has returned.
func (p *Pool) Panicked(t *Task) {
	p.panicked++
	t.endContext(context.Canceled)
}

// over takes t off what the calls of Wait wait for.
func (p *Pool) over(t *Task) {
	for _, c := range p.waits {
		delete(c.awaited, t)
	}
}

// Resize sets the limit. Idle workers beyond it end, those first that have rested for longest.
func (p *Pool) Resize(n int) {
	p.Limit = n
	p.workers.end(min(max(0, p.workers.all-n), len(p.workers.idle)))
}

// Pause stops workers from taking tasks.
func (p *Pool) Pause() { p.Paused = !p.Closed }

// Resume ends a pause.
func (p *Pool) Resume() { p.Paused = false }

// Wait waits for all tasks accepted before.
func (p *Pool) Wait(ctx *Context) *Call {
	c := &Call{context: ctx, awaited: map[*Task]bool{}}
	for _, t := range slices.Concat(p.queue, p.begun) {
		c.awaited[t] = true
	}
	p.waits = append(p.waits, c)
	if len(c.awaited) > 0 && ctx.cause() != nil {
		c.end(ctx.Cause)
	}
	return c
}

// Close closes the pool.
func (p *Pool) Close() *Call {
	c := &Call{}
	p.close(c)
	return c
}

// Shutdown closes the pool, until ctx is done.
func (p *Pool) Shutdown(ctx *Context) *Call {
	c := &Call{context: ctx}
	finished := p.Closed && p.empty()
	p.close(c)
	switch {
	case ctx.Cause == nil || finished:
	case !p.empty():
		p.abandon(c)
	default:
		c.Or = ctx.Cause // all tasks have finished, but the workers may not be gone yet
	}
	return c
}

func (p *Pool) close(c *Call) {
	for _, q := range p.family() {
		q.shut()
	}
	p.closes = append(p.closes, c)
}

func (p *Pool) shut() {
	if p.Closed {
		return
	}
	p.Closed, p.Paused = true, false
	p.workers.loose = p.workers.loose || len(p.queue) > 0
	line := p.line
	p.line = nil
	for _, waiting := range line {
		p.refuse(waiting, weir.ErrClosed)
	}
}

// empty reports whether all tasks are over, also those of the lanes.
func (p *Pool) empty() bool {
	return p.Stats().Queued == 0 && len(p.begun) == 0 && !slices.ContainsFunc(p.lanes, func(l *Pool) bool { return !l.empty() })
}

// Next returns the first task that waits; nil if none does.
func (p *Pool) Next() *Task {
	switch {
	case len(p.queue) > 0:
		return p.queue[0]
	case len(p.line) > 0:
		return p.line[0].Task
	default:
		return nil
	}
}

// Stats is what the pool says of itself, without Workers and Idle: for those see Agrees.
func (p *Pool) Stats() weir.Stats {
	suspended := 0
	for _, t := range p.begun {
		if t.State != Running {
			suspended++
		}
	}
	return weir.Stats{
		Limit:      p.Limit,
		Running:    len(p.begun) - suspended,
		Suspended:  suspended,
		Returning:  len(p.comers),
		Extra:      max(0, p.places()-p.Limit),
		InLanes:    p.inLanes(),
		Queued:     len(p.queue),
		Waiting:    len(p.line),
		Paused:     p.Paused,
		Closed:     p.Closed,
		Accepted:   p.accepted,
		Finished:   p.finished,
		HandedBack: p.handedBack,
		Rejected:   p.rejected,
		Panicked:   p.panicked,
	}
}
