//go:build race

package race

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Enabled says whether the race detector is part of the program.
const Enabled = true

// Past stands for what goroutines have done until they released it. Code that acquires it is ordered after
// that.
type Past struct{ _ uint64 }

// Now returns the past of the caller: what it has done until now.
func Now() *Past {
	p := new(Past)
	p.Release()
	return p
}

// Release adds to p what the caller has done until now. The pointer is safe: the detector uses it only as an
// address.
func (p *Past) Release() { runtime.RaceReleaseMerge(unsafe.Pointer(p)) }

// Acquire orders what the caller does from now on after p. The pointer is safe, like that of Release.
func (p *Past) Acquire() { runtime.RaceAcquire(unsafe.Pointer(p)) }

// Turns orders tasks one after the other, as long as only one may run at a time.
type Turns struct {
	limit   atomic.Int64
	queued  bool // tasks are accepted before they may run
	past    Past
	orders  Past // of callers that have closed the pool, or changed its limit
	resumed Past // of callers that have ended a pause
	above   *Turns
}

// Within says that tasks which take these turns take those of above as well.
func (t *Turns) Within(above *Turns) { t.above = above }

// Limit sets how many tasks may run at once.
func (t *Turns) Limit(n int) { t.limit.Store(int64(n)) }

// Queue says that tasks are accepted before they may run, if n is not 0.
func (t *Turns) Queue(n int) { t.queued = n != 0 }

// Begin begins the caller's task. If only one task runs at a time, it orders what the caller does from now on
// after the tasks before. It also orders that after the callers of Resume.
//
//go:norace
func (t *Turns) Begin() {
	for ; t != nil; t = t.above {
		t.resumed.Acquire()
		if t.one() {
			t.past.Acquire()
		}
	}
}

// Order notes that the caller closes the pool, or changes its limit.
func (t *Turns) Order() { t.orders.Release() }

// Orders returns the past of the callers of Order.
func (t *Turns) Orders() *Past { return &t.orders }

// Resume notes that the caller ends a pause. No task begins in a pause, so each later task is ordered after
// the caller.
func (t *Turns) Resume() { t.resumed.Release() }

// End ends the caller's task.
//
//go:norace
func (t *Turns) End() {
	for ; t != nil; t = t.above {
		if t.one() {
			t.past.Release()
		}
	}
}

// one reports whether only one task may run at a time. It does not synchronize with Limit, nor with other
// calls of one.
//
//go:norace
func (t *Turns) one() bool {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	return t.limit.Load() == 1
}

// Map is a [sync.Map].
type Map struct{ sync.Map }

// Tag is what a task takes with it from the goroutine that hands it over.
type Tag struct {
	past      *Past
	admission *admission
}

// Here returns a tag with the caller's past.
func Here() Tag { return Tag{Now(), new(admission)} }

// Start returns the start of the task that has the tag.
func (t Tag) Start(turns ...*Turns) (s Start) {
	s.Pasts[0], s.admission = t.past, t.admission
	copy(s.Turns[:], turns)
	return s
}

// Admitted orders the caller, which has handed the task over, after earlier tasks. It does so if, by these
// turns, the task could be accepted only when those tasks had ended. The caller is not ordered after its own
// task.
//
//go:norace
func (t Tag) Admitted(turns ...*Turns) {
	for _, turns := range turns {
		switch {
		case turns.queued || !turns.one():
		case t.admission.begun():
			t.admission.before.Acquire()
		default:
			turns.past.Acquire()
		}
	}
}

// admission is that of one task: what was known where the task began.
type admission struct {
	before Past
	over   atomic.Bool
}

// begin is called on the goroutine that is about to run the task.
//
//go:norace
func (a *admission) begin() {
	if a == nil {
		return
	}
	a.before.Release()
	runtime.RaceDisable()
	a.over.Store(true)
	runtime.RaceEnable()
}

//go:norace
func (a *admission) begun() bool {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	return a.over.Load()
}

