package weir

import (
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/fifo"
)

// cutoff is the end of a pool for tasks that run: it cancels the contexts of those of [Pool.Go] and
// [Once.Do], and the groups with tasks that run on the pool.
//
// After the cutoff each group with a task that runs on the pool is cancelled: see [engine.Worker.SetTenant]. A group whose last task has just ended may
// be cancelled, too.
type cutoff struct {
	of   any         // the FuncContext whose pool that is; nil for none
	over atomic.Bool // it has come; changed under mu
	mu   sync.Mutex
	list fifo.List[errand] // those that it cancels, until it has come

	timers *timers // of the pool; nil without; under mu
}

// cancels is an errand that the cutoff cancels.
type cancels interface{ cancel(cause error) }

// add puts e into the list of errands to cancel, unless its context has ended. It cancels e at once if the
// cutoff has come. ended may be nil.
func (c *cutoff) add(l *fifo.Link[errand], e *errand, ended *atomic.Bool) {
	c.mu.Lock()
	over := c.over.Load()
	if !over && (ended == nil || !ended.Load()) {
		c.list.Append(l, e)
	}
	c.mu.Unlock()
	if over {
		e.self.(cancels).cancel(ErrClosed)
	}
}

func (c *cutoff) remove(l *fifo.Link[errand]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list.Remove(l)
}

// cutTasks is called when the time is over for the tasks of a pool that was shut down.
func (p *Pool) cutTasks() {
	p.cut.come()
	for _, tenant := range p.core.engine.Cut() {
		if b := batchIn(tenant); b != nil {
			b.scope.seen()
			b.scope.cancel(ErrClosed)
		}
	}
}

// come cancels the contexts.
func (c *cutoff) come() {
	c.mu.Lock()
	c.over.Store(true)
	var list []*errand
	for l := c.list.First(); l != nil; l = c.list.First() {
		list = append(list, l.Of())
		c.list.Remove(l)
	}
	c.mu.Unlock()
	for _, e := range list {
		e.self.(cancels).cancel(ErrClosed)
	}
}
