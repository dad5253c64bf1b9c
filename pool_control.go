package weir

import "context"

// Wait blocks until all tasks accepted before the call have finished. The pool
// stays open, and Wait leaves out tasks submitted meanwhile. Any number of
// goroutines may wait at once; a task of the pool itself must not, as it would
// wait for itself. While the pool is paused, queued tasks keep Wait blocked, also
// those of futures and calls that were given up; a cancelled Do removes its own, and a cancelled
// group when a goroutine waits for it.
// Subtasks count with the task that waits for them: if no task does, Wait does not either.
//
// The end of each of these tasks synchronizes before the return of Wait.
func (p *Pool) Wait() { p.made().wait() }

// WaitContext is [Pool.Wait], but only until ctx is done; then it returns the context's
// cause. Waiting again later is possible.
func (p *Pool) WaitContext(ctx context.Context) error { return p.made().waitContext(ctx) }

// Resize sets the limit. It does not block. When it returns, no worker takes
// another task while limit or more run; tasks that a worker has taken are left
// alone, and idle workers beyond the limit end. A higher limit is used at once.
func (p *Pool) Resize(limit int) { p.made().resize(limit) }

// Pause stops workers from taking tasks, and does not block; those that have taken
// one go on, also with the next try of [Retry]. Tasks are accepted and queued while
// the queue has room: no worker is free to take one more. Pausing twice is the same as pausing once; Close and
// Shutdown end the pause, and after them Pause does nothing. A paused lane stays in memory as long as its pool, unless
// it is resumed or closed. If the context of Shutdown
// is done already, none of the tasks that are queued then starts: all are handed back.
func (p *Pool) Pause() { p.made().pause() }

// Resume ends a pause. Tasks that were queued meanwhile start at once, in their order.
func (p *Pool) Resume() { p.made().resume() }

// Close stops accepting tasks, runs all that were accepted (also those of a
// paused pool), and returns when the last worker has ended. Submitters that wait
// for room get [ErrClosed]. Close may be called more than once and by several
// goroutines; each call returns when all is done. A task of the pool itself must
// not call it, as it would wait for itself.
//
// The end of every task synchronizes before the return of Close.
//
// Tasks of [Pool.After] that are not due are dropped.
func (p *Pool) Close() {
	p.made().mustBeOwn()
	p.core.running()
	var reported chan struct{}
	undue, told := p.endTimers(&reported)
	if n := len(undue); n > 0 {
		p.core.reporter.aside(func() { p.core.reporter.fail(&TimersError{Dropped: n}, nil) })
		close(reported)
	}
	p.core.close()
	awaitAll(told, nil)
}

// Stats returns counts of what the pool has done and is doing. It takes a lock
// and looks at each worker, so it is meant for monitoring rather than
// for decisions on a hot path.
func (p *Pool) Stats() Stats { return p.made().stats() }

// made returns the core of a pool that is not nil.
func (p *Pool) made() *core {
	mustPool(p != nil)
	return &p.core
}
