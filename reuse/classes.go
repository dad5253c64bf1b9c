package reuse

import "math/bits"

// Arrays of bytes are kept by class. Class k holds arrays with room for 64<<k bytes and, except for arrays
// from elsewhere, no more. The allocator has these sizes, too, so rounding wastes nothing. An array is at
// most twice as large as the caller asked for. Finer classes would waste less, but each class is a
// [sync.Pool], with memory for each processor, and a load of many sizes would have to fill more of them.
const (
	smallest = 64
	classes  = 21
	largest  = smallest << (classes - 1) // 64 MiB

	log2Smallest = 6
)

func sizeOf(class int) int { return smallest << class }

// classFor returns the class of arrays that have room for n bytes. The result is above the last class if no
// class has that room, or if n is below 1.
func classFor(n int) int { return bits.Len(uint(n-1)|(smallest-1)) - log2Smallest }

// classOf returns the class that an array with room for n bytes belongs to; n must be at least the smallest
// size.
func classOf(n int) int { return bits.Len(uint(n)>>log2Smallest) - 1 }
