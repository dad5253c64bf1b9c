// Package lane runs functions on few goroutines, as package errgroup promises: no function waits for another one to end,
// and when all functions have ended there are no goroutines left. Package errgroup is its public face, and
// describes how it works.
package lane

import (
	"runtime"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/limit"
)

const (
	// before is how many functions of a group get a goroutine each before there is a
	// ring. Most groups have no more, and a ring costs as much as some goroutines.
	before = 16

	// many is how many functions left in a ring call for a second goroutine in addition
	// to the one that searches next.
	many = 4
)

// lane is the way from Go to a goroutine. A group has one for functions without
// limit, and one for each limit that it is given. A function never leaves its lane.
//
// These rules keep every function from waiting for another to end:
//
//  1. Go puts a function into a ring only while a goroutine searches that ring. If none
//     does, Go starts a goroutine for the function, which is then searching.
//  2. A goroutine that finds a function while searching ends its search, and starts a successor
//     if anything was left at that moment. Only then it runs the function.
//  3. A goroutine that searches in vain ends its search, and itself, only at a moment when
//     the ring is empty.
//
// So a goroutine that is not searching may run any function, or end. Goroutines
// are started either by Go, whose function is not yet active, or by other
// goroutines of the group: a WaitGroup that counts goroutines is joined only
// when one that counts functions might be.
//
// No goroutine waits by giving way with runtime.Gosched, which is cheap only while
// processors are idle: otherwise it waits behind all that want to run, for tens
// of milliseconds if those compute, and every function in the ring waits with a
// goroutine that searches. The scheduler lets goroutines that were blocked, or have just been started, in at the
// front.
type lane struct {
	ring  atomic.Pointer[ring]       // nil at first, and when a large one is empty
	limit *limit.Limit[func() error] // nil if there is none; waiters have the functions that they want to run
}

// newLimited returns a lane with a limit of n.
func newLimited(n int) *lane {
	l := new(struct {
		lane
		under limit.Limit[func() error]
	})
	l.under.Init(n)
	l.limit = &l.under
	return &l.lane
}

// add has f run, which counts under the limit already.
func (g *Group) add(l *lane, f func() error) {
	for {
		var r *ring
		if l != nil {
			r = l.ring.Load()
		}
		if r == nil {
			if g.begun.Load() < before && g.begun.Add(1) <= before {
				g.start(l, f)
				return
			}
			if l == nil {
				g.lane.CompareAndSwap(nil, new(lane))
				l = g.lane.Load()
			}
			l.ring.CompareAndSwap(nil, newFirstRing(l))
			continue
		}
		switch r.push(f) {
		case pushed:
			return
		case yours:
			g.goroutines.Add(1)
			go func() {
				g.found(r)
				g.work(r.lane, r, f)
			}()
			return
		case full:
			// The goroutine that searches the full ring goes on with that one.
			l.ring.CompareAndSwap(r, newRing(l, growth*len(r.slots)))
		}
	}
}

// start starts a goroutine for f alone.
func (g *Group) start(l *lane, f func() error) {
	g.goroutines.Add(1)
	go func() { g.work(l, nil, f) }()
}

// found ends a search, before the function that was found is run.
func (g *Group) found(r *ring) {
	left := r.found()
	if left <= 0 {
		r.forget()
		return
	}
	if !r.search() {
		return
	}
	g.goroutines.Add(1)
	go g.search(r)
	if left >= many {
		// Other processors take a goroutine at once from where this one sends the
		// first to, but only after a while from where the last one stands.
		g.goroutines.Add(1)
		go func() { g.work(r.lane, r, r.pop()) }()
	}
}

// search is what a goroutine that was started to search does.
func (g *Group) search(r *ring) {
	for {
		if f := r.pop(); f != nil {
			g.found(r)
			g.work(r.lane, r, f)
			return
		}
		if r.giveUp() {
			r.forget()
			g.goroutines.Done()
			return
		}
		runtime.Gosched() // a producer was interrupted while it put a function into its slot
	}
}

// work is what a goroutine that is not searching does: it runs f, then whatever takes the place of f
// under the limit, or is in the ring.
func (g *Group) work(l *lane, r *ring, f func() error) {
	over := false
	defer func() {
		if !over {
			if panicking() {
				return // while the program ends, Wait does not return
			}
			if next := l.leave(); next != nil {
				g.start(l, next)
			}
		}
		g.goroutines.Done()
	}()
	for f != nil {
		if err := f(); err != nil {
			g.fail(err)
		}
		f = l.leave()
		if f == nil && r != nil {
			f = r.pop()
		}
	}
	over = true
}

// leave ends a function. It returns the one that takes its place, if one waits for
// that.
func (l *lane) leave() (next func() error) {
	if l == nil || l.limit == nil {
		return nil
	}
	l.limit.Release(1, func(w *limit.Waiter[func() error]) { next = w.Value })
	return next
}

// panicking reports whether the deferred function that calls it runs because of a
// panic, and not because of runtime.Goexit. To recover would show it, too, but the
// program would then end with another message. Should the runtime ever
// name this function otherwise, a panic is like Goexit until the program ends.
func panicking() bool {
	var caller [1]uintptr
	runtime.Callers(3, caller[:]) // after Callers, this, and the deferred function
	frame, _ := runtime.CallersFrames(caller[:]).Next()
	return frame.Function == "runtime.gopanic"
}
