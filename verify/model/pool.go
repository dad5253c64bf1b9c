package model

import (
	"slices"
	"time"

	"github.com/64ed045f/weir"
)

// Pool is the model of a [weir.Pool] or a [weir.FuncPool].
//
// Its methods change what they are called for, and no more. Settle then does what follows.
type Pool struct {
	Limit       int
	Queue       int // how many accepted tasks may wait
	MaxWaiting  int
	IdleTimeout time.Duration
	Now         time.Duration // since the pool was made

	Paused, Closed bool

	queue  []*Task
	line   []*Call // submitters that wait for room, the first first
	begun  []*Task // that have started and not finished, in that order
	comers []*Task // those of them that return, the first first
	groups []*Group
	waits  []*Call // calls of Wait
	closes []*Call // calls of Close and Shutdown

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

// Do asks for a place in which the caller runs t. The call ends with t.
func (p *Pool) Do(ctx *Context, t *Task) *Call {
	c := &Call{Task: t, context: ctx}
	t.Visit = c
	p.submit(c, false)
	return c
}

// room reports whether one more task can be accepted. A free worker has always room for one,
// and in a pool that is paused none is free.
func (p *Pool) room() bool { return len(p.queue) < p.Queue || p.place() && len(p.claims()) == 0 }

func (p *Pool) accept(c *Call) {
	p.accepted++
	c.Task.State, c.Task.number = Queued, int(p.accepted)
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
	for _, g := range p.groups {
		if g.parent == ctx && (g.Host == nil || g.Host.Live()) {
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
	t.State = HandedBack
	if t.Visit != nil {
		t.Visit.end(why)
	}
	p.over(t)
}

// abandon removes all tasks from the queue, and cancels the groups of those that run, for a Shutdown whose context is done.
func (p *Pool) abandon(c *Call) {
	queued := p.queue
	p.queue = nil
	for _, t := range queued {
		p.takeBack(t, weir.ErrClosed)
		switch {
		case t.Batch != nil:
			t.Batch.handedBack(t)
		case t.Visit == nil:
			c.Unrun = append(c.Unrun, t)
		}
	}
	for _, t := range p.begun {
		if t.Batch != nil {
			t.Batch.cancel(weir.ErrClosed)
		}
	}
	c.end(c.context.Cause)
}

// Finish ends a task that runs, in any way.
func (p *Pool) Finish(t *Task) {
	i := slices.Index(p.begun, t)
	p.begun = slices.Delete(p.begun, i, i+1)
	t.leave()
	p.finished++
	t.State = Finished
	if t.Visit != nil {
		t.Visit.Done = true // with what the caller of Finish has put there
	}
	p.workers.free++
	p.over(t)
}

// GiveUp makes a task that is no subtask, and runs, give its place up.
func (p *Pool) GiveUp(t *Task) { t.State = Away }

// Return makes it want to go on.
func (p *Pool) Return(t *Task) {
	t.State = Returning
	p.comers = append(p.comers, t)
}

// Panicked counts a task that has panicked.
func (p *Pool) Panicked() { p.panicked++ }

// over takes t off what the calls of Wait wait for.
func (p *Pool) over(t *Task) {
	for _, c := range p.waits {
		delete(c.awaited, t)
	}
}

// Resize sets the limit.
func (p *Pool) Resize(n int) {
	p.Limit = n
	p.workers.trim(n)
}

// Pause stops workers from taking tasks.
func (p *Pool) Pause() { p.Paused = !p.Closed }

// Resume ends a pause.
func (p *Pool) Resume() { p.Paused = false }

// Wait waits for all tasks accepted before.
func (p *Pool) Wait(ctx *Context) *Call {
	c := &Call{context: ctx, awaited: map[*Task]bool{}}
	for _, t := range slices.Concat(p.queue, p.begun) { // subtasks count with their host
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
	if !p.Closed {
		p.Closed, p.Paused = true, false
		p.workers.loose = p.workers.loose || len(p.queue) > 0
		line := p.line
		p.line = nil
		for _, waiting := range line {
			p.refuse(waiting, weir.ErrClosed)
		}
	}
	p.closes = append(p.closes, c)
}

func (p *Pool) empty() bool { return p.Stats().Queued == 0 && len(p.begun) == 0 }

// Next returns the first task in the queue; nil if that is empty.
func (p *Pool) Next() *Task {
	if len(p.queue) == 0 {
		return nil
	}
	return p.queue[0]
}

// Stats is what the pool says of itself, without Workers and Idle: for those see Agrees.
func (p *Pool) Stats() weir.Stats {
	queued := len(p.queue)
	for _, g := range p.groups {
		queued += g.Open()
	}
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
		Queued:     queued,
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
