package weir

import "slices"

// dueHeap orders timers by when they are due: a heap in which each entry has up to four below it. A stopped
// timer stays in it until it reaches the head, or compact removes it: so Stop costs next to nothing.
type dueHeap []dueTimer

type dueTimer struct {
	at     int64
	number uint64 // of those that are due at once the one that was set first comes first
	timer  *Timer
}

// live reports whether the timer is pending, and was not set anew.
func (d dueTimer) live() bool { return d.timer.pending && d.timer.number == d.number }

func (d dueTimer) before(e dueTimer) bool { return d.at < e.at || d.at == e.at && d.number < e.number }

// after is d by a clock that is ahead by so much.
func (d dueTimer) after(ahead int64) dueTimer { return dueTimer{d.at + ahead, d.number, d.timer} }

func (h dueHeap) isDue(now int64) bool { return len(h) > 0 && h[0].at <= now }

func (h *dueHeap) push(d dueTimer) {
	*h = append(*h, d)
	s := *h
	i := len(s) - 1
	for ; i > 0 && d.before(s[(i-1)/4]); i = (i - 1) / 4 {
		s[i] = s[(i-1)/4]
	}
	s[i] = d
}

func (h *dueHeap) pop() (first dueTimer) {
	s := *h
	first = s[0]
	last := len(s) - 1
	d := s[last]
	s[last] = dueTimer{}
	*h = s[:last]
	if last > 0 {
		h.down(0, d)
	}
	h.shrink()
	return first
}

// drop removes those from the head that are not live.
func (h *dueHeap) drop() {
	for len(*h) > 0 && !(*h)[0].live() {
		h.pop()
	}
}

// shrink gives room back that many had.
func (h *dueHeap) shrink() {
	if cap(*h) > 4*len(*h)+64 {
		*h = slices.Clone(*h)
	}
}

// down puts d at i, or below that.
func (h dueHeap) down(i int, d dueTimer) {
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		for c := child + 1; c <= 4*i+4 && c < len(h); c++ {
			if h[c].before(h[child]) {
				child = c
			}
		}
		if d.before(h[child]) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = d
}

// compact drops what is not live.
func (h *dueHeap) compact() {
	*h = slices.DeleteFunc(*h, func(d dueTimer) bool { return !d.live() })
	h.shrink()
	s := *h
	for i := (len(s) - 2) / 4; i >= 0 && len(s) > 1; i-- {
		s.down(i, s[i])
	}
}

// drain ends the timers, and returns those whose tasks run once, in order.
func (h dueHeap) drain() (list []*Timer) {
	slices.SortStableFunc(h, func(x, y dueTimer) int {
		if x.before(y) {
			return -1
		}
		return 1
	})
	for _, d := range h {
		if d.timer.pending {
			if d.timer.pending = false; !d.timer.repeats {
				list = append(list, d.timer)
			}
		}
	}
	return list
}
