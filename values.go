package weir

import "sync"

// values are those of a Stateful's workers. There are never more than allowed: a worker that
// needs one waits while others, which have ended, still close theirs.
//
// It waits for nobody else. No more workers than the limit are on the crew, but for those
// that leave, and the one that waits has no value. Only after resize has lowered the
// limit may it have to wait for calls to end: then more of them run than are allowed.
type values[S any] struct {
	open    func() (S, error)
	dispose func(S)

	mu      sync.Mutex
	fewer   sync.Cond // there are fewer, or more are allowed
	count   int
	allowed int
}

func (v *values[S]) init(allowed int, open func() (S, error), dispose func(S)) {
	v.open, v.dispose, v.allowed = open, dispose, allowed
	v.fewer.L = &v.mu
}

// resize sets what is allowed and the limit of the workers as one: between two calls the
// one must not be of the first and the other of the second.
func (v *values[S]) resize(allowed int, resizeWorkers func(int)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.allowed = allowed
	resizeWorkers(allowed)
	v.fewer.Broadcast()
}

// make opens a value.
func (v *values[S]) make() (state S, err error) {
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
	state, err = v.open()
	opened = err == nil
	return state, err
}

// close closes a value.
func (v *values[S]) close(state S) {
	defer v.lose()
	v.dispose(state)
}

func (v *values[S]) lose() {
	v.mu.Lock()
	v.count--
	v.mu.Unlock()
	v.fewer.Broadcast()
}
