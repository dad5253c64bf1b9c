package weir

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/internal/fifo"
)

// cuttable is the cancellable part of the context of a task of [Pool.Go]. The context ends with the task, and
// when the context of Shutdown ends.
//
// Most tasks ask their context only for its error. That needs no context of the standard library, which costs
// more than to hand the task over. The first call of Done makes one, which is in the list of the pool's
// cutoff until the task ends.
type cuttable struct {
	std   atomic.Pointer[standardContext]
	ended atomic.Bool // err and cause are final

	lock       sync.Mutex
	err, cause error
	link       fifo.Link[errand] // under the mutex of the cutoff
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
	t.err, t.cause = endOf(from, cause)
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
	std, made := t.makeStandard()
	if made {
		apart(t.list)
	}
	return std
}

// makeStandard makes it, unless another call has.
func (t *goTask) makeStandard() (std *standardContext, made bool) {
	t.lock.Lock()
	defer t.lock.Unlock() // also if a context of the program's own type panics
	if std = t.std.Load(); std != nil {
		return std, false
	}
	std = newStandard(t.ctx, t.err, t.cause)
	t.std.Store(std)
	return std, true
}

func (t *goTask) list() { t.pool.cut.add(&t.link, &t.errand, &t.ended) }

// unlist follows the end of the context.
func (t *goTask) unlist() { t.pool.cut.remove(&t.link) }

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
	if err != nil || t.pool.cut.over.Load() {
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
	case key == (labelKey{}):
		return t.label
	case t.std.Load() != nil || t.ended.Load() || t.pool.cut.over.Load():
		return t.standard().Value(key) // which is asked for the cause of its end as well
	default:
		return t.ctx.Value(key)
	}
}

// String keeps fmt from reading fields that other goroutines change meanwhile.
func (t *goTask) String() string { return fmt.Sprintf("%v.Task", t.ctx) }
