package engine

import "sync"

// Bell is what a goroutine outside tasks waits at. Its zero value is ready for use. Of all ways to wait, a condition variable touches the least memory: a channel
// takes an allocation, and twice as much code.
type Bell struct {
	mu   sync.Mutex
	rung bool
	wait sync.Cond
}

// Ring ends the wait, or the next one if none is under way.
func (b *Bell) Ring() {
	b.mu.Lock()
	b.rung = true
	b.mu.Unlock()
	b.wait.Signal()
}

// Wait blocks until Ring is called. One goroutine waits at a time.
func (b *Bell) Wait() {
	b.mu.Lock()
	b.wait.L = &b.mu
	for !b.rung {
		b.wait.Wait()
	}
	b.rung = false
	b.mu.Unlock()
}
