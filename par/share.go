package par

import (
	"slices"
	"sync"
	"sync/atomic"
)

// run is the items from lo on, up to hi, which is not one of them.
type run struct{ lo, hi int }

func (r run) empty() bool { return r.lo == r.hi }

// share is items that nobody has begun. Its owners take them from the front, a few
// at a time; who has none left takes half of another share.
type share struct {
	mu   sync.Mutex   // held for a few instructions only
	runs []run        // the newest last; none is empty
	left atomic.Int64 // items in all of them; changed under mu

	_ [cacheLine]byte // each share is mostly its owner's
}

const cacheLine = 64

// put adds a run.
func (s *share) put(r run) {
	if r.empty() {
		return
	}
	s.mu.Lock()
	s.runs = append(s.runs, r)
	s.left.Add(int64(r.hi - r.lo))
	s.mu.Unlock()
}

// claim takes items from the newest run: at most n, and no more than a fraction of
// what is left, so that there always is something for others to take, and
// the last items of all are claimed one by one. It tells how many it leaves.
func (s *share) claim(n int) (claimed run, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left = int(s.left.Load())
	if left == 0 {
		return run{}, 0
	}
	last := len(s.runs) - 1
	r := &s.runs[last]
	n = min(n, max(1, left/divisor), r.hi-r.lo)
	claimed = run{r.lo, r.lo + n}
	r.lo += n
	s.left.Store(int64(left - n))
	if r.empty() {
		s.runs = s.runs[:last]
	}
	return claimed, left - n
}

// divisor: a claim takes at most the eighth part of what its share has left.
const divisor = 8

// half takes the oldest run or, if there is only one, the upper half of that.
func (s *share) half() run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left.Load() == 0 {
		return run{}
	}
	taken := s.runs[0]
	if len(s.runs) == 1 && taken.hi-taken.lo > 1 {
		middle := taken.lo + (taken.hi-taken.lo)/2
		s.runs[0].hi, taken.lo = middle, middle
	} else {
		s.runs = slices.Delete(s.runs, 0, 1)
	}
	s.left.Add(int64(taken.lo - taken.hi))
	return taken
}

func (s *share) count() int { return int(s.left.Load()) }