// Start is what a task is ordered after: pasts, and in turns the tasks before it. Each may be nil.
type Start struct {
	Pasts     [2]*Past
	Turns     [2]*Turns
	admission *admission
}

//go:norace
func (s *Start) acquire() {
	for _, p := range s.Pasts {
		if p != nil {
			p.Acquire()
		}
	}
	for _, t := range s.Turns {
		t.Begin()
	}
}

// Run calls f on a goroutine that is ordered only after start, and returns the result of f. The caller is
// ordered after f; if ended is not nil, only when it acquires ended. If f panics, Run panics with a *[Panic].
// If f exits its goroutine, so does Run.
//
//go:norace
func Run[R any](start Start, ended *Past, f func() R) R {
	start.admission.begin()
	if !another() {
		return runHere(start, ended, f)
	}
	c := &call[R]{start: start, ended: ended, f: f, done: make(chan struct{})}
	runtime.RaceDisable()
	go c.run()
	runtime.RaceEnable()
	<-c.done
	switch {
	case c.returned:
		return c.result
	case c.panicked != nil:
		c.fault.Acquire()
		panic(c.panicked)
	default:
		c.fault.Acquire()
		runtime.Goexit()
		panic("not reached")
	}
}

// runHere is Run on the goroutine that calls it, which is ordered after what it has run before.
func runHere[R any](start Start, ended *Past, f func() R) R {
	start.acquire()
	defer func() {
		for _, t := range start.Turns {
			t.End()
		}
		if ended != nil {
			ended.Release()
		}
	}()
	return f()
}

// most is how many goroutines of this package there may be. The race detector ends a program that has more
// than 8128 in all.
const most = 1000

var others atomic.Int32

// another counts one more goroutine, and reports whether there may be one.
//
//go:norace
func another() bool {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	if others.Add(1) > most {
		others.Add(-1)
		return false
	}
	return true
}

// call is one call of f on another goroutine.
type call[R any] struct {
	start    Start
	ended    *Past
	f        func() R
	result   R
	returned bool
	panicked *Panic
	fault    Past
	done     chan struct{}
}

//go:norace
func (c *call[R]) run() {
	defer c.tell(c.ended == nil)
	defer c.end()
	c.start.acquire()
	c.result = c.f()
	c.returned = true
}

//go:norace
func (c *call[R]) end() {
	if !c.returned {
		switch value := recover().(type) {
		case nil:
		case *Panic:
			c.panicked = value // the panic of a goroutine that this one waited for
		default:
			c.panicked = &Panic{value, debug.Stack()}
		}
		c.fault.Release()
	}
	for _, t := range c.start.Turns {
		t.End()
	}
	if c.ended != nil {
		c.ended.Release()
	}
}

// tell lets the caller go on. The caller is ordered after tell only if ordered is true.
//
//go:norace
func (c *call[R]) tell(ordered bool) {
	runtime.RaceDisable()
	others.Add(-1)
	if ordered {
		runtime.RaceEnable()
		close(c.done)
		return
	}
	close(c.done)
	runtime.RaceEnable()
}

// Unseen calls f. The detector does not see anything that f synchronizes with.
//
//go:norace
func Unseen(f func()) {
	runtime.RaceDisable()
	f()
	runtime.RaceEnable()
}

// Apart calls f on a new goroutine that is ordered after the caller, and returns the result of f. The caller
// is not ordered after anything that f synchronizes with. f must not exit, nor panic except by misuse. What
// its result refers to must not be made by f.
//
//go:norace
func Apart[R any](f func() R) R {
	if !another() {
		return f()
	}
	c := &call[R]{f: f, done: make(chan struct{})}
	past := Now()
	runtime.RaceDisable()
	go c.apart(past)
	runtime.RaceEnable()
	<-c.done
	if !c.returned {
		c.fault.Acquire()
		if c.panicked == nil {
			runtime.Goexit()
		}
		panic(c.panicked.Value)
	}
	return c.result
}

//go:norace
func (c *call[R]) apart(past *Past) {
	defer c.tell(false)
	defer c.end()
	past.Acquire()
	c.result = c.f()
	c.returned = true
}
