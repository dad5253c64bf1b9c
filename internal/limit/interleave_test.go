package limit_test

import (
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/internal/limit"
	"github.com/64ed045f/weir/internal/step"
)

// Each scene is a program whose interleavings the explorer goes through. Here they run with the real
// scheduler, a few times each.
func TestInterleavings(t *testing.T) { step.Test(t, scenes...) }

var scenes = []step.Scene{
	scene("a waiter joins while the holder releases", 1, func(h *hall) {
		h.enter()
		h.Go("waiter", h.waits)
		h.release()
	}),
	scene("two waiters join while two holders release", 2, func(h *hall) {
		h.enter()
		h.enter()
		h.Go("waiter", h.waits)
		h.Go("other waiter", h.waits)
		h.Go("holder", h.release)
		h.release()
	}),
	scene("newcomers come while a waiter is served", 1, func(h *hall) {
		h.enter()
		h.Go("waiter", h.waits)
		h.Go("newcomer", h.tries)
		h.release()
		h.tries()
	}),
	scene("a waiter withdraws while the holder releases", 1, func(h *hall) {
		h.enter()
		h.Go("waiter", func() { h.withdraws(h.join()) })
		h.release()
		h.tries()
	}),
	scene("the first of two waiters withdraws while the holder releases", 1, func(h *hall) {
		h.enter()
		h.Go("first", func() { h.withdraws(h.join()) })
		h.Go("second", h.waits)
		h.release()
	}),
	scene("the limit rises while a waiter joins", 1, func(h *hall) {
		h.enter()
		h.Go("waiter", h.waits)
		h.resize(2)
		h.Join()
		h.release()
	}),
	scene("the limit rises beyond the queue", 1, func(h *hall) {
		h.enter()
		h.Go("waiter", h.waits)
		h.Go("other waiter", h.waits)
		h.resize(4)
		h.release()
	}),
	scene("the limit falls while a waiter is served", 2, func(h *hall) {
		h.enter()
		h.enter()
		h.Go("waiter", h.waits)
		h.Go("holder", h.release)
		h.resize(1)
		h.release()
	}),
	scene("the limit falls below the holders while two waiters are served", 2, func(h *hall) {
		h.enter()
		h.enter()
		h.Go("waiter", h.waits)
		h.Go("other waiter", h.waits)
		h.Go("holder", h.release)
		h.resize(1)
		h.release()
	}),
	scene("the limit falls and rises while a waiter is served", 2, func(h *hall) {
		h.enter()
		h.enter()
		h.Go("waiter", h.waits)
		h.Go("holder", h.release)
		h.resize(1)
		h.resize(3)
		h.release()
	}),
	scene("several places are released at once", 3, func(h *hall) {
		h.enter()
		h.enter()
		h.enter()
		h.Go("waiter", h.waits)
		h.Go("other waiter", h.waits)
		h.releases(2)
		h.release()
	}),
	scene("two waiters are served in their order", 1, func(h *hall) {
		h.enter()
		first, second := h.join(), h.join()
		h.Go("second", func() { h.goesOn(second) })
		h.Go("first", func() { h.goesOn(first) })
		h.release()
		h.Join()
		h.Check(h.served[0] == first.Value, "the second waiter is served first")
	}),
	scene("a waiter that waits again is the first", 2, func(h *hall) {
		h.enter()
		h.enter()
		first, second := h.join(), h.join()
		h.Go("second", func() { h.goesOn(second) })
		h.Go("first", func() { h.goesOn(first) })
		h.release() // serves the first
		h.resize(1)
		h.release()
		h.Join()
		h.Check(h.served[len(h.served)-1] == second.Value, "the second waiter has overtaken the first")
	}),
	scene("a blocked caller joins while the holder releases", 1, func(h *hall) {
		h.enter()
		h.Go("caller", h.acquires)
		h.Go("other caller", h.acquires)
		h.hands()
	}),
	scene("two waiters that need each other get places released at once", 2, func(h *hall) {
		h.enter()
		h.enter()
		one, other := make(chan struct{}), make(chan struct{})
		meets := func(w *limit.Waiter[*guest], mine, others chan struct{}) func() {
			return func() {
				h.takesPlace(w)
				close(mine)
				<-others
				h.release()
			}
		}
		h.Go("one", meets(h.join(), one, other))
		h.Go("other", meets(h.join(), other, one))
		h.releases(2)
	}),
	scene("two holders hand over while two callers come", 2, func(h *hall) {
		h.enter()
		h.enter()
		h.Go("caller", h.acquires)
		h.Go("other caller", h.acquires)
		h.Go("holder", h.hands)
		h.hands()
	}),
}

