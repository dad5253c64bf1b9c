package engine

import (
	"math"
	"sync/atomic"
)

// permits is one word that says what may run: the searching token, the number of active workers (running a
// task, or on their way to one) and the number of allowed ones. A task starts only on an active worker, and
// no worker becomes active beyond what is allowed: that is the promise of the limit.
//
//	bit 63     a worker is searching
//	bits 32…62 active
//	bits 0…31  allowed
type permits struct{ word atomic.Uint64 }

const (
	searchingBit = 1 << 63
	activeOne    = 1 << 32
	allowedMask  = 1<<32 - 1

	// maxAllowed stands for no limit: so many goroutines fit in no memory.
	maxAllowed = math.MaxInt32
)

func active(word uint64) uint64  { return word &^ searchingBit >> 32 }
func allowed(word uint64) uint64 { return word & allowedMask }

// wakeable reports whether a worker may be woken to search: none is searching
// already, and one more is allowed.
func wakeable(word uint64) bool {
	return word&searchingBit == 0 && active(word) < allowed(word)
}

// tryWake acquires the searching token, and a permit for the worker that the
// caller is about to wake.
func (p *permits) tryWake() bool {
	for {
		word := p.word.Load()
		if !wakeable(word) {
			return false
		}
		if p.word.CompareAndSwap(word, word+activeOne|searchingBit) {
			return true
		}
	}
}

// endSearch releases the searching token.
func (p *permits) endSearch() { p.word.And(^uint64(searchingBit)) }

// tryAcquire acquires a permit without the token, for a worker that is handed its task.
func (p *permits) tryAcquire() bool {
	for {
		word := p.word.Load()
		if active(word) >= allowed(word) {
			return false
		}
		if p.word.CompareAndSwap(word, word+activeOne) {
			return true
		}
	}
}

// acquire acquires a permit, even if no more are allowed.
func (p *permits) acquire() { p.word.Add(activeOne) }

// tryReacquire acquires a permit for a task that has begun already. It compares with limit, because a pause,
// which allows no permits, does not hold such a task.
func (p *permits) tryReacquire(limit int) bool {
	for {
		word := p.word.Load()
		if active(word) >= uint64(limit) {
			return false
		}
		if p.word.CompareAndSwap(word, word+activeOne) {
			return true
		}
	}
}

// release releases a permit, and the searching token if its holder had that too.
func (p *permits) release(searching bool) {
	delta := uint64(activeOne)
	if searching {
		delta += searchingBit
	}
	p.word.Add(-delta)
}

func (p *permits) allow(n int) {
	for {
		word := p.word.Load()
		if p.word.CompareAndSwap(word, word&^allowedMask|uint64(n)) {
			return
		}
	}
}

// none reports whether no permits are allowed.
func (p *permits) none() bool { return allowed(p.word.Load()) == 0 }

func (p *permits) active() int     { return int(active(p.word.Load())) }
func (p *permits) searching() bool { return p.word.Load()&searchingBit != 0 }
func (p *permits) wakeable() bool  { return wakeable(p.word.Load()) }

// over reports whether more workers are active than allowed.
func (p *permits) over() bool {
	word := p.word.Load()
	return active(word) > allowed(word)
}
