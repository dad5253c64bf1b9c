package weir

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A pool with one timer left keeps no room for the many that it had, and does not look at the time of day for one that was stopped.
func TestTimersThatAreOverLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, Queue(Unbounded))
		defer p.Close()
		nothing := func(context.Context) {}
		p.Every(time.Hour, nothing)
		at := p.At(time.Now().Add(24*time.Hour), nothing)
		for range 10_000 {
			p.After(time.Minute, nothing)
		}
		at.Stop()
		time.Sleep(2 * time.Minute)
		all := p.timers()
		all.mu.Lock()
		defer all.mu.Unlock()
		if steady, wall := cap(all.steady), len(all.wall); steady > 100 || wall > 0 {
			t.Errorf("room for %d timers, and %d by the time of day", steady, wall)
		}
	})
}
