package engine

import (
	"math/bits"
	"sync/atomic"
)

// Flags in the two position words of a ring. Positions never reach them: at a
// task a nanosecond, bit 62 is at least 73 years away.
const (
	gate    = 1 << 63 // only the holder of Engine.mu may move this position
	retired = 1 << 62 // tail only: nothing is ever added to this ring again
)

// cacheLine keeps words that different cores write apart. Intel's adjacent-line
// prefetcher moves lines in pairs, hence two of them.
const cacheLine = 128

type outcome uint8

const (
	moved     outcome = iota // the task is in, or out
	none                     // push: no slot is free; pop: no task is ready
	barred                   // gated or retired: go the slow way
	unsettled                // a goroutine is half-way through a slot: try again
)

// ring is a bounded multi-producer multi-consumer FIFO: Dmitry Vyukov's queue,
// with the laps of crossbeam's ArrayQueue so that any capacity from 1 up is
// exact. A position is lap<<shift | index. The stamp of a slot tells whose turn
// it is: equal to a position, the slot is free for the push at it; one
// more, it holds the task pushed at it.
type ring[T any] struct {
	slots  []slot[T]
	mask   uint64 // selects the index in a position
	shift  uint   // selects the lap
	start  uint64 // the position of the first task
	before uint64 // how many tasks the queue had accepted before that one
	next   *ring[T]

	_    [cacheLine]byte // producers write tail, consumers write head
	tail atomic.Uint64
	_    [cacheLine - 8]byte
	head atomic.Uint64
	_    [cacheLine - 8]byte
}

type slot[T any] struct {
	stamp atomic.Uint64
	value T
}

// newRing makes a ring of capacity slots whose positions begin at the first lap
// that is not before from.
func newRing[T any](capacity int, from, before uint64) *ring[T] {
	// At least two stamps a lap: with one, "full" and "free again" would be equal.
	shift := uint(max(1, bits.Len(uint(capacity-1))))
	lap := uint64(1) << shift
	r := &ring[T]{
		slots:  make([]slot[T], capacity),
		mask:   lap - 1,
		shift:  shift,
		start:  (from + lap - 1) &^ (lap - 1),
		before: before,
	}
	for i := range r.slots {
		r.slots[i].stamp.Store(r.start + uint64(i))
	}
	r.head.Store(r.start)
	r.tail.Store(r.start)
	return r
}

// after is the position behind pos.
func (r *ring[T]) after(pos uint64) uint64 {
	if pos&r.mask+1 < uint64(len(r.slots)) {
		return pos + 1
	}
	return pos&^r.mask + r.mask + 1
}

// push adds v at the tail. Only the holder of Engine.mu passes held, which
// opens the gate to it. Besides moved it reports none when the slot at the tail
// is taken, either by a task or by a consumer that has not yet left it.
func (r *ring[T]) push(v T, held bool) outcome {
	for {
		t := r.tail.Load()
		if t&(gate|retired) != 0 && (!held || t&retired != 0) {
			return barred
		}
		pos := t &^ gate
		s := &r.slots[pos&r.mask]
		switch stamp := s.stamp.Load(); {
		case stamp == pos:
			if r.tail.CompareAndSwap(t, r.after(pos)|t&gate) {
				s.value = v
				s.stamp.Store(pos + 1)
				return moved
			}
		case stamp < pos:
			return none
		}
	}
}

// pop takes the oldest task, unless it stands at or behind the position in stop,
// and returns the position behind it. It reports none also when the oldest task's
// producer has not finished writing it: that producer will look for a worker
// to wake when it has. Only the holder of Engine.mu passes nil for stop,
// which opens the gate to it.
func (r *ring[T]) pop(stop *atomic.Uint64) (v T, behind uint64, o outcome) {
	for {
		h := r.head.Load()
		// stop is looked at after head: the goroutine that sets stop closes the gate
		// meanwhile, so that pop cannot exchange a head that is already behind stop.
		if stop != nil && (h&gate != 0 || h >= stop.Load()) {
			return v, 0, barred
		}
		pos := h &^ gate
		s := &r.slots[pos&r.mask]
		switch stamp := s.stamp.Load(); {
		case stamp == pos+1:
			behind = r.after(pos)
			if r.head.CompareAndSwap(h, behind|h&gate) {
				v = s.value
				var zero T
				s.value = zero // the ring must not keep a finished task alive
				s.stamp.Store(pos + r.mask + 1)
				return v, behind, moved
			}
		case stamp <= pos:
			return v, 0, none
		}
	}
}

// ready reports whether a pop would find a task, or whether the ring is used
// up and the next one must be looked at. When it says no, the task at the head had not been
// written: its producer will look for a worker to wake. That is no answer if others have
// taken that task meanwhile, as a worker without the token does not look at those behind it.
func (r *ring[T]) ready() bool {
	for {
		pos := r.headAt()
		if r.slots[pos&r.mask].stamp.Load() == pos+1 {
			return true
		}
		if r.headAt() == pos {
			return r.usedUp()
		}
	}
}

// usedUp reports whether the ring is retired and every task of it taken.
func (r *ring[T]) usedUp() bool {
	t := r.tail.Load()
	return t&retired != 0 && t&^(gate|retired) == r.head.Load()&^gate
}

func (r *ring[T]) gated() bool { return r.head.Load()&gate != 0 }

// count is how many tasks the queue has passed at position pos of this ring.
func (r *ring[T]) count(pos uint64) uint64 {
	pos -= r.start
	return r.before + pos>>r.shift*uint64(len(r.slots)) + pos&r.mask
}

func (r *ring[T]) tailAt() uint64 { return r.tail.Load() &^ (gate | retired) }
func (r *ring[T]) headAt() uint64 { return r.head.Load() &^ gate }
