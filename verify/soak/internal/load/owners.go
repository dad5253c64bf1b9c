package load

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// owned is a value of which there must be only so many at once, and which one at a time may use.
type owned struct{ state atomic.Int32 }

// The states of an owned value.
const (
	ownedFree = iota
	ownedInUse
	ownedClosed
)

// owners counts the values of a round.
type owners struct {
	r        *Round
	limit    int
	alive    atomic.Int64
	flawless bool // no value fails

	mu  sync.Mutex
	rnd *rand.Rand
}

// one is as the function, for any number of goroutines at once. It is never true of flawless values.
func (o *owners) one(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.flawless && one(o.rnd, n)
}

var errNoObject = errors.New("no object today")

func (o *owners) open() (*owned, error) {
	if o.one(10) {
		return nil, errNoObject
	}
	n := o.alive.Add(1)
	o.r.Check(n <= int64(o.limit), "a value is opened next to %d others: the limit is %d", n-1, o.limit)
	return new(owned), nil
}

// use calls f with the value taken.
func (o *owners) use(v *owned, f func()) {
	if o.turn(v, ownedInUse, "used") {
		defer v.state.Store(ownedFree)
		f()
	}
}

func (o *owners) dispose(v *owned) {
	o.turn(v, ownedClosed, "closed")
	o.alive.Add(-1)
}

// turn changes the state of a value that must be free.
func (o *owners) turn(v *owned, state int32, what string) bool {
	return o.r.Check(v.state.CompareAndSwap(ownedFree, state), "a value is %s that is in use or closed: %d", what, v.state.Load())
}

// none checks that all values are closed.
func (o *owners) none() {
	n := o.alive.Load()
	o.r.Check(n == 0, "%d values were never closed", n)
}
