// Package lane runs functions on few goroutines, as package errgroup promises: no function waits for another
// one to end, and when all functions have ended no goroutines are left. Package errgroup is its public API,
// and describes how it works.
package lane

import (
	"runtime"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/limit"
)

const (
	// before is how many functions of a group each get a goroutine before there is a ring. Most groups have
	// no more functions, and a ring costs as much as some goroutines.
	before = 16

	// many is how many functions must be left in a ring to start a second goroutine in addition to the one
	// that searches next.
	many = 4
)

// lane is the way from Go to a goroutine. A group has a lane for functions without a limit, and a new lane
// for each limit that is set. A function never leaves its lane.
//
// These rules ensure that no function waits for another to end:
//
//  1. Go puts a function into a ring only while a goroutine searches that ring. If none does, Go starts a
//     goroutine for the function, and this goroutine is then searching.
//  2. A goroutine that finds a function while searching ends its search, and starts a successor if anything
//     was left at that moment. Only then it runs the function.
//  3. A goroutine that finds nothing ends its search, and itself, only at a moment when the ring is empty.
//
// So a goroutine that is not searching may run any function, or end. Goroutines are started either by Go,
// whose function is not yet active, or by other goroutines of the group. So adding to a WaitGroup that counts
// goroutines is safe whenever adding to one that counts functions would be.
//
// No goroutine waits for a function by spinning with runtime.Gosched, which is cheap only while processors
// are idle. Otherwise the goroutine waits behind all runnable goroutines, for tens of milliseconds if those
// compute, and every function in the ring waits with a goroutine that searches. The scheduler runs goroutines
// first that were blocked, or have just been started.
type lane struct {
	ring  atomic.Pointer[ring]       // nil at first, and when a large one is empty
	limit *limit.Limit[func() error] // nil if there is none; the value of a waiter is the function that it wants to run
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

// add makes f run; the limit already counts f.
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
			// One caller makes the next ring: a large one takes so long that others would each make theirs meanwhile.
			if !r.grows.CompareAndSwap(false, true) {
				g.start(l, f)
				return
			}
			// The goroutine that searches the full ring goes on to search that ring.
			l.ring.CompareAndSwap(r, newRing(l, growth*len(r.slots)))
		}
	}
}

// start starts a goroutine for f alone.
func (g *Group) start(l *lane, f func() error) {
	g.goroutines.Add(1)
	go func() { g.work(l, nil, f) }()
}

// found ends a search, before the goroutine runs the function that it has found.
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
		// The second goroutine moves the first from the processor's runnext slot to its run queue. Other
		// processors steal from the run queue at once, but from runnext only after a while.
		g.goroutines.Add(1)
		go func() { g.work(r.lane, r, r.pop(false)) }()
	}
}

// search is the body of a goroutine that was started to search.
func (g *Group) search(r *ring) {
	for {
		if f := r.pop(true); f != nil {
			g.found(r)
			g.work(r.lane, r, f)
			return
		}
		if r.giveUp() {
			r.forget()
			g.goroutines.Done()
			return
		}
		runtime.Gosched() // a producer was preempted while it put a function into its slot
	}
}

// work is the body of a goroutine that is not searching. It runs f, and then each function that takes the
// place of f under the limit, or that is in the ring.
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
			f = r.pop(false)
		}
	}
	over = true
}

// leave ends a function. It returns the waiting function that takes its place, or nil if none waits.
func (l *lane) leave() (next func() error) {
	if l == nil || l.limit == nil {
		return nil
	}
	l.limit.Release(1, func(w *limit.Waiter[func() error]) { next = w.Value })
	return next
}

// panicking reports whether the deferred function that calls it runs because of a panic, and not because of
// runtime.Goexit. recover would show it, too, but the program would then end with another message. If a later
// runtime names this function differently, a panic is treated like Goexit until the program ends.
func panicking() bool {
	var caller [1]uintptr
	runtime.Callers(3, caller[:]) // skip Callers, panicking, and the deferred function
	frame, _ := runtime.CallersFrames(caller[:]).Next()
	return frame.Function == "runtime.gopanic"
}
