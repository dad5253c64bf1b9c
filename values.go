package weir

import (
	"sync"
	"time"
)

// values are those of a Stateful's workers. There are never more than allowed: a worker that needs
// one waits while workers that have ended still close theirs.
//
// It never waits for a call to end: workers that have not ended are at most as many as the limit,
// and the one that waits has no value. Only after resize has lowered the limit may it have to,
// for then more calls run than are allowed.
type values[S any] struct {
	opener  func() (S, error)
	dispose func(S)

	mu      sync.Mutex
	fewer   sync.Cond // fewer are there, or more are allowed
	count   int       // of those that are open, being opened, or being closed
	open    int       // of those that workers have
	allowed int
	failed  int // of the openings, in a row
}

func (v *values[S]) init(allowed int, open func() (S, error), dispose func(S)) {
	v.opener, v.dispose, v.allowed = open, dispose, allowed
	v.fewer.L = &v.mu
}

// resize sets what is allowed and the limit of the workers together: of two calls at once, one
// must not set the first and the other the second.
func (v *values[S]) resize(allowed int, resizeWorkers func(int)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.allowed = allowed
	resizeWorkers(allowed)
	v.fewer.Broadcast()
}

// add opens a value, when one more is allowed.
func (v *values[S]) add() (state S, err error) {
	v.mu.Lock()
	for v.count >= v.allowed {
		v.fewer.Wait()
	}
	v.count++
	v.mu.Unlock()
	opened := false
	defer func() {
		if !opened { // or it panicked, or called runtime.Goexit
			v.lose()
		}
	}()
	state, err = v.opener()
	opened = err == nil
	v.mu.Lock()
	if opened {
		v.open++
		v.failed = 0
	} else {
		v.failed++
	}
	v.mu.Unlock()
	return state, err
}

const (
	firstRest = time.Millisecond
	lastRest  = 100 * time.Millisecond // Wait and Close may take so much longer
)

// rest keeps a worker that could not open its value from taking arguments which others, that have
// theirs, could use. Otherwise it would refuse one after the other while these are busy.
func (v *values[S]) rest() {
	v.mu.Lock()
	alone, failed := v.open == 0, v.failed
	v.mu.Unlock()
	if !alone && failed > 0 {
		time.Sleep(min(firstRest<<min(failed-1, 10), lastRest))
	}
}

// remove closes a value.
func (v *values[S]) remove(state S) {
	v.mu.Lock()
	v.open--
	v.mu.Unlock()
	defer v.lose()
	v.dispose(state)
}

func (v *values[S]) lose() {
	v.mu.Lock()
	v.count--
	v.mu.Unlock()
	v.fewer.Broadcast()
}
