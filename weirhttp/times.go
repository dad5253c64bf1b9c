package weirhttp

import (
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/histogram"
	"github.com/64ed045f/weir/internal/inside"
)

// times measures how long requests wait and run, all of them: to read the clock takes a thousandth of what a request does.
type times struct{ wait, run histogram.Counter }

// begins notes that a request runs which came at that time, and returns when that was.
func (t *times) begins(came time.Time) (begun time.Time) {
	begun = time.Now()
	t.wait.Add(begun.Sub(came), 1)
	return begun
}

// ends notes that a request has ended that began at that time.
func (t *times) ends(begun time.Time) { t.run.Add(time.Since(begun), 1) }

// read returns what was measured, where the oldest request that waits came at that time, if there is one.
func (t *times) read(oldest time.Time) weir.Times {
	var age time.Duration
	if !oldest.IsZero() {
		age = max(1, time.Since(oldest))
	}
	return inside.NewTimes(&t.wait, &t.run, age).(weir.Times)
}

// Times returns how long requests have waited for their start, and how long their handlers ran. All are measured, except those
// that are refused and those that [Exempt] lets pass. It takes the lock that requests take, for a short time.
func (l *Limiter) Times() weir.Times {
	l.mu.Lock()
	var oldest time.Time
	if w := l.queue.order.First().Of(); w != nil {
		oldest = w.came
	}
	l.mu.Unlock()
	return l.times.read(oldest)
}

// Times returns how long requests have waited, for a slot and for the [HostRate], and how long they were under way: see [Transport]. All are measured that
// were sent. It takes the lock that requests take, and looks at each host to which some are under way.
func (t *Transport) Times() weir.Times {
	var oldest time.Time
	s := &t.slots
	s.mu.Lock()
	look := func(w *turn) {
		if oldest.IsZero() || w.came.Before(oldest) {
			oldest = w.came
		}
	}
	for _, l := range s.hosts.All() {
		if w := l.rated.First().Of(); w != nil {
			look(w)
		}
		if w := l.First(); w != nil {
			look(&w.Value)
		}
	}
	s.mu.Unlock()
	return t.times.read(oldest)
}
