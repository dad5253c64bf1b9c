package engine

import (
	"math/bits"
	"sync/atomic"
	"weak"

	"github.com/64ed045f/weir/internal/backoff"
)

// Flags in the two position words of a ring. Positions never reach them: at a
// task a nanosecond, bit 62 is at least 73 years away.
const (
	gate    = 1 << 63 // only the holder of Engine.mu may change this position
	retired = 1 << 62 // tail only: nothing is ever added to this ring again
)

// cacheLine is the distance between words that different cores write. Intel's adjacent-line prefetcher moves
// lines in pairs, so it is two lines.
const cacheLine = 128

type outcome uint8

const (
	moved     outcome = iota // the task is in, or out
	none                     // push: no slot is free; pop: no task is ready
	barred                   // gated or retired: go the slow way
	unsettled                // a goroutine is half-way through a slot: the caller must try again
)

// ring is a bounded multi-producer multi-consumer FIFO: Dmitry Vyukov's queue, with the laps of crossbeam's
// ArrayQueue, so that any capacity from 1 up is exact. A position is lap<<shift | index. The stamp of a slot
// tells whose turn it is. If it equals a position, the slot is free for the push at that position. If it is
// one more, the slot holds the task pushed there. If the task is measured, the stamp is the task's mark
// instead, which does not tell the position: see isOf.
type ring struct {
	slots  []slot
	mask   uint64 // selects the index in a position
	shift  uint   // selects the lap
	start  uint64 // the position of the first task
	before uint64 // how many tasks the queue had accepted before the first task
	next   *ring
	meter  *meter // nil: no task is measured
	weak   weak.Pointer[ring]

	_     [cacheLine]byte // producers write tail, consumers write head
	tail  atomic.Uint64
	drawn sample
	_     [cacheLine - 8 - 32]byte
	head  atomic.Uint64
	_     [cacheLine - 8]byte
}

type slot struct {
	stamp atomic.Uint64
	value Task
}

// newRing makes a ring of capacity slots. Its positions begin at the first lap that is not before from.
func newRing(capacity int, from, before uint64) *ring {
	// At least two stamps a lap: with one, "full" and "free again" would be equal.
	shift := uint(max(1, bits.Len(uint(capacity-1))))
	lap := uint64(1) << shift
	r := &ring{
		slots:  make([]slot, capacity),
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

// sample is the task that a ring measures next: the first one that is pushed at position at, or behind it.
type sample struct {
	at    atomic.Uint64 // a position, or every, or never while a goroutine draws the next sample
	draw                // only the goroutine that has changed at to never uses it
	block atomic.Uint32 // the length of draw, for all to read
	since atomic.Int64  // when the sample was drawn, on the meter's clock
}

const every = 0 // a value of sample.at: each task is measured

// measures makes r measure tasks that are pushed from now on, the first one in any case. No task is pushed
// during the call.
func (r *ring) measures(m *meter) {
	if m != nil {
		r.drawn.since.Store(m.now())
	}
	r.meter = m
}

// measure returns the stamp of the task at pos, which must be measured, and draws the next sample.
func (r *ring) measure(pos uint64) (stamp uint64) {
	now := r.meter.now()
	at := r.drawn.at.Load()
	if at == every {
		if r.meter.draws(r.count(pos)) && r.drawn.at.CompareAndSwap(every, never) {
			r.draw(r.after(pos), now)
		}
		return uint64(draw{}.mark(now))
	}
	if at == never || !r.drawn.at.CompareAndSwap(at, never) {
		return pos + 1 // another goroutine measures its task instead
	}
	d := r.drawn.draw
	r.draw(r.ahead(at, d.after+1), now) // the block begins behind the last one, even if pos is in it already
	return uint64(d.mark(now))
}

// refresh starts a new block with the next task that is pushed, if the present block began long before now,
// or is much longer than the next one.
func (r *ring) refresh(now int64) {
	if r.meter.share >= 1 || now-r.drawn.since.Load() < int64(staleBlock) && r.drawn.block.Load() < r.meter.block.Load()+2 {
		return
	}
	if at := r.drawn.at.Load(); at != never && r.drawn.at.CompareAndSwap(at, never) {
		r.drawn.since.Store(now)
		r.drawn.block.Store(0)
		r.drawn.at.Store(every)
	}
}

// draw draws a sample from the next block, which begins at pos.
func (r *ring) draw(pos uint64, now int64) {
	d, before := r.meter.next()
	r.drawn.draw = d
	r.drawn.since.Store(now)
	r.drawn.block.Store(d.length)
	if d.length == 0 {
		r.drawn.at.Store(every)
	} else {
		r.drawn.at.Store(r.ahead(pos, before))
	}
}

// ahead returns the position n tasks behind pos.
func (r *ring) ahead(pos uint64, n int) uint64 {
	i := pos&r.mask + uint64(n)
	laps, i := i/uint64(len(r.slots)), i%uint64(len(r.slots))
	return pos&^r.mask + laps<<r.shift + i
}

// oldest returns the time of submission of the first task from the head on that has a mark.
func (r *ring) oldest(now int64) (submitted int64, ok bool) {
	for pos, end := r.headAt(), r.tailAt(); pos != end; pos = r.after(pos) {
		if stamp := r.slots[pos&r.mask].stamp.Load(); stamp&marked != 0 {
			return mark(stamp).submitted(now), true
		}
	}
	return 0, false
}

// after returns the position behind pos.
func (r *ring) after(pos uint64) uint64 {
	if pos&r.mask+1 < uint64(len(r.slots)) {
		return pos + 1
	}
	return pos&^r.mask + r.mask + 1
}

// push adds v at the tail. Only the holder of Engine.mu passes held, which lets it pass the gate. push
// reports none when the slot at the tail is taken, by a task or by a consumer that has not yet left it.
func (r *ring) push(v Task, held bool) outcome {
	for losses := uint(0); ; {
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
				stamp++
				if r.meter != nil && pos >= r.drawn.at.Load() {
					s.stamp.Store(r.measure(pos))
					if x := r.meter.expiry; x != nil {
						x.see()
					}
					return moved
				}
				s.stamp.Store(stamp)
				return moved
			}
			if !held {
				losses = backoff.Lost(losses)
			}
		case stamp < pos:
			return none
		case stamp&marked != 0:
			if r.tail.Load() == t {
				return none // the task is of the lap before
			}
		}
	}
}

