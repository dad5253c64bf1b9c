// Package feed passes finished results from tasks to one loop over them.
package feed

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
)

// Feed passes results to a loop that reads them. Init must be called first. Without a loop, Finish costs one
// store and one load.
//
// Finish first marks the result as finished, and then checks whether a loop watches; the loop does the
// opposite. So the loop finds the result, or the result is announced.
//
// The batch of the tasks must not end while the loop has results to handle, as the loop may submit more
// tasks. So the task that announces the first result holds the batch for the loop. It can do so because it
// has not been counted out itself.
type Feed[M any] struct {
	tally   *engine.Tally
	item    func(m *M) *Item[M]
	watched atomic.Bool
	newest  atomic.Pointer[M] // announced and not yet taken by the loop
	held    bool              // only the loop uses it: the loop holds the batch
}

// Item is the part of a result that the feed uses.
type Item[M any] struct {
	next     *M          // the next announced result
	finished atomic.Bool // the result is final, and belongs to the loop
	Taken    bool        // for the loop's own use; here it costs no memory
}

// Init makes a feed of results that belong to a tally. item returns the Item of a result.
func (f *Feed[M]) Init(tally *engine.Tally, item func(m *M) *Item[M]) { f.tally, f.item = tally, item }

// Watch begins a loop. held says whether the loop already holds the tally. Results that finished before Watch
// are not announced.
func (f *Feed[M]) Watch(held bool) {
	f.held = held
	f.watched.Store(true)
}

// Finished reports whether a result is final.
func (i *Item[M]) Finished() bool { return i.finished.Load() }

// Finish makes m, whose Item is i, final, and reports whether the caller must wake the loop. The task of m
// must not have been counted out.
func (f *Feed[M]) Finish(m *M, i *Item[M]) (wake bool) {
	i.finished.Store(true)
	if !f.watched.Load() {
		return false
	}
	return f.announce(m, i)
}

func (f *Feed[M]) announce(m *M, i *Item[M]) (wake bool) {
	held := false
	for {
		first := f.newest.Load()
		if first == nil && !held {
			f.tally.Hold()
			held = true
		}
		i.next = first
		if !f.newest.CompareAndSwap(first, m) {
			continue
		}
		if first != nil && held {
			f.tally.Leave(0) // which never reports that the batch is over: the task at hand has not been counted out
		}
		return first == nil // then the hold is the loop's now
	}
}

// Next returns the oldest of the results that were announced since the last call; After returns the others.
// If there are none, Next returns nil, and the loop no longer holds the tally. tell says that the waiter of
// the tally must look again.
func (f *Feed[M]) Next() (m *M, tell bool) {
	newest := f.newest.Swap(nil)
	tell = f.Release()
	f.held = newest != nil
	return f.reversed(newest), tell
}

// Release ends the loop's hold, if it has one. It reports whether the waiter of the tally must look again.
func (f *Feed[M]) Release() (tell bool) {
	if !f.held {
		return false
	}
	f.held = false
	return f.tally.Leave(0)
}

// After returns the result that was announced after m, or nil if m is the last that the latest Next took.
func (f *Feed[M]) After(m *M) *M { return f.item(m).next }

// reversed reverses a list, so that the oldest result comes first.
func (f *Feed[M]) reversed(m *M) *M {
	var before *M
	for m != nil {
		i := f.item(m)
		i.next, before, m = before, m, i.next
	}
	return before
}
