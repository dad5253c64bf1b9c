package step

import "runtime"

// Mutex stands for that of package sync. A goroutine that waits for it is known to be blocked.
type Mutex struct {
	locked bool
	access
}

func (m *Mutex) canGoOn() bool { return !m.locked }

// Lock is that of package sync.
func (m *Mutex) Lock() {
	point("Lock")
	m.touch(true)
	if e := current; e != nil {
		e.block("Lock", m)
	}
	m.locked = true
}

// Unlock is that of package sync. It is no step: the goroutine that it lets go on can
// go on at the next one, and until then its caller does nothing that others see.
func (m *Mutex) Unlock() {
	if e := current; !m.locked && (e == nil || !e.ending) {
		panic("step: unlock of an unlocked mutex")
	}
	m.touch(true)
	m.locked = false
}

// TryLock is that of package sync.
func (m *Mutex) TryLock() bool {
	point("TryLock")
	m.touch(true)
	if m.locked {
		return false
	}
	m.locked = true
	return true
}

// Cond stands for that of package sync.
type Cond struct {
	L interface {
		Lock()
		Unlock()
	}
	waiting []*signalled // in the order of their calls
}

// signalled is a goroutine in Wait, until another one has signalled.
type signalled struct{ canGo bool }

func (s *signalled) canGoOn() bool { return s.canGo }

// Wait is that of package sync. The goroutine joins those that wait and unlocks L in one step, as the mutex of L does.
func (c *Cond) Wait() {
	s := new(signalled)
	c.waiting = append(c.waiting, s)
	c.L.Unlock()
	await("Cond.Wait", s)
	c.L.Lock()
}

// Signal is that of package sync. It is no step, as Unlock is none.
func (c *Cond) Signal() {
	if e := current; e != nil {
		e.tells()
	}
	if len(c.waiting) > 0 {
		c.waiting[0].canGo = true
		c.waiting = c.waiting[1:]
	}
}

// WaitGroup stands for that of package sync.
type WaitGroup struct {
	n int
	access
}

func (w *WaitGroup) canGoOn() bool { return w.n == 0 }

// Add is that of package sync.
func (w *WaitGroup) Add(delta int) {
	point("WaitGroup.Add")
	w.touch(true)
	if w.n += delta; w.n < 0 {
		panic("step: negative WaitGroup counter")
	}
}

// Done is that of package sync.
func (w *WaitGroup) Done() { w.Add(-1) }

// Wait is that of package sync.
func (w *WaitGroup) Wait() {
	point("WaitGroup.Wait")
	await("WaitGroup.Wait", w)
}

// Once stands for that of package sync.
type Once struct {
	done bool
	Mutex
}

// Do is that of package sync.
func (o *Once) Do(f func()) {
	o.Lock()
	defer o.Unlock()
	if !o.done {
		defer func() { o.done = true }()
		f()
	}
}

// Gosched is that of package runtime.
func Gosched() {
	if e := current; e != nil && !e.silent {
		e.yield()
		return
	}
	runtime.Gosched()
}

// Go0 is a go statement for a call without arguments.
func Go0(f func()) { spawn(f) }

// Go1 is a go statement for a call with one argument.
func Go1[A any](f func(A), a A) { spawn(func() { f(a) }) }

// Go2 is a go statement for a call with two arguments.
func Go2[A, B any](f func(A, B), a A, b B) { spawn(func() { f(a, b) }) }

func spawn(f func()) {
	e := current
	if e == nil {
		panic("step: a goroutine is started outside of an execution")
	}
	e.tells()
	e.spawn("", f)
}
