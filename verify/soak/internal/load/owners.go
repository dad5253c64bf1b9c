package load

import (
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
	r     *Round
	limit int
	alive atomic.Int64
}

func (o *owners) open() (*owned, error) {
	if n := o.alive.Add(1); n > int64(o.limit) {
		o.r.Breach("a value is opened next to %d others: the limit is %d", n-1, o.limit)
	}
	return new(owned), nil
}

// use calls f with the value taken.
func (o *owners) use(v *owned, f func()) {
	if !v.state.CompareAndSwap(ownedFree, ownedInUse) {
		o.r.Breach("a value is used that is %s", o.word(v))
		return
	}
	defer v.state.Store(ownedFree)
	f()
}

func (o *owners) dispose(v *owned) {
	if !v.state.CompareAndSwap(ownedFree, ownedClosed) {
		o.r.Breach("a value is closed that is %s", o.word(v))
	}
	o.alive.Add(-1)
}

func (o *owners) word(v *owned) string {
	return [...]string{"free", "in use", "closed"}[v.state.Load()]
}

// none checks that all values are closed.
func (o *owners) none() {
	if n := o.alive.Load(); n != 0 {
		o.r.Breach("%d values were never closed", n)
	}
}
