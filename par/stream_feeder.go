package par

import (
	"context"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/race"
)

// feed reads the source. It is the task of the feeder.
func (f *flow[T, R]) feed(ctx context.Context) error {
	wanted, exited := true, true
	defer func() {
		value := recover()
		f.mu.Lock()
		switch {
		case value != nil:
			f.broken, f.halted = true, true
		case exited && wanted: // and so there is room
			f.enqueue(entry[T]{err: &weir.TaskError{Index: f.fed, Err: weir.ErrGoexit}})
		}
		f.ended = true
		more := f.understaffed()
		if f.broken || f.fed == f.window.Taken() { // otherwise a result is to come, and its helper may have the consumer's place
			f.rouse(nil)
		}
		f.mu.Unlock()
		if more {
			f.recruit()
		}
		if value != nil {
			panic(value) // to the group
		}
	}()
	f.from(ctx, func(item T, err error) bool {
		wanted = f.offer(ctx, entry[T]{item, err})
		return wanted
	})
	exited = false
	return nil
}

// enqueue adds an item, for which there must be room.
func (f *flow[T, R]) enqueue(e entry[T]) {
	f.queue.reserve(f.next, f.next, f.fed)
	*f.queue.at(f.fed) = e
	f.fed++
}

// offer takes an item from the source and waits until there is room for the next one. It reports whether the
// stream wants a next item.
func (f *flow[T, R]) offer(ctx context.Context, e entry[T]) bool {
	if race.Enabled {
		f.calls.start.Pasts[1].Release()
	}
	f.mu.Lock()
	f.enqueue(e)
	more, full, halted := f.understaffed(), f.full(), f.halted
	f.mu.Unlock()
	if more {
		f.recruit()
	}
	if e.err != nil && !f.keepGoing {
		return false
	}
	for full && !halted {
		f.mu.Lock()
		full, halted = !f.window.Asks(f.fed), f.halted
		wait := full && !halted
		f.filling = wait
		f.mu.Unlock()
		if wait {
			select {
			case <-f.room:
			case <-ctx.Done():
				return false
			}
		}
	}
	return !halted && ctx.Err() == nil
}

// full reports whether the feeder must wait until the consumer takes results.
func (f *flow[T, R]) full() bool { return !f.window.Admits(f.fed) }
