package par

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// flow is one run of a stream. Items are numbered from 0 in the order of the source, and
// so are places for results: in an ordered stream each item has the place of its number,
// else the next one when it is finished.
//
//	taken ≤ front ≤ next ≤ fed   results from taken on up to front are ready
//	next ≤ taken + ahead         items from next on up to fed are not begun
//
// Of a source that is not a slice fed ≤ taken + ahead holds, too.
//
// A helper runs as long as it finds items to begin, and then ends: idle helpers would hold
// workers of a pool. The goroutine that makes an item available calls a
// helper, unless one is on its way: that one will look whether more are needed.
type flow[T, R any] struct {
	options
	fn    func(context.Context, T) (R, error)
	items []T // of a slice; else they are in queue
	from  pull[T]
	calls *racedCalls // nil without the race detector

	callers context.Context // may have ended before ctx learns of it
	ctx     context.Context
	cancel  context.CancelCauseFunc
	helpers taskGroup
	feeder  taskGroup // nil for a slice
	helper  func(context.Context) error
	wake    chan struct{} // tells the consumer to look again
	room    chan struct{} // tells the feeder

	taken   atomic.Int64 // results that the consumer has got; only it writes
	starved atomic.Bool  // a helper or the feeder could go on if more were taken

	shown slots[outcome[R]] // where the consumer finds what is ready; only it uses that

	// mu guards what follows. The engine's lock may be taken under it (rouse), never the other
	// way round. Under it are called startable, understaffed, rouse, rouseFeeder,
	// newStay, claim, mayBegin, complete, enqueue and full; recruit never.
	mu      sync.Mutex
	queue   slots[entry[T]]
	results slots[outcome[R]]
	handed  int // what is before that is ready, and the consumer's: it takes no lock for it
	front   int
	next    int
	fed     int
	ended   bool        // fed is final
	halted  bool        // no more items may begin
	broken  bool        // a panic will come out of helpers or feeder
	waiting bool        // the consumer sleeps
	stay    inside.Stay // of the consumer that sleeps, if it is a task
	filling bool        // the feeder sleeps
	active  int         // helpers that have not ended
	coming  bool        // one of them has not begun
	alone   bool        // the consumer waits for the only helper to end
	refused error       // why that one did not run
}

// maxAhead is the most that a stream may be ahead: far below the largest item number.
const maxAhead = 1 << 30

// entry is an item, or an error in the place of one.
type entry[T any] struct {
	item T
	err  error
}

type outcome[R any] struct {
	value R
	err   error
	ready bool
}

func newFlow[T, R any](ctx context.Context, o options, fn func(context.Context, T) (R, error), items []T, from pull[T]) *flow[T, R] {
	f := &flow[T, R]{options: o, fn: fn, items: items, from: from, callers: ctx}
	if f.ahead == 0 {
		f.ahead = max(32, 2*min(o.limit, maxAhead/2))
	}
	f.ahead = min(f.ahead, maxAhead)
	if from == nil {
		f.fed, f.ended = len(items), true
		f.ahead = min(f.ahead, len(items))
	}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	f.helpers = o.newHelpers(f.ctx, f.cancel, f.lose)
	f.helper = f.help
	f.wake = make(chan struct{}, 1)
	if from != nil {
		f.room = make(chan struct{}, 1)
		f.feeder = o.newFeeder(f.ctx, f.cancel)
	}
	if race.Enabled {
		f.calls = newRacedCalls(&f.options)
		f.calls.start.Pasts[1] = new(race.Past) // of what the feeder has offered
	}
	return f
}

// start has the source read. Helpers come with the first items, or the consumer.
func (f *flow[T, R]) start() {
	if f.feeder != nil {
		f.feeder.Go(f.feed)
	}
}

// startable reports whether there is an item that may begin.
func (f *flow[T, R]) startable() bool {
	return !f.halted && f.next < f.fed && f.next < int(f.taken.Load())+f.ahead
}

// understaffed reports whether a helper should be asked for, and counts it: then
// recruit must follow. If a helper could work once the consumer has taken more, the
// consumer asks again then.
func (f *flow[T, R]) understaffed() bool {
	if f.coming || f.alone || f.active == f.limit || !f.mayBegin() {
		return false
	}
	f.active++
	f.coming = true
	return true
}

// recruit starts a helper, without waiting for room in the pool. It must not be called
// under mu.
func (f *flow[T, R]) recruit() {
	if !f.helpers.TryGo(f.helper) {
		f.lose(nil)
	}
}

