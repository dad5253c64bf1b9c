package step

import "time"

// epoch is the time at which every execution begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Now stands for [time.Now], on the clock of the execution.
func Now() time.Time {
	if e := current; e != nil {
		e.tells()
		return epoch.Add(e.now)
	}
	return epoch
}

// Since stands for [time.Since], on the clock of the execution.
func Since(t time.Time) time.Duration { return Now().Sub(t) }

// Sleep stands for [time.Sleep], on the clock of the execution.
func Sleep(d time.Duration) {
	over := make(chan struct{}, 1)
	AfterFunc(d, func() { over <- struct{}{} })
	Receive(over)
}

// Timer stands for the [time.Timer] that AfterFunc returns.
type Timer struct {
	e *execution
	f func()
	g *goroutine
}

// AfterFunc stands for [time.AfterFunc]. The goroutine of f begins when the scene's [Clock] lets time pass.
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

// Stop stands for [time.Timer.Stop].
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

// Reset stands for [time.Timer.Reset].
func (t *Timer) Reset(d time.Duration) bool {
	point("Reset")
	pending := t.stop()
	t.set(d)
	return pending
}

// earliest returns the timer that fires next, or nil.
func (e *execution) earliest() (first *goroutine) {
	for _, g := range e.all {
		if g.state == due && (first == nil || g.at < first.at) {
			first = g
		}
	}
	return first
}
