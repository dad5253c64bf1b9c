package share

import "sync/atomic"

// Window bounds how far the producers of a stream are ahead of its consumer, which takes one result after the other. Init must be called first.
//
// A producer that may not go on says so in starved, and only then looks again at what the consumer has taken. The consumer counts what it takes, and
// only then looks at starved. So one of the two sees the other.
//
// The type parameter lets the compiler inline the methods in the functions of a stream: those are compiled with the program that uses them, and
// a call for each item would take a twentieth of its time.
type Window[N ~int] struct {
	taken   atomic.Int64 // only the consumer writes it
	starved atomic.Bool  // a producer could go on if more were taken
	ahead   int32
}

// Init makes a window of which nothing is taken, for producers that may be ahead by so much, at most 2³¹-1.
func (w *Window[N]) Init(ahead N) { w.ahead = int32(ahead) }

// Taken returns how many results the consumer has taken.
func (w *Window[N]) Taken() N { return N(w.taken.Load()) }

// Take notes that the consumer has taken n results, and reports whether producers may have stopped: then the consumer must call Lower, and see to them.
func (w *Window[N]) Take(n N) (starved bool) {
	w.taken.Store(int64(n))
	return w.starved.Load()
}

// Admits reports whether a producer may go on that has got to n.
func (w *Window[N]) Admits(n N) bool { return n < w.Taken()+N(w.ahead) }

// Asks is Admits for a producer that does not look again by itself.
func (w *Window[N]) Asks(n N) bool {
	if w.Admits(n) {
		return true
	}
	w.Raise()
	return w.Admits(n)
}

// Raise makes the next Take report true. A producer calls it under the lock under which the consumer calls Lower.
func (w *Window[N]) Raise() { w.starved.Store(true) }

// Lower undoes Raise, before the consumer sees to the producers.
func (w *Window[N]) Lower() { w.starved.Store(false) }
