// Package share divides the items of a parallel loop among workers, and bounds how far those of a stream are ahead of its consumer: see [Window].
//
// The division is affinity scheduling (Markatos and LeBlanc, "Using processor affinity in loop scheduling on
// shared-memory multiprocessors", 1992). Each worker has a share, and claims a fraction of the items left in
// it. A worker that has nothing left takes from the largest share. Here it takes half of that share, as in
// Hendler and Shavit, "Non-blocking steal-half work queues", 2002. At first all items are in one share, so
// that workers which start late, or never, hold nothing up.
package share

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Run is the items from Lo up to, not including, Hi.
type Run struct{ Lo, Hi int }

// Empty reports whether the run has no items.
func (r Run) Empty() bool { return r.Lo == r.Hi }

// share holds items that no worker has begun. Its owners take them from the front, a few at a time.
type share struct {
	mu   sync.Mutex   // held for a few instructions only
	runs []Run        // the newest run is last; no run is empty
	left atomic.Int64 // items in all runs; changed while mu is held

	_ [cacheLine]byte // mostly, only its owner uses a share
}

const cacheLine = 64

// put adds a run.
func (s *share) put(r Run) {
	if r.Empty() {
		return
	}
	s.mu.Lock()
	s.runs = append(s.runs, r)
	s.left.Add(int64(r.Hi - r.Lo))
	s.mu.Unlock()
}

// claim takes items from the newest run: at most n, and at most a fraction of the items left. So there is
// always something for other workers to take, and workers claim the last items of all one by one. It returns
// how many items are left.
func (s *share) claim(n int) (claimed Run, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left = int(s.left.Load())
	if left == 0 {
		return Run{}, 0
	}
	last := len(s.runs) - 1
	r := &s.runs[last]
	n = min(n, max(1, left/divisor), r.Hi-r.Lo)
	claimed = Run{r.Lo, r.Lo + n}
	r.Lo += n
	s.left.Store(int64(left - n))
	if r.Empty() {
		s.runs = s.runs[:last]
	}
	return claimed, left - n
}

// divisor limits a claim to an eighth of the items left in its share.
const divisor = 8

// half takes the oldest run or, if there is only one, the upper half of it.
func (s *share) half() Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left.Load() == 0 {
		return Run{}
	}
	taken := s.runs[0]
	if len(s.runs) == 1 && taken.Hi-taken.Lo > 1 {
		middle := taken.Lo + (taken.Hi-taken.Lo)/2
		s.runs[0].Hi, taken.Lo = middle, middle
	} else {
		s.runs = slices.Delete(s.runs, 0, 1)
	}
	s.left.Add(int64(taken.Lo - taken.Hi))
	return taken
}

func (s *share) count() int { return int(s.left.Load()) }
