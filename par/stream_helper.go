package par

import (
	"cmp"
	"context"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// help is the task of a helper: it runs items until none may begin.
func (f *flow[T, R]) help(ctx context.Context) error {
	var number int
	ended := false
	defer func() {
		if ended {
			return
		}
		value := recover()
		f.mu.Lock()
		f.active--
		if value != nil {
			f.broken, f.halted = true, true
			f.rouse(nil)
		} else {
			awaited := f.complete(number, outcome[R]{err: &weir.TaskError{Index: number, Err: weir.ErrGoexit}})
			if awaited {
				f.rouse(nil)
			}
		}
		more := f.understaffed()
		f.mu.Unlock()
		if more {
			f.recruit()
		}
		if value != nil {
			panic(value) // to the group
		}
	}()
	going := f.heed(ctx)
	var task inside.Task // only a task wakes a task
	if f.task != nil {
		task = taskOf(ctx)
	}
	f.mu.Lock()
	f.coming = false
	for going && f.mayBegin() {
		var e entry[T]
		number, e = f.claim()
		more := f.understaffed()
		f.mu.Unlock()
		if more {
			f.recruit()
		}
		result := f.call(ctx, number, e)
		going = f.heed(ctx)
		f.mu.Lock()
		if f.complete(number, result) && f.rouse(task) {
			f.window.Raise() // the consumer has the helper's place now, and asks for a helper again
			going = false
			break
		}
		if f.singly || f.alone && f.front > f.window.Taken() {
			break
		}
	}
	f.active--
	more := f.singly && going && f.understaffed()
	f.mu.Unlock()
	ended = true
	if more {
		f.recruit()
	}
	return nil
}

// heed cancels the stream if the context of a helper has ended, as it does when the pool is shut down. A call
// may then have given up half-way, so heed must be called before the consumer can see its result. heed
// reports whether the context has not ended.
func (f *flow[T, R]) heed(ctx context.Context) bool {
	if ctx.Err() == nil && f.callers.Err() == nil {
		return true
	}
	f.cancel(cmp.Or(context.Cause(f.callers), context.Cause(ctx)))
	return false
}

// mayBegin is startable for a goroutine that does not look again by itself. If an item may begin once the
// consumer has taken more, mayBegin makes the consumer see to that.
func (f *flow[T, R]) mayBegin() bool {
	if f.halted || f.next == f.fed {
		return false // the feeder sees to the rest
	}
	return f.window.Asks(f.next)
}

// claim takes the next item, which must be startable.
func (f *flow[T, R]) claim() (number int, e entry[T]) {
	number = f.next
	f.next++
	f.results.reserve(f.window.Taken(), f.handed, number)
	if f.from == nil {
		e.item = f.items[number]
		return number, e
	}
	place := f.queue.at(number)
	e, *place = *place, entry[T]{}
	return number, e
}

func (f *flow[T, R]) call(ctx context.Context, number int, e entry[T]) (result outcome[R]) {
	if e.err != nil {
		result.err = e.err
		return result
	}
	var value R
	var err error
	if race.Enabled {
		c := &racedItem[T, R]{f.fn, ctx, e.item}
		o := race.Run(f.calls.start, &f.calls.ended, c.call)
		value, err = o.value, o.err
		if err != nil {
			f.calls.ended.Acquire()
		}
	} else {
		value, err = f.fn(ctx, e.item)
	}
	result.value = value
	if err != nil {
		result.err = &weir.TaskError{Index: number, Err: err}
	}
	return result
}

// complete stores a result in its place. It reports whether the consumer may be waiting for a ready result:
// then the caller must call rouse.
func (f *flow[T, R]) complete(number int, result outcome[R]) (awaited bool) {
	result.ready = true
	if f.unordered {
		*f.results.at(f.front) = result
		f.front++
	} else {
		*f.results.at(number) = result
		for f.front < f.next && f.results.at(f.front).ready {
			f.front++
		}
	}
	if result.err != nil && !f.keepGoing {
		// The consumer gets no result after this one. The items before it run already.
		f.halted = true
	}
	return f.front > f.window.Taken()
}
