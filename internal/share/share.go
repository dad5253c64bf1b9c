// Package share divides the items of a parallel loop among workers.
//
// The division is that of affinity scheduling (Markatos and LeBlanc, "Using
// processor affinity in loop scheduling on shared-memory multiprocessors", 1992):
// each worker has a share, and claims a fraction of what is left of it; a worker that has
// nothing left takes from the largest share, here half of it (as in Hendler and
// Shavit, "Non-blocking steal-half work queues", 2002). At first all items are in
// one share, so that workers which start late, or never, hold nothing up.
package share

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Run is the items from Lo on, up to Hi, which is not one of them.
type Run struct{ Lo, Hi int }

// Empty reports whether there are none.
func (r Run) Empty() bool { return r.Lo == r.Hi }

// share is items that no worker has begun. Its owners take them from the front, a few
// at a time.
type share struct {
	mu   sync.Mutex   // held for a few instructions only
	runs []Run        // the newest last; none is empty
	left atomic.Int64 // items in all of them; changed under mu

	_ [cacheLine]byte // each share is mostly its owner's
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

// claim takes items from the newest run: at most n, and no more than a fraction of
// what is left, so that there always is something for others to take, and
// the last items of all are claimed one by one. It returns how many it leaves.
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

// divisor: a claim takes at most the eighth part of what its share has left.
const divisor = 8

// half takes the oldest run or, if there is only one, the upper half of that.
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
