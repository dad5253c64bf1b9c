package weir

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
)

// cuttable is what the context of a task of [Pool.Go] has beside the one that Go was given. It is cancelled when the task ends, and when the
// pool is shut down and the time for that is over.
//
// Most tasks ask their context for nothing but its error, and that needs no context of the standard library, which costs more than handing the
// task over. One is made when a task asks for the channel. From then until the task ends it is in the list of the pool's cutoff.
type cuttable struct {
	std   atomic.Pointer[standardContext]
	ended atomic.Bool // err and cause are final

	lock       sync.Mutex
	err, cause error
	link       fifo.Link[goTask] // under the mutex of the cutoff
}

// cutoff is the end of a pool for tasks that run.
type cutoff struct {
	over atomic.Bool // it has come; changed under mu
	mu   sync.Mutex
	list fifo.List[goTask] // those that have a standard context, until it has come
}

// cutOff returns the cutoff of the pool, and makes it if need be.
func (c *core[T]) cutOff() *cutoff {
	if cut := c.cut.Load(); cut != nil {
		return cut
	}
	c.cut.CompareAndSwap(nil, new(cutoff))
	return c.cut.Load()
}

// come cancels the contexts.
func (c *cutoff) come() {
	c.mu.Lock()
	c.over.Store(true)
	var list []*goTask
	for l := c.list.First(); l != nil; l = c.list.First() {
		list = append(list, l.Of())
		c.list.Remove(l)
	}
	c.mu.Unlock()
	for _, t := range list {
		t.cancel(ErrClosed)
	}
}

// isCut reports whether the contexts of the pool's tasks are cancelled.
func (t *goTask) isCut() bool {
	cut := t.pool.core.cut.Load()
	return cut != nil && cut.over.Load()
}

// cancel ends the context, if it has not ended; with nil as its cause because the task has.
func (t *goTask) cancel(cause error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.ended.Load() {
		return
	}
	from, std := t.ctx, t.std.Load()
	if std != nil {
		std.cancel(cause)
		from = std
	}
	if t.err = from.Err(); t.err != nil {
		t.cause = context.Cause(from)
	} else if t.err, t.cause = context.Canceled, cause; cause == nil {
		t.cause = context.Canceled
	}
	t.ended.Store(true)
	if std != nil {
		apart(t.unlist)
	}
}

// standard returns the standard context, and makes it if need be.
func (t *goTask) standard() context.Context {
	if std := t.std.Load(); std != nil {
		return std
	}
	t.lock.Lock()
	std, made := t.std.Load(), false
	if std == nil {
		std, made = t.newStandard(), true
	}
	t.lock.Unlock()
	if made {
		apart(t.list)
	}
	return std
}

func (t *goTask) newStandard() *standardContext {
	std, parent, ended := new(standardContext), t.ctx, t.ended.Load()
	if ended && errors.Is(t.err, context.Canceled) {
		parent = context.WithoutCancel(parent) // which may have ended since, for another cause
	}
	std.Context, std.cancel = context.WithCancelCause(parent)
	if ended {
		std.cancel(t.cause)
	}
	t.std.Store(std)
	return std
}

// list puts the task into the list of the cutoff, unless its context has ended, and cancels it if the cutoff has come.
func (t *goTask) list() {
	cut := t.pool.core.cutOff()
	cut.mu.Lock()
	over := cut.over.Load()
	if !over && !t.ended.Load() {
		cut.list.Append(&t.link, t)
	}
	cut.mu.Unlock()
	if over {
		t.cancel(ErrClosed)
	}
}

// unlist follows the end of the context.
func (t *goTask) unlist() {
	cut := t.pool.core.cutOff()
	cut.mu.Lock()
	defer cut.mu.Unlock()
	cut.list.Remove(&t.link)
}

// Done implements [context.Context].
func (t *goTask) Done() <-chan struct{} { return t.standard().Done() }

// Err implements [context.Context].
func (t *goTask) Err() error {
	if t.ended.Load() {
		return t.err
	}
	if std := t.std.Load(); std != nil {
		return std.Err()
	}
	err := t.ctx.Err()
	if err != nil || t.isCut() {
		t.cancel(ErrClosed) // what Err has returned once must hold
		return t.err
	}
	return nil
}

// Deadline implements [context.Context].
func (t *goTask) Deadline() (time.Time, bool) { return t.ctx.Deadline() }

// Value implements [context.Context].
func (t *goTask) Value(key any) any {
	switch {
	case key == (hostKey{}):
		return (*errandTask)(&t.errand)
	case t.std.Load() != nil || t.ended.Load() || t.isCut():
		return t.standard().Value(key) // which is asked for the cause of its end as well
	default:
		return t.ctx.Value(key)
	}
}

// String keeps fmt from reading fields that other goroutines change meanwhile.
func (t *goTask) String() string { return fmt.Sprintf("%v.Task", t.ctx) }
