package par

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
	"github.com/64ed045f/weir/internal/share"
)

// flow is one run of a stream. Items are numbered from 0 in the order of the source, and so are the places
// for results. In an ordered stream the result of an item gets the place with the item's number; in an
// unordered stream it gets the next place when the item is finished.
//
//	taken ≤ front ≤ next ≤ fed   results from taken up to front are ready
//	next ≤ taken + ahead         items from next up to fed have not begun
//
// For a source that is not a slice, fed ≤ taken + ahead holds, too.
//
// A helper runs as long as it finds items that may begin, and then ends: idle helpers would hold workers of a
// pool. The goroutine that makes an item available starts a helper, unless another helper is coming: that
// helper will check whether more are needed.
type flow[T, R any] struct {
	options
	fn    func(context.Context, T) (R, error)
	items []T // the items of a slice; those of other sources are in queue
	from  pull[T]
	calls *racedCalls // nil without the race detector

	singly bool // a helper runs one item, and asks for another helper then

	callers context.Context // the parent of ctx; may end a moment before ctx does
	ctx     context.Context
	cancel  context.CancelCauseFunc
	helpers taskGroup
	feeder  taskGroup // nil for a slice
	helper  func(context.Context) error
	task    inside.Task   // the consumer, if it is a task and the stream runs on a pool; else nil
	wake    chan struct{} // wakes the consumer
	room    chan struct{} // wakes the feeder

	window share.Window[int] // what the consumer has taken, and how far helpers and the feeder may be ahead

	shown slots[outcome[R]] // where the consumer finds ready results; only the consumer uses it

	// mu guards the fields below. The engine's lock may be taken while mu is held (in rouse), never the other
	// way round. The methods startable, understaffed, rouse, rouseFeeder, newStay, claim, mayBegin, complete,
	// enqueue and full need mu held; recruit must not be called with mu held.
	mu      sync.Mutex
	queue   slots[entry[T]]
	results slots[outcome[R]]
	handed  int // results before it are ready, and the consumer takes them without the lock
	front   int
	next    int
	fed     int
	ended   bool        // fed is final
	halted  bool        // no more items may begin
	broken  bool        // helpers or feeder will panic in Wait
	waiting bool        // the consumer sleeps
	stay    inside.Stay // the stay of a sleeping consumer that is a task, or nil
	filling bool        // the feeder sleeps
	active  int         // helpers that have not ended
	coming  bool        // one active helper has not begun
	alone   bool        // the consumer waits for the only helper to end
	refused error       // why the helper that was lost last did not run
}

// maxAhead bounds how far a stream may be ahead. It is far below the largest item number.
const maxAhead = 1 << 30

// entry is an item, or an error instead of one.
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
	f.window.Init(f.ahead)
	f.singly = f.paced(ctx)
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	f.helpers = o.newHelpers(f.ctx, f.cancel, f.lose)
	f.helper = f.help
	if f.pool != nil {
		f.task = taskOf(ctx) // now: the context may be of a type of the program's own, which mu must not wait for
	}
	f.wake = make(chan struct{}, 1)
	if from != nil {
		f.room = make(chan struct{}, 1)
		f.feeder = o.newFeeder(f.ctx, f.cancel)
	}
	if race.Enabled {
		f.calls = newRacedCalls(&f.options)
		f.calls.start.Pasts[1] = new(race.Past) // what the feeder has offered
	}
	return f
}

// start starts to read the source. Helpers start with the first items, or when the consumer waits.
func (f *flow[T, R]) start() {
	if f.feeder != nil {
		f.feeder.Go(f.feed)
	}
}

// startable reports whether there is an item that may begin.
func (f *flow[T, R]) startable() bool {
	return !f.halted && f.next < f.fed && f.window.Admits(f.next)
}

// understaffed reports whether to ask for a helper. If so it counts that helper, and the caller must call
// recruit. If a helper could work only after the consumer has taken more results, the consumer asks again
// then.
func (f *flow[T, R]) understaffed() bool {
	if f.coming || f.alone || f.active == f.limit || !f.mayBegin() {
		return false
	}
	f.active++
	f.coming = true
	return true
}

// recruit starts a helper, without waiting for room in the pool. It must not be called with mu held.
func (f *flow[T, R]) recruit() {
	if !f.helpers.TryGo(f.helper) {
		f.lose(nil)
	}
}

// lose discounts the helper that was coming. The pool had no room for it, or has handed it back: on Shutdown,
// or because it expired. If it expired while no other helper runs, the pool is too slow for the stream, and
// lose cancels the stream.
func (f *flow[T, R]) lose(why error) {
	f.mu.Lock()
	f.active--
	f.coming = false
	f.refused = why
	last := f.active == 0
	if last {
		f.rouse(nil) // only the consumer waits for room
	}
	f.mu.Unlock()
	if last && errors.Is(why, weir.ErrExpired) {
		f.cancel(why)
	}
}

// rouse wakes the consumer, if it sleeps. It reports whether the consumer is a task that has got the place of
// by, a helper. In that case the helper must end.
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

// newStay returns the stay for the next sleep of the consumer, or nil unless the consumer is a task and the
// stream runs on a pool.
func (f *flow[T, R]) newStay() inside.Stay {
	if f.task == nil {
		return nil
	}
	return f.task.Stay(f.helpers, f.feeder)
}

// taskOf returns the task whose context ctx comes from, or nil.
func taskOf(ctx context.Context) inside.Task {
	task, _ := ctx.Value(inside.TaskKey{}).(inside.Task)
	return task
}

// isOver reports whether the context has ended. One of the program's own may not have told that of the stream yet.
func (f *flow[T, R]) isOver() bool { return f.ctx.Err() != nil || f.callers.Err() != nil }

// await waits for results, and returns how many are ready. It returns 0 if the stream is over, cancelled or
// broken.
func (f *flow[T, R]) await() int {
	asked := false
	for !f.isOver() {
		f.mu.Lock()
		taken := f.window.Taken()
		switch {
		case f.broken || f.ended && taken == f.fed:
			f.mu.Unlock()
			return 0
		case f.front > taken:
			ready := f.front - taken
			f.shown, f.handed = f.results, f.front
			f.mu.Unlock()
			if f.isOver() {
				return 0 // a call that saw the end of the context may have given up half-way
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

// runAlone is called if the pool had no room for a helper and no helper runs. It waits for room for one
// helper, and then until that helper has a result.
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
	taken := f.window.Taken()
	place := f.shown.at(taken)
	result := *place
	*place = outcome[R]{} // the place may be used again, and must not keep the value alive
	if f.window.Take(taken + 1) {
		f.relieve()
	}
	return result
}

// relieve lets the feeder and helpers go on that have stopped because too few results were taken.
func (f *flow[T, R]) relieve() {
	f.mu.Lock()
	f.window.Lower()
	f.rouseFeeder()
	more := f.understaffed()
	if f.next < f.fed && !f.halted && !f.startable() {
		// Before this goroutine got the mutex, a helper used up the room of the result taken just now, and
		// ended: the next take must call relieve again.
		f.window.Raise()
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
