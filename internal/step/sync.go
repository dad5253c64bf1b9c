package step

import "runtime"

// Mutex stands for [sync.Mutex]. A goroutine that waits for it is known to be blocked.
type Mutex struct {
	locked bool
	access
}

func (m *Mutex) canGoOn() bool { return !m.locked }

// Lock stands for [sync.Mutex.Lock].
func (m *Mutex) Lock() {
	point("Lock")
	m.touch(true)
	if e := current; e != nil {
		e.block("Lock", m)
	}
	m.locked = true
}

// Unlock stands for [sync.Mutex.Unlock]. It is no step. The goroutine that it lets go on can go on at the
// next step, and until then the caller does nothing that others see.
func (m *Mutex) Unlock() {
	if e := current; !m.locked && (e == nil || !e.ending) {
		panic("step: unlock of an unlocked mutex")
	}
	m.touch(true)
	m.locked = false
}

// TryLock stands for [sync.Mutex.TryLock].
func (m *Mutex) TryLock() bool {
	point("TryLock")
	m.touch(true)
	if m.locked {
		return false
	}
	m.locked = true
	return true
}

// Cond stands for [sync.Cond].
type Cond struct {
	L interface {
		Lock()
		Unlock()
	}
	waiting []*signalled // in the order of their calls of Wait
}

// signalled is a goroutine in Wait, until another one has signalled.
type signalled struct{ canGo bool }

func (s *signalled) canGoOn() bool { return s.canGo }

// Wait stands for [sync.Cond.Wait]. The goroutine joins those that wait and unlocks L in one step, as the
// mutex of L does.
func (c *Cond) Wait() {
	s := new(signalled)
	c.waiting = append(c.waiting, s)
	c.L.Unlock()
	await("Cond.Wait", s)
	c.L.Lock()
}

// Signal stands for [sync.Cond.Signal]. It is no step, like Unlock.
func (c *Cond) Signal() {
	if e := current; e != nil {
		e.tells()
	}
	if len(c.waiting) > 0 {
		c.waiting[0].canGo = true
		c.waiting = c.waiting[1:]
	}
}

// WaitGroup stands for [sync.WaitGroup].
type WaitGroup struct {
	n int
	access
}

func (w *WaitGroup) canGoOn() bool { return w.n == 0 }

// Add stands for [sync.WaitGroup.Add].
func (w *WaitGroup) Add(delta int) {
	point("WaitGroup.Add")
	w.touch(true)
	if w.n += delta; w.n < 0 {
		panic("step: negative WaitGroup counter")
	}
}

// Done stands for [sync.WaitGroup.Done].
func (w *WaitGroup) Done() { w.Add(-1) }

// Wait stands for [sync.WaitGroup.Wait].
func (w *WaitGroup) Wait() {
	point("WaitGroup.Wait")
	await("WaitGroup.Wait", w)
}

// Once stands for [sync.Once].
type Once struct {
	done bool
	Mutex
}

// Do stands for [sync.Once.Do].
func (o *Once) Do(f func()) {
	o.Lock()
	defer o.Unlock()
	if !o.done {
		defer func() { o.done = true }()
		f()
	}
}

// Gosched stands for [runtime.Gosched].
func Gosched() {
	if e := current; e != nil && !e.silent {
		e.yield()
		return
	}
	runtime.Gosched()
}

// Go0 stands for a go statement of a call without arguments.
func Go0(f func()) { spawn(f) }

// Go1 stands for a go statement of a call with one argument.
func Go1[A any](f func(A), a A) { spawn(func() { f(a) }) }

// Go2 stands for a go statement of a call with two arguments.
func Go2[A, B any](f func(A, B), a A, b B) { spawn(func() { f(a, b) }) }

func spawn(f func()) {
	e := current
	if e == nil {
		panic("step: a goroutine is started outside of an execution")
	}
	e.tells()
	e.spawn("", f)
}
