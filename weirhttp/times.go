package weirhttp

import (
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/histogram"
	"github.com/64ed045f/weir/internal/inside"
)

// times measures how long all requests wait and run. Reading the clock takes a thousandth of the time of a
// request.
type times struct{ wait, run histogram.Counter }

// begins records the start of a request that arrived at came, and returns the time of the start.
func (t *times) begins(came time.Time) (begun time.Time) {
	begun = time.Now()
	t.wait.Add(begun.Sub(came), 1)
	return begun
}

// ends records the end of a request that started at begun.
func (t *times) ends(begun time.Time) { t.run.Add(time.Since(begun), 1) }

// read returns the measured times. oldest is when the oldest waiting request arrived, zero if none waits.
func (t *times) read(oldest time.Time) weir.Times {
	var age time.Duration
	if !oldest.IsZero() {
		age = max(1, time.Since(oldest))
	}
	return inside.NewTimes(&t.wait, &t.run, age).(weir.Times)
}

// Times returns how long requests have waited before their start, and how long their handlers ran. It covers
// all requests except refused ones and those that [Exempt] lets pass. It holds the lock that requests take,
// and with [On] it looks at each request that waits for its place in the pool.
func (l *Limiter) Times() weir.Times {
	var oldest time.Time
	l.mu.Lock()
	if w := l.queue.order.First().Of(); w != nil {
		oldest = w.came
	}
	for a := l.atPool.First(); a != nil; a = a.Next() { // not in the order of arrival
		oldest = earlier(oldest, a.Of().came)
	}
	l.mu.Unlock()
	return l.times.read(oldest)
}

// earlier returns the earlier of two times, of which a may be zero for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// Times returns how long requests have waited, for a slot and for the [HostRate], and how long they were
// under way: see [Transport]. It covers all requests that were sent. It holds the lock that requests take,
// and looks at each host that has requests under way.
func (t *Transport) Times() weir.Times {
	var oldest time.Time
	s := &t.slots
	s.mu.Lock()
	for _, l := range s.hosts.All() {
		if w := l.rated.First().Of(); w != nil {
			oldest = earlier(oldest, w.came)
		}
		if w := l.First(); w != nil {
			oldest = earlier(oldest, w.Value.came)
		}
	}
	s.mu.Unlock()
	return t.times.read(oldest)
}
