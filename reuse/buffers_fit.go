package reuse

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// fit learns which class of buffers to hand out: the least that would have done for all but a few
// of those that come back.
//
// It makes a histogram of the sizes that were needed, a window at a time. When more than 1 in 32
// needed more than the class has, it raises the class until that is not so; when no more than 1 in
// 64 would need more than a lower class has, it lowers the class to that; between the two the class
// stays, so that chance cannot move it to and fro. Looking for a percentile in a histogram of
// powers of two is the idea of valyala/bytebufferpool.
//
// Why a percentile: a class more costs memory of its size s for each buffer in use, and saves an
// array of 2s bytes, and a copy, each time that s would have been outgrown. So it pays if that is
// not rare, whatever s is.
type fit struct {
	// state is the class, with learning added while returns are counted. One word for both
	// lets PutBuffer see in one look that there is nothing to do. It is changed under mu.
	state atomic.Uint32

	_ [64]byte // what is above is read by all, what is below written often

	mu     sync.Mutex   // no goroutine waits for it
	counts [classes]int // of returns in this window, by the class that they needed
	seen   int          // their sum
	over   int          // those of them that needed more than the class
}

const (
	learning = 1 << 8 // in the state

	window   = 256 // counted returns after which the class is chosen anew
	few      = 32
	fewer    = 64
	sampling = 16
	bulky    = 10 // the class of 64 KiB
)

func (f *fit) class() int { return int(f.state.Load() &^ learning) }

// learn takes note of a return that needed a class, in a given state.
//
// To cost little, it counts nothing as long as all buffers that come back have needed exactly the
// class: there is nothing to learn. Otherwise it counts 1 in 16, chosen at random, so that a
// pattern in the load does not mislead it. Above 64 KiB it counts each: counting costs little
// compared with such work, and a wrong class costs much memory.
func (f *fit) learn(needed int, state uint32) {
	if state&learning == 0 {
		if int(state) != needed && f.mu.TryLock() {
			// This one is not counted: what it needed is the only reason to count it.
			if f.state.Load() == state {
				f.state.Store(state | learning)
			}
			f.mu.Unlock()
		}
		return
	}
	// At the first class each return is counted, too: fit begins there, knowing nothing.
	if class := state &^ learning; class > 0 && class <= bulky && rand.Uint32()%sampling != 0 {
		return
	}
	if !f.mu.TryLock() {
		return // another one is being counted
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
	// When the few of a whole window are exceeded, fit does not wait for its end.
	if f.seen < window && f.over <= window/few {
		return
	}
	raised := f.least(max(1, f.seen/few)) // one alone never counts
	lowered := f.least(f.seen / fewer)
	state := uint32(min(max(class, raised), lowered))
	if f.counts[class] < f.seen {
		state |= learning
	}
	f.state.Store(state)
	f.counts, f.seen, f.over = [classes]int{}, 0, 0
}

// least returns the least class that sufficed for all but at most so many.
func (f *fit) least(many int) int {
	class := classes - 1
	for above := f.counts[class]; class > 0 && above <= many; above += f.counts[class] {
		class--
	}
	return class
}
