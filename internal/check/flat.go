package check

import (
	"math"
	"testing"
	"time"
)

// Flat fails the test if f costs much more in a world of 32n than in one of n. A cost that grows with that
// number would be 32 times as high, so a limit of eight leaves a factor of four to either side.
func Flat(t *testing.T, n int, world func(n int) (f, end func())) {
	t.Helper()
	if Race {
		t.Skip("the race detector is slow, and knows at most 8128 goroutines")
	}
	var took [2]time.Duration
	for i, n := range []int{n, 32 * n} {
		f, end := world(n)
		took[i] = least(30, f)
		end()
	}
	t.Logf("%d: %v, %d: %v", n, took[0], 32*n, took[1])
	if took[1] > 8*took[0] {
		t.Errorf("costs %.1f times as much in a world of %d as in one of %d", float64(took[1])/float64(took[0]), 32*n, n)
	}
}

// least returns the shortest time that f takes in some rounds: other work of the machine only adds to it.
func least(rounds int, f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range rounds {
		begin := time.Now()
		f()
		least = min(least, time.Since(begin))
	}
	return least
}
