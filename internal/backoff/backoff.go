// Package backoff makes goroutines pause that exchange one word at the same time. They get in each other's
// way: on sixteen cores an exchange that meets others costs ten times as much as one that meets none.
package backoff

// The first pause after a lost exchange takes about as long as the exchange does, the longest some 16 µs.
const (
	first = 7
	most  = 14
)

// Lost pauses the caller, which has lost an exchange of a word to another goroutine, losses times before and
// now again. It returns the number of losses so far. This is exponential back-off, after Anderson, "The
// Performance of Spin Lock Alternatives", 1990.
func Lost(losses uint) uint {
	Pause(1 << min(first+2*losses, most))
	return losses + 1
}

// Pause makes n pauses of about a nanosecond.
func Pause(n uint64) {
	for range n {
		pause()
	}
}

//go:noinline
func pause() {}
