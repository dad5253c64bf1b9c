package par

import (
	"cmp"
	"context"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/cause"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// deliver hands the results over to the consumer.
func (f *flow[T, R]) deliver(yield func(R, error) bool) {
	var none R
	for {
		ready := f.await()
		if ready == 0 {
			if why := cmp.Or(context.Cause(f.ctx), context.Cause(f.callers)); why != nil && !f.panicked() {
				yield(none, cause.Mark[*weir.TaskError](f.callers, why))
			}
			return
		}
		if race.Enabled {
			f.calls.ended.Acquire()
		}
		for range ready {
			result := f.take()
			if result.err != nil && !f.keepGoing {
				f.cancel(errLeft)
				yield(result.value, cmp.Or(outerCause(f.callers), result.err))
				return
			}
			if !yield(result.value, result.err) {
				return
			}
			if f.isOver() {
				break
			}
		}
	}
}

// stop ends everything that the stream has started, and waits for it. It panics if fn or the source has
// panicked.
func (f *flow[T, R]) stop() {
	f.mu.Lock()
	f.halted = true
	f.mu.Unlock()
	f.cancel(errLeft)
	defer f.cancel(nil)
	fed := false
	defer func() {
		if race.Enabled {
			defer f.calls.ended.Acquire()
		}
		if fed {
			_ = f.helpers.Wait() // its errors are known
		} else {
			f.waitAfterPanic(f.helpers) // the source has panicked
		}
	}()
	if f.feeder != nil {
		waitForSource(f.feeder)
	}
	fed = true
}

// panicked reports whether stop will panic. A panic is recorded before it cancels anything.
func (f *flow[T, R]) panicked() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

// sleep blocks until the consumer is woken, or the stream is cancelled. A consumer that is a task lends its
// place meanwhile: the calls that it waits for may need it.
func (f *flow[T, R]) sleep(stay inside.Stay) {
	if stay != nil {
		stay.Wait(f.ctx.Done())
		return
	}
	select {
	case <-f.wake:
	case <-f.ctx.Done():
	}
}
