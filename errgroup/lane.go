package errgroup

import (
	"runtime"
	"sync/atomic"
)

const (
	// before is how many functions of a group get a goroutine each before there is a
	// ring. Most groups have no more, and a ring costs as much as some goroutines.
	before = 16

	// many is how many functions left in a ring call for a second goroutine beside
	// the one that searches next.
	many = 4
)

// lane is the way from Go to a goroutine. A group has one for functions without
// limit, and one for each limit that it is given. What comes in by one lane never
// meets what comes in by another.
//
// These rules keep every function from waiting for another to end:
//
//  1. A function is put into a ring only while somebody searches that. If nobody
//     does, Go starts a goroutine for it, which is then searching.
//  2. Whoever finds a function while searching gives that up, and starts a successor
//     if anything was left at that moment. Only then it runs the function.
//  3. Whoever searches in vain gives that up only at a moment when nothing is in the
//     ring, and ends.
//
// So a goroutine that is not searching may run any function, or end. And
// goroutines are started either by Go, whose function is not yet active, or by other
// goroutines of the group: a WaitGroup that counts goroutines is joined only
// when one that counts functions might be.
//
// Nobody waits by giving way with runtime.Gosched, which is cheap only while
// processors are idle: else one stands behind all that want to run, for tens
// of milliseconds if those compute, and with the one who searches stands
// every function in the ring. Those who are blocked and woken, and goroutines
// that have just been started, are let in at the front.
type lane struct {
	ring  atomic.Pointer[ring] // nil at first, and when a large one is empty
	limit *limit               // nil if there is none
}

// add sees to it that f, which counts under the limit already, is run.
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
			// Whoever searches the one that was full goes on with that.
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

// search is what a goroutine does that was started to search.
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
		runtime.Gosched() // somebody has been interrupted while putting a function into its slot
	}
}

// work is what a goroutine does that is not searching: f, then whatever takes its
// place under the limit, or is in the ring.
func (g *Group) work(l *lane, r *ring, f func() error) {
	over := false
	defer func() {
		if !over {
			if panicking() {
				return // nobody is told while the program ends
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

// leave ends a function. It returns the one that takes its place, if one was
// waiting for that.
func (l *lane) leave() func() error {
	if l == nil || l.limit == nil {
		return nil
	}
	return l.limit.leave()
}

// panicking reports whether the deferred function that calls it runs because of a
// panic, and not because of runtime.Goexit. To recover would tell as well, but the
// program would then end with another message. Should the runtime ever
// name this function otherwise, a panic is like Goexit until the program ends.
func panicking() bool {
	var caller [1]uintptr
	runtime.Callers(3, caller[:]) // after Callers, this, and the deferred function
	frame, _ := runtime.CallersFrames(caller[:]).Next()
	return frame.Function == "runtime.gopanic"
}
