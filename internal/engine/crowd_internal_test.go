package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// However many callers of Wait come to their end at once, one hold of the lock wakes few of them, and these wake the others.
func TestOneHoldOfTheLockWakesFewCallersOfWait(t *testing.T) {
	check.Bubble(t, "of many", func(t *testing.T) {
		const n = 10 * endsAtOnce
		e := New(Config{Limit: 1, Queue: 8, IdleTimeout: time.Second, MaxWaiting: 1, Runner: new(counts)})
		e.Pause()
		e.TrySubmit(Task{}, nil)
		over := make(chan struct{}, n)
		for range n {
			go func() {
				e.Wait(nil)
				over <- struct{}{}
			}()
		}
		synctest.Wait()
		e.mu.Lock()
		e.queue.pop()
		e.handedBack++
		e.checkWaits()
		left := len(e.waits)
		e.mu.Unlock()
		check.Equal(t, "callers that have yet to be woken", left, n-endsAtOnce)
		synctest.Wait()
		check.Equal(t, "callers that have returned", len(over), n)
		e.Close()
	})
}

// However many idle workers have expired, one hold of the lock ends few of them.
func TestOneHoldOfTheLockEndsFewWorkers(t *testing.T) {
	check.Bubble(t, "of many", func(t *testing.T) {
		const n = 2*quitsAtOnce + 1
		e := New(Config{Limit: n, Queue: 8, IdleTimeout: time.Second, MaxWaiting: 1, Runner: new(counts)})
		e.Start(n)
		time.Sleep(time.Second - 1)
		synctest.Wait()
		check.Equal(t, "idle workers", e.Stats().Idle, n)
		e.clock = e.clock.Add(-1) // as if the time was over
		e.expire()
		check.Equal(t, "workers that stay", e.Staying(), n-quitsAtOnce)
		synctest.Wait()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		check.Equal(t, "workers in the end", e.Stats().Workers, 0)
		e.Close()
	})
}

// Resize ends all idle workers beyond the limit, few in each hold of the lock.
func TestResizeEndsManyIdleWorkers(t *testing.T) {
	check.Bubble(t, "at once", func(t *testing.T) {
		const n = 3*quitsAtOnce + 1
		e := New(Config{Limit: n, Queue: 8, IdleTimeout: time.Hour, MaxWaiting: 1, Runner: new(counts)})
		e.Start(n)
		synctest.Wait()
		e.Resize(1)
		synctest.Wait()
		check.Equal(t, "workers that are left", e.Stats().Workers, 1)
		e.Close()
	})
}

// An engine gives the room for its list of lanes back when most of them have gone.
func TestLanesThatHaveGoneLeaveNoRoomBehind(t *testing.T) {
	const n = 5000
	config := func() *Config {
		return &Config{Limit: 1, Queue: 8, IdleTimeout: time.Second, MaxWaiting: 1, Runner: new(counts)}
	}
	e := New(*config())
	lanes := make([]Engine, n)
	for i := range lanes {
		lanes[i].InitLane(e, config(), LaneConfig{Share: 1})
	}
	for i := range lanes {
		lanes[i].Close()
	}
	for range n {
		l := new(Engine)
		l.InitLane(e, config(), LaneConfig{Share: 1})
		l.Close()
	}
	if room := cap(e.lanes.all); room > n/10 {
		t.Errorf("there is room for %d lanes, of which none is left", room)
	}
	e.Close()
}
