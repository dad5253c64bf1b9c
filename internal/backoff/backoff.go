// Package backoff pauses goroutines that compare-and-swap one word at the same time, as they get in each
// other's way. On sixteen cores an exchange that meets others costs ten times as much as one that meets none.
package backoff

// The first pause after a lost exchange takes about as long as the exchange does, the longest some 16 µs.
const (
	first = 7
	most  = 14
)

// Lost pauses the caller after a lost compare-and-swap. losses is how many it has lost before; Lost returns one
// more. This is exponential back-off, after Anderson, "The Performance of Spin Lock Alternatives", 1990.
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
