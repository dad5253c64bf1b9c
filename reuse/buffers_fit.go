package reuse

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// fit learns which class of buffers to hand out: the smallest class that is enough for all but a few of the
// buffers that come back.
//
// It makes a histogram of the needed sizes, one window at a time. If more than 1 in 32 needed more than the
// class has, it raises the class until that no longer holds. If at most 1 in 64 would need more than a lower
// class has, it lowers the class to that one. Between the two the class stays, so that chance does not move
// it back and forth. Finding a percentile in a histogram of powers of two is the idea of
// valyala/bytebufferpool.
//
// Why a percentile: one class more costs additional memory of its size s for each buffer in use. It saves an
// array of 2s bytes, and a copy, each time that a user would have outgrown s. So it pays if that is not rare,
// whatever s is.
type fit struct {
	// state is the class, plus learning while returns are counted. With both in one word, PutBuffer sees in
	// one load that there is nothing to do. It changes only while mu is held.
	state atomic.Uint32

	_ [64]byte // all goroutines read the fields above; the fields below are written often

	mu     sync.Mutex   // only taken by TryLock
	counts [classes]int // returns in this window, by the class that they needed
	seen   int          // the sum of counts
	over   int          // how many of them needed more than the class
}

const (
	learning = 1 << 8 // a bit of fit.state

	window   = 256 // counted returns after which fit chooses the class again
	few      = 32
	fewer    = 64
	sampling = 16
	bulky    = 10 // the class of 64 KiB
)

func (f *fit) class() int { return int(f.state.Load() &^ learning) }

// learn counts a return that needed the class needed, when state was read.
//
// To cost little, it counts nothing while all buffers that come back have needed exactly the class: there is
// nothing to learn. Otherwise it counts 1 in 16, chosen at random, so that a pattern in the load does not
// mislead it. Above 64 KiB it counts each return: counting costs little compared with such work, and a wrong
// class costs much memory.
func (f *fit) learn(needed int, state uint32) {
	if state&learning == 0 {
		if int(state) != needed && f.mu.TryLock() {
			// Do not count this return: only returns of another class come here, so counting it would be
			// biased.
			if f.state.Load() == state {
				f.state.Store(state | learning)
			}
			f.mu.Unlock()
		}
		return
	}
	// At class 0 each return is counted, too: fit starts there without any knowledge.
	if class := state &^ learning; class > 0 && class <= bulky && rand.Uint32()%sampling != 0 {
		return
	}
	if !f.mu.TryLock() {
		return // another goroutine counts a return
	}
	defer f.mu.Unlock()
	f.count(needed)
}

func (f *fit) count(needed int) {
	class := f.class()
	f.counts[needed]++
	f.seen++
	if needed > class {
		f.over++
	}
	// If over exceeds what a whole window allows, fit does not wait for the end of the window.
	if f.seen < window && f.over <= window/few {
		return
	}
	raised := f.least(max(1, f.seen/few)) // a single return never raises the class
	lowered := f.least(f.seen / fewer)
	state := uint32(min(max(class, raised), lowered))
	if f.counts[class] < f.seen {
		state |= learning
	}
	f.state.Store(state)
	f.counts, f.seen, f.over = [classes]int{}, 0, 0
}

// least returns the smallest class that was enough for all but at most many returns.
func (f *fit) least(many int) int {
	class := classes - 1
	for above := f.counts[class]; class > 0 && above <= many; above += f.counts[class] {
		class--
	}
	return class
}