// lose counts out the helper that was to come: the pool had no room for it, or has
// handed it back, which Shutdown does, or if it expires. If it expires while no other helper runs, the pool is too slow for the stream.
func (f *flow[T, R]) lose(why error) {
	f.mu.Lock()
	f.active--
	f.coming = false
	f.refused = why
	last := f.active == 0
	if last {
		f.rouse(nil) // for only the consumer waits for room
	}
	f.mu.Unlock()
	if last && errors.Is(why, weir.ErrExpired) {
		f.cancel(why)
	}
}

// rouse wakes the consumer, if it sleeps. It reports whether the consumer, a task, has got the
// place of by, a helper, which must end then.
func (f *flow[T, R]) rouse(by inside.Task) (taken bool) {
	if !f.waiting {
		return false
	}
	f.waiting = false
	if f.stay != nil {
		return f.stay.Wake(by)
	}
	f.wake <- struct{}{}
	return false
}

// newStay returns the stay of the consumer for its next sleep, if it is a task and the
// stream runs on a pool.
func (f *flow[T, R]) newStay() inside.Stay {
	if f.pool == nil {
		return nil
	}
	if task := taskOf(f.ctx); task != nil {
		return task.Stay(f.helpers)
	}
	return nil
}

// taskOf returns the task whose context ctx comes from, if any.
func taskOf(ctx context.Context) inside.Task {
	task, _ := ctx.Value(inside.TaskKey{}).(inside.Task)
	return task
}

// await waits for results, and returns how many are ready. There are none if the stream is
// over, cancelled or broken.
func (f *flow[T, R]) await() int {
	asked := false
	for f.ctx.Err() == nil {
		f.mu.Lock()
		taken := int(f.taken.Load())
		switch {
		case f.broken || f.ended && taken == f.fed:
			f.mu.Unlock()
			return 0
		case f.front > taken:
			ready := f.front - taken
			f.shown, f.handed = f.results, f.front
			f.mu.Unlock()
			if f.ctx.Err() != nil {
				return 0 // a call that saw it may have given up half-way
			}
			return ready
		case !asked && f.understaffed():
			f.mu.Unlock()
			f.recruit()
			asked = true
		case f.active == 0 && f.startable():
			f.mu.Unlock()
			f.runAlone()
		default:
			stay := f.newStay()
			f.waiting, f.stay = true, stay
			f.mu.Unlock()
			f.sleep(stay)
			asked = false
		}
	}
	return 0
}

// runAlone is for a pool that had no room when no helper ran at all: it waits for room, and
// then until that one helper has a result.
func (f *flow[T, R]) runAlone() {
	f.mu.Lock()
	if f.active > 0 {
		f.mu.Unlock()
		return
	}
	f.active, f.coming, f.alone, f.refused = 1, true, true, nil
	f.mu.Unlock()
	f.helpers.Go(f.helper)
	cut := refusal(f.helpers.Wait())
	f.mu.Lock()
	refused := cmp.Or(f.refused, cut)
	f.active, f.coming, f.alone = 0, false, false
	f.mu.Unlock()
	if refused != nil {
		f.cancel(refused)
	}
}

// take takes the next result, which must be ready.
func (f *flow[T, R]) take() outcome[R] {
	taken := int(f.taken.Load())
	place := f.shown.at(taken)
	result := *place
	*place = outcome[R]{} // it may be used again, and must not keep the value alive
	f.taken.Store(int64(taken + 1))
	if f.starved.Load() {
		f.relieve()
	}
	return result
}

// relieve lets the feeder and helpers go on for which too few results had been taken. They
// raise starved first and then look at taken, the consumer does the opposite, so that one
// of the two sees the other.
func (f *flow[T, R]) relieve() {
	f.mu.Lock()
	f.starved.Store(false)
	f.rouseFeeder()
	more := f.understaffed()
	if f.next < f.fed && !f.halted && !f.startable() {
		// A helper has run up to what was taken just now, and ended, before the mutex
		// was had: the next take must see to it.
		f.starved.Store(true)
	}
	f.mu.Unlock()
	if more {
		f.recruit()
	}
}

// rouseFeeder wakes the feeder, if it sleeps.
func (f *flow[T, R]) rouseFeeder() {
	if f.filling {
		f.filling = false
		f.room <- struct{}{}
	}
}
