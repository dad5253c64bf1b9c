package weir

import (
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/race"
)

// values holds the values of a Stateful's workers. There are never more than allowed: a worker that needs
// one waits while workers that have ended still close theirs.
//
// It never waits for a call to end: workers that have not ended are at most as many as the limit,
// and the one that waits has no value. Only after resize has lowered the limit may it have to,
// for then more calls run than are allowed.
type values[S any] struct {
	opener  func() (S, error)
	dispose func(S)
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

func (v *values[S]) init(allowed int, open func() (S, error), dispose func(S), turns *race.Turns) {
	v.opener, v.dispose, v.turns, v.allowed = open, dispose, turns, allowed
	v.fewer.L, v.none.L = &v.mu, &v.mu
}

// resize sets what is allowed and the limit of the workers together: of two calls at once, one
// must not set the first and the other the second.
func (v *values[S]) resize(allowed int, resizeWorkers func(int)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.allowed = allowed
	resizeWorkers(allowed)
	v.closeKept(v.open + v.opening + len(v.kept.list) - allowed)
	v.fewer.Broadcast()
}

// owned is the value of one worker.
type owned[S any] struct {
	past  race.Past // of the calls that have used it
	state S
}

// get returns a value for a call that was handed over with the tag: one that was kept, or a new one when one more is allowed.
func (v *values[S]) get(tag race.Tag) (own *owned[S], err error) {
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
	own = new(owned[S])
	opened := false
	defer func() {
		if !opened { // or it panicked, or called runtime.Goexit
			v.mu.Lock()
			v.opening--
			v.failed++
			v.mu.Unlock()
			v.lose()
		}
	}()
	if race.Enabled {
		err = v.openRaced(own, tag)
	} else {
		own.state, err = v.opener()
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

// rest keeps a worker that could not open its value from taking arguments which other workers, that
// have theirs, could use. Otherwise it would refuse one after the other while these are busy.
func (v *values[S]) rest() {
	v.mu.Lock()
	alone, failed := v.open == 0, v.failed
	v.mu.Unlock()
	if !alone && failed > 0 {
		time.Sleep(min(firstRest<<min(failed-1, 10), lastRest))
	}
}

// release takes a value from its worker.
func (v *values[S]) release() {
	v.mu.Lock()
	v.open--
	v.mu.Unlock()
}

// close closes a value that no worker has. lose is to follow.
func (v *values[S]) close(own *owned[S]) {
	if race.Enabled {
		v.disposeRaced(own)
		return
	}
	v.dispose(own.state)
}

func (v *values[S]) lose() {
	v.mu.Lock()
	v.count--
	if v.count == 0 {
		v.none.Broadcast()
	}
	v.mu.Unlock()
	v.fewer.Signal()
}
