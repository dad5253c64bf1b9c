package lane

import (
	"sync"
	"sync/atomic"
)

// Group runs functions, each as if on a goroutine of its own, and keeps the first error. The zero Group is
// ready to use.
type Group struct {
	// Cancel, if not nil, is called with the first error. It must be set before the first function is run.
	Cancel func(cause error)

	goroutines sync.WaitGroup
	failed     sync.Once
	begun      atomic.Int32 // functions that started before there was a ring
	err        error
	lane       atomic.Pointer[lane] // nil while there is neither a limit nor a ring
}

// Go runs f as soon as the limit lets it in, and blocks until then.
func (g *Group) Go(f func() error) {
	l := g.lane.Load()
	if l != nil && l.limit != nil && !l.limit.TryAcquire() && !l.limit.Acquire(f) {
		return // the goroutine that made room runs f
	}
	g.add(l, f)
}

// TryGo is Go that never blocks. It reports whether the limit has let f in.
func (g *Group) TryGo(f func() error) bool {
	l := g.lane.Load()
	if l != nil && l.limit != nil && !l.limit.TryAcquire() {
		return false
	}
	g.add(l, f)
	return true
}

// Wait blocks until all functions have ended, and returns the first error.
func (g *Group) Wait() error {
	g.goroutines.Wait()
	return g.err
}

// Hold keeps Wait from returning until Unhold.
func (g *Group) Hold() { g.goroutines.Add(1) }

// Unhold undoes Hold.
func (g *Group) Unhold() { g.goroutines.Done() }

// Shut reports whether the limit lets no function in.
func (g *Group) Shut() bool {
	l := g.lane.Load()
	return l != nil && l.limit != nil && l.limit.Limit() == 0
}

// Active returns how many functions are active under a limit.
func (g *Group) Active() int {
	if l := g.lane.Load(); l != nil && l.limit != nil {
		return l.limit.Holders()
	}
	return 0
}

// SetLimit sets how many of the functions that are given to the group from now on may be active at once. A
// negative n means no limit.
func (g *Group) SetLimit(n int) {
	if n < 0 {
		g.lane.Store(nil)
		return
	}
	g.lane.Store(newLimited(n))
}

func (g *Group) fail(err error) {
	g.failed.Do(func() {
		g.err = err
		if g.Cancel != nil {
			g.Cancel(err)
		}
	})
}
