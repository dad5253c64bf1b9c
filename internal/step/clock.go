package step

import "time"

// epoch is when every execution begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Now is that of package time, on the clock of the execution.
func Now() time.Time {
	if e := current; e != nil {
		e.tells()
		return epoch.Add(e.now)
	}
	return epoch
}

// Since is that of package time, on the clock of the execution.
func Since(t time.Time) time.Duration { return Now().Sub(t) }

// Sleep is that of package time: it returns after as much of the execution's time.
func Sleep(d time.Duration) {
	over := make(chan struct{}, 1)
	AfterFunc(d, func() { over <- struct{}{} })
	Receive(over)
}

// Timer stands for that of package time, as AfterFunc returns it.
type Timer struct {
	e *execution
	f func()
	g *goroutine
}

// AfterFunc is that of package time. The goroutine of f begins when the clock of the
// scene lets time pass.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{e: current, f: f}
	t.set(d)
	return t
}

func (t *Timer) set(d time.Duration) {
	t.e.tells()
	t.g = t.e.spawn("timer", t.f)
	t.g.state, t.g.at = due, t.e.now+d
}

// Stop is that of package time.
func (t *Timer) Stop() bool {
	point("Stop")
	return t.stop()
}

func (t *Timer) stop() bool {
	t.e.tells()
	pending := t.g.state == due
	if pending {
		t.g.state = ended
	}
	return pending
}

// Reset is that of package time.
func (t *Timer) Reset(d time.Duration) bool {
	point("Reset")
	pending := t.stop()
	t.set(d)
	return pending
}

// earliest is the timer that fires next, or nil.
func (e *execution) earliest() (first *goroutine) {
	for _, g := range e.all {
		if g.state == due && (first == nil || g.at < first.at) {
			first = g
		}
	}
	return first
}