// hall is a limit with books about its holders.
type hall struct {
	*step.Run
	limit  limit.Limit[*guest]
	most   atomic.Int64 // the limit
	inside atomic.Int64 // holders that know it
	joined atomic.Int64 // guests that have joined the queue
	left   atomic.Int64 // guests that have left it
	served []*guest     // in their order; under the lock of the limit
}

// guest is a caller that waits.
type guest struct {
	turn chan struct{} // nil for one that blocks in Acquire
}

func scene(name string, most int, body func(h *hall)) step.Scene {
	return step.Scene{Name: name, Quick: 2, Deep: 3, Free: 2, Body: func(r *step.Run) {
		h := &hall{Run: r}
		h.limit.Init(most)
		h.most.Store(int64(most))
		body(h)
		h.Join()
		h.Quietly(func() {
			h.Check(h.inside.Load() == 0, "%d holders are left", h.inside.Load())
			h.Check(h.limit.Waiting() == 0, "%d waiters are left", h.limit.Waiting())
			h.Check(h.limit.Holders() == 0, "the limit counts %d holders", h.limit.Holders())
			for range h.most.Load() {
				h.Check(h.limit.TryAcquire(), "a place is lost")
			}
			h.Check(!h.limit.TryAcquire(), "there is a place too many")
		})
	}}
}

// comes notes a holder. Before it asked for a place the limit was most.
func (h *hall) comes(most int64) {
	most = max(most, h.most.Load())
	n := h.inside.Add(1)
	h.Check(n <= most, "%d hold a limit of %d", n, most)
}

func (h *hall) enter() {
	h.Check(h.limit.TryAcquire(), "no room")
	h.comes(h.most.Load())
}

// tries is a newcomer: it must not overtake a waiter that has joined before.
func (h *hall) tries() {
	joined, most := h.joined.Load(), h.most.Load()
	if !h.limit.TryAcquire() {
		return
	}
	h.Check(h.left.Load() >= joined, "a newcomer has overtaken a waiter")
	h.comes(most)
	h.release()
}

// join returns a waiter in the queue; nil if there was room.
func (h *hall) join() *limit.Waiter[*guest] {
	most := h.most.Load()
	w := h.limit.Waiter()
	w.Value = &guest{turn: make(chan struct{}, 1)}
	if h.limit.Join(w) {
		h.comes(most)
		return nil
	}
	h.joined.Add(1)
	return w
}

// waits is a caller that waits for a place, and leaves it.
func (h *hall) waits() {
	if w := h.join(); w != nil {
		h.goesOn(w)
		return
	}
	h.release()
}

// goesOn waits for the place of w, and leaves it.
func (h *hall) goesOn(w *limit.Waiter[*guest]) {
	h.takesPlace(w)
	h.release()
}

// takesPlace waits for the place of w.
func (h *hall) takesPlace(w *limit.Waiter[*guest]) {
	for {
		<-w.Value.turn
		most := h.most.Load()
		if h.limit.Granted(w) {
			h.comes(most)
			break
		}
		h.left.Add(-1)
	}
	h.limit.Recycle(w)
}

// withdraws is a waiter that has no time.
func (h *hall) withdraws(w *limit.Waiter[*guest]) {
	if w != nil {
		h.left.Add(1) // from the next step on a newcomer may come
		if !h.limit.Withdraw(w) {
			return
		}
		h.left.Add(-1)
		h.inside.Add(1)
	}
	h.release()
}

// acquires is a caller that blocks. The goroutine that serves it runs what it came for: a step in its place.
func (h *hall) acquires() {
	g, most := new(guest), h.most.Load()
	if h.limit.Acquire(g) {
		h.comes(most)
		h.hands()
	}
}

// hands is a holder that hands its place over, and acts for the new holder, until there is no other one.
func (h *hall) hands() {
	for again := true; again; {
		h.inside.Add(-1)
		again = false
		h.limit.Release(1, func(w *limit.Waiter[*guest]) {
			h.Check(!again, "two callers are served by one")
			again = true
			h.grant(w)
		})
		if again {
			h.comes(h.most.Load())
		}
	}
}

func (h *hall) release() { h.releases(1) }

func (h *hall) releases(n int) {
	h.inside.Add(int64(-n))
	h.limit.Release(n, h.grant)
}

// grant notifies a waiter.
func (h *hall) grant(w *limit.Waiter[*guest]) {
	h.served = append(h.served, w.Value)
	h.left.Add(1)
	if w.Value.turn != nil {
		w.Value.turn <- struct{}{}
	}
}

// resize changes the limit. What begins before it returns may go by the old one.
func (h *hall) resize(n int) {
	if int64(n) > h.most.Load() {
		h.most.Store(int64(n))
	}
	h.limit.Resize(n, h.grant)
	h.most.Store(int64(n))
}
