// Package values has the values of a pool's workers: each has one of its own while it needs one.
package values

import (
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/race"
)

// Set holds the values of a pool's workers. There are never more than allowed: a worker that needs
// one waits while workers that have ended still close theirs. Init makes it ready.
//
// It never waits for a call to end: workers that have not ended are at most as many as the limit,
// and the one that waits has no value. Only after Resize has lowered the limit may it have to,
// for then more calls run than are allowed.
type Set[S any] struct {
	Open    func() (S, error)
	Dispose func(S)
	turns   *race.Turns

	mu      sync.Mutex
	fewer   sync.Cond // there is one less, or one is kept: for one worker that waits; or other ones are allowed
	none    sync.Cond // there are none any more
	count   int       // of those that are open, being opened, or being closed
	open    int       // of those that workers have
	opening int       // of those that workers open
	allowed int
	failed  int // of the openings, in a row
	kept    kept[S]
}

// Init makes a set for at most allowed values, which open makes and dispose closes. Under the race detector turns
// orders what these do.
func (v *Set[S]) Init(allowed int, open func() (S, error), dispose func(S), turns *race.Turns) {
	v.Open, v.Dispose, v.turns, v.allowed = open, dispose, turns, allowed
	v.fewer.L, v.none.L = &v.mu, &v.mu
}

// Resize sets what is allowed and the limit of the workers together: of two calls at once, one
// must not set the first and the other the second.
func (v *Set[S]) Resize(allowed int, resizeWorkers func(int)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.allowed = allowed
	resizeWorkers(allowed)
	v.closeKept(v.open + v.opening + len(v.kept.list) - allowed)
	v.fewer.Broadcast()
}

// Value is the value of one worker.
type Value[S any] struct {
	past  race.Past // of the calls that have used it
	State S
}

// Get returns a value for a call that was handed over with the tag: one that was kept, or a new one when one more is allowed.
func (v *Set[S]) Get(tag race.Tag) (own *Value[S], err error) {
	v.mu.Lock()
	own = v.takeKept()
	for own == nil && v.count >= v.allowed {
		v.fewer.Wait()
		own = v.takeKept()
	}
	if own != nil {
		v.mu.Unlock()
		return own, nil
	}
	v.count++
	v.opening++
	v.mu.Unlock()
	own = new(Value[S])
	opened := false
	defer func() {
		if !opened { // or it panicked, or called runtime.Goexit
			v.mu.Lock()
			v.opening--
			v.failed++
			v.mu.Unlock()
			v.Lose()
		}
	}()
	if race.Enabled {
		err = v.openRaced(own, tag)
	} else {
		own.State, err = v.Open()
	}
	if opened = err == nil; opened {
		v.mu.Lock()
		v.open++
		v.opening--
		v.failed = 0
		v.mu.Unlock()
	}
	return own, err
}

const (
	firstRest = time.Millisecond
	lastRest  = 100 * time.Millisecond // Wait and Close may take so much longer
)

// Rest returns how long a worker that could not open its value should take no argument, as other workers that
// have theirs could use it. Otherwise it would refuse one after the other while these are busy.
func (v *Set[S]) Rest() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open == 0 || v.failed == 0 {
		return 0
	}
	return min(firstRest<<min(v.failed-1, 10), lastRest)
}

// Release takes a value from its worker.
func (v *Set[S]) Release() {
	v.mu.Lock()
	v.open--
	v.mu.Unlock()
}

// Close closes a value that no worker has. Lose is to follow.
func (v *Set[S]) Close(own *Value[S]) {
	if race.Enabled {
		v.disposeRaced(own)
		return
	}
	v.Dispose(own.State)
}

// Lose notes that a value is closed.
func (v *Set[S]) Lose() {
	v.mu.Lock()
	v.count--
	if v.count == 0 {
		v.none.Broadcast()
	}
	v.mu.Unlock()
	v.fewer.Signal()
}
