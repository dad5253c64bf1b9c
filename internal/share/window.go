package share

import "sync/atomic"

// Window bounds how far the producers of a stream are ahead of its consumer, which takes one result after the other. Init must be called first.
//
// A producer that may not go on says so in starved, and only then looks again at what the consumer has taken. The consumer counts what it takes, and
// only then looks at starved. So one of the two sees the other.
type Window struct {
	ahead   int
	taken   atomic.Int64 // only the consumer writes it
	starved atomic.Bool  // a producer could go on if more were taken
}

// Init makes a window of which nothing is taken, for producers that may be ahead by so much.
func (w *Window) Init(ahead int) { w.ahead = ahead }

// Taken returns how many results the consumer has taken.
func (w *Window) Taken() int { return int(w.taken.Load()) }

// Take counts a result that the consumer takes, and reports whether producers may have stopped: then the consumer must call Lower, and see to them.
func (w *Window) Take() (starved bool) {
	w.taken.Store(w.taken.Load() + 1)
	return w.starved.Load()
}

// Admits reports whether a producer may go on that has got to n.
func (w *Window) Admits(n int) bool { return n < w.Taken()+w.ahead }

// Asks is Admits for a producer that does not look again by itself.
func (w *Window) Asks(n int) bool {
	if w.Admits(n) {
		return true
	}
	w.Raise()
	return w.Admits(n)
}

// Raise makes the next Take report true. A producer calls it under the lock under which the consumer calls Lower.
func (w *Window) Raise() { w.starved.Store(true) }

// Lower undoes Raise, before the consumer sees to the producers.
func (w *Window) Lower() { w.starved.Store(false) }
