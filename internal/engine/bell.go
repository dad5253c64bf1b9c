package engine

import "sync"

// Bell is what a goroutine outside tasks waits at. The zero value is ready for use. It uses a condition
// variable because that touches the least memory of all ways to wait: a channel takes an allocation, and
// twice as much code.
type Bell struct {
	mu   sync.Mutex
	rung bool
	wait sync.Cond
	over chan struct{} // of capacity 1; once WaitUntil has been called, it replaces rung and wait
}

// Ring ends the wait under way, or the next one if there is none.
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

// Wait blocks until Ring is called. Only one goroutine may wait at a time.
func (b *Bell) Wait() {
	b.mu.Lock()
	b.wait.L = &b.mu
	for !b.rung {
		b.wait.Wait()
	}
	b.rung = false
	b.mu.Unlock()
}

// WaitUntil is Wait that also ends when done is closed; it reports false then. Once it has been called, all
// later waits on b must be calls of WaitUntil; their done may be nil.
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
