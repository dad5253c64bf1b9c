package lane

import (
	"math/bits"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/backoff"
)

const (
	// A lane's rings grow: a larger ring follows a full one, so that there is room for whatever Go brings
	// before a processor is free for it. A lane does not keep a large ring that is empty.
	firstRing = 16
	growth    = 4
	keptRing  = 1024

	// searched is set in ring.tail while a goroutine will look at the ring. Positions never reach it.
	searched = 1 << 63

	cacheLine = 64
	wordSize  = bits.UintSize / 8
)

// ring is a bounded FIFO of functions for any number of producers and consumers. It is Dmitry Vyukov's
// bounded MPMC queue with one addition, the bit searched.
//
// The function at position n, counted from 0, is in slot n&mask, in lap n>>shift. The turn of a slot says
// which call may use the slot: 2*lap means the push of that lap, 2*lap+1 the pop.
//
// The bit searched is in the word that a push must exchange. So a goroutine that clears the bit knows of
// every function that was pushed before, and no function is pushed afterwards until the bit is set again.
type ring struct {
	lane  *lane
	slots []slot
	mask  uint64
	shift uint
	grows atomic.Bool // a goroutine makes the ring that follows

	_    [(2*cacheLine - 5*wordSize - 12) % cacheLine]byte // only producers write tail, only consumers head; the rest stays
	tail atomic.Uint64                                     // a position, and the bit searched
	_    [cacheLine - 8]byte
	head atomic.Uint64
	_    [cacheLine - 8]byte
}

type slot struct {
	turn atomic.Uint64
	f    func() error
}

// newRing returns a ring for size functions, a power of 2.
func newRing(l *lane, size int) *ring {
	r := new(ring)
	r.init(l, make([]slot, size))
	return r
}

// newFirstRing returns the first ring of a lane, in a single allocation.
func newFirstRing(l *lane) *ring {
	r := new(struct {
		ring
		slots [firstRing]slot
	})
	r.init(l, r.slots[:])
	return &r.ring
}

func (r *ring) init(l *lane, slots []slot) {
	r.lane, r.slots = l, slots
	r.mask = uint64(len(slots) - 1)
	r.shift = uint(bits.TrailingZeros(uint(len(slots))))
}

type verdict uint8

const (
	pushed verdict = iota
	full           // or nearly full: a consumer has not yet left the slot
	yours          // no goroutine searched: now the caller does
)

// push adds f if a goroutine searches and there is room.
func (r *ring) push(f func() error) verdict {
	for losses := uint(0); ; {
		t := r.tail.Load()
		if t&searched == 0 {
			if r.tail.CompareAndSwap(t, t|searched) {
				return yours
			}
			continue
		}
		n := t &^ searched
		s, lap := &r.slots[n&r.mask], n>>r.shift
		switch turn := s.turn.Load(); {
		case turn == 2*lap:
			if r.tail.CompareAndSwap(t, t+1) {
				s.f = f
				s.turn.Store(2*lap + 1)
				return pushed
			}
			losses = backoff.Lost(losses)
		case turn < 2*lap:
			return full
		}
	}
}

// pop takes the oldest function. It returns nil if there is none, or if its producer has not yet stored it in
// its slot. A goroutine that searches does not pause if others are faster: the functions that are pushed
// meanwhile have no other goroutine.
func (r *ring) pop(searching bool) func() error {
	for losses := uint(0); ; {
		n := r.head.Load()
		s, lap := &r.slots[n&r.mask], n>>r.shift
		switch turn := s.turn.Load(); {
		case turn == 2*lap+1:
			if r.head.CompareAndSwap(n, n+1) {
				f := s.f
				s.f = nil // the ring must not keep f alive
				s.turn.Store(2*lap + 2)
				return f
			}
			if !searching {
				losses = backoff.Lost(losses)
			}
		case turn <= 2*lap:
			return nil
		}
	}
}

// search makes the caller the goroutine that searches. It returns false if another goroutine searches.
func (r *ring) search() bool {
	for {
		t := r.tail.Load()
		if t&searched != 0 {
			return false
		}
		if r.tail.CompareAndSwap(t, t|searched) {
			return true
		}
	}
}

// found ends the caller's search. It returns how many functions were in the ring at that moment and have not
// been taken yet. The result may be below 0.
func (r *ring) found() int {
	t := r.tail.And(^uint64(searched)) &^ searched
	return int(int64(t - r.head.Load()))
}

// giveUp ends the caller's search, unless there is a function in the ring.
func (r *ring) giveUp() bool {
	t := r.tail.Load()
	return t&^searched == r.head.Load() && r.tail.CompareAndSwap(t, t&^searched)
}

// forget removes a large, empty ring from its lane. A producer that still puts a function into the ring must
// search it, as always.
func (r *ring) forget() {
	if len(r.slots) > keptRing {
		r.lane.ring.CompareAndSwap(r, nil)
	}
}