// pop takes the oldest task, unless it stands at or behind the position in stop, and returns the position
// behind it. pop also reports none when the producer of the oldest task has not finished writing it: that
// producer looks for a worker to wake when it has finished. Only the holder of Engine.mu passes nil for stop,
// which lets it pass the gate. k is the mark of the task, if it has one. c, if not nil, learns whether other
// goroutines were faster.
func (r *ring) pop(stop *atomic.Uint64, c *contention) (v Task, behind uint64, k mark, o outcome) {
	for lost := false; ; {
		h := r.head.Load()
		// stop is looked at after head: the goroutine that sets stop closes the gate
		// meanwhile, so that pop cannot exchange a head that is already behind stop.
		if stop != nil && (h&gate != 0 || h >= stop.Load()) {
			return v, 0, 0, barred
		}
		pos := h &^ gate
		s := &r.slots[pos&r.mask]
		stamp := s.stamp.Load()
		if stamp&marked != 0 {
			stamp = r.isOf(pos, s)
		}
		switch {
		case stamp == pos+1, stamp&marked != 0:
			behind = r.after(pos)
			if r.head.CompareAndSwap(h, behind|h&gate) {
				v = s.value
				var zero Task
				s.value = zero // the ring must not keep a finished task alive
				s.stamp.Store(pos + r.mask + 1)
				if stamp&marked != 0 {
					k = mark(stamp)
				}
				if lost {
					c.win()
				}
				return v, behind, k, moved
			}
			if c != nil && !lost {
				lost = true
				c.lose()
			}
		case stamp <= pos:
			return v, 0, 0, none
		}
	}
}

// ready reports whether a pop would find a task, or whether the ring is used up, so that the caller must look
// at the next one. If ready reports false, the task at the head had not been written: its producer will look
// for a worker to wake. If others have taken that task meanwhile, ready looks again: a worker without the
// token does not look at the tasks behind it.
func (r *ring) ready() bool {
	for {
		pos := r.headAt()
		if _, ok := r.holds(pos); ok {
			return true
		}
		if r.headAt() == pos {
			return r.usedUp()
		}
	}
}

// usedUp reports whether the ring is retired and all its tasks have been taken.
func (r *ring) usedUp() bool {
	t := r.tail.Load()
	return t&retired != 0 && t&^(gate|retired) == r.head.Load()&^gate
}

func (r *ring) gated() bool { return r.head.Load()&gate != 0 }

// count returns how many tasks the queue has passed at position pos of this ring.
func (r *ring) count(pos uint64) uint64 {
	pos -= r.start
	return r.before + pos>>r.shift*uint64(len(r.slots)) + pos&r.mask
}

// isOf is for a slot s whose stamp was a mark. The head stands at pos, or has stood there. If the slot
// belongs to pos already, isOf returns its stamp. Otherwise it returns 0: then the mark is that of a task of
// the lap before, and a consumer is about to leave the slot. As soon as the tail has passed pos, that
// consumer has left.
func (r *ring) isOf(pos uint64, s *slot) (stamp uint64) {
	if r.tailAt() == pos {
		return 0
	}
	return s.stamp.Load()
}

// holds returns the slot of pos, where the head stands or has stood. It reports whether the slot holds the
// task of pos.
func (r *ring) holds(pos uint64) (s *slot, ok bool) {
	s = &r.slots[pos&r.mask]
	stamp := s.stamp.Load()
	if stamp&marked != 0 {
		stamp = r.isOf(pos, s)
	}
	return s, stamp == pos+1 || stamp&marked != 0
}

func (r *ring) tailAt() uint64 { return r.tail.Load() &^ (gate | retired) }
func (r *ring) headAt() uint64 { return r.head.Load() &^ gate }
