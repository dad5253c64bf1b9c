package engine

import "sync"

// Bell is what a goroutine outside tasks waits at. Its zero value is ready for use. Of all ways to wait, a condition variable touches the least memory: a channel
// takes an allocation, and twice as much code.
type Bell struct {
	mu   sync.Mutex
	rung bool
	wait sync.Cond
	over chan struct{} // of capacity 1: in place of both, once WaitUntil has been called
}

// Ring ends the wait, or the next one if none is under way.
func (b *Bell) Ring() {
	b.mu.Lock()
	over := b.over
	b.rung = over == nil
	b.mu.Unlock()
	if over == nil {
		b.wait.Signal()
		return
	}
	select {
	case over <- struct{}{}:
	default:
	}
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

// WaitUntil is Wait that ends when done is closed, too. It reports false then. All later waits must be calls of it, where done may be nil.
func (b *Bell) WaitUntil(done <-chan struct{}) bool {
	b.mu.Lock()
	rung := b.rung
	b.rung = false
	if !rung && b.over == nil {
		b.over = make(chan struct{}, 1)
	}
	over := b.over
	b.mu.Unlock()
	if rung {
		return true
	}
	select {
	case <-over:
		return true
	case <-done:
	}
	return false
}
