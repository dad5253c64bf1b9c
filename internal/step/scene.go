package step

import (
	"fmt"
	"runtime"
	"sync"
	"testing/synctest"
)

// Scene is a small program, whose interleavings are explored.
type Scene struct {
	Name  string
	Quick int // the most preemptions of an execution in the quick search
	Deep  int // the same for the deep search
	// Free is how often an execution may deviate where the running goroutine cannot go on: another goroutine
	// than the next one goes on there. 0 stands for no bound.
	Free  int
	Clock Clock
	// Body is the first goroutine of each execution. When it has returned, all other goroutines must end,
	// too.
	Body func(r *Run)
}

// Clock says when time passes.
type Clock uint8

// The clocks.
const (
	Frozen    Clock = iota // never: no timer fires
	WhenQuiet              // when no goroutine can go on
	AtAnyTime              // whenever the search wants it to
)

// Run is one execution of a scene. Its methods are for the goroutines of that execution.
type Run struct {
	x       *execution // nil when the real scheduler is at work
	fail    func(message string)
	started sync.WaitGroup // counts goroutines of Go when x is nil
	open    int            // goroutines of Go that have not ended, when x is not nil
	atEnd   []func()
}

// Go starts a goroutine, with a name for the report. [Run.Join] waits for it.
func (r *Run) Go(name string, f func()) {
	if r.x == nil {
		r.started.Go(f)
		return
	}
	r.open++
	r.x.tells()
	r.x.spawn(name, func() {
		defer func() { r.open-- }()
		f()
	})
}

// Join waits for all goroutines that Go has started.
func (r *Run) Join() {
	if r.x == nil {
		r.started.Wait()
		return
	}
	r.x.block("Join", (*joining)(r))
}

type joining Run

func (r *joining) canGoOn() bool { return r.open == 0 }

// Point is a step that does nothing. Tasks use it to last for some steps.
func (r *Run) Point() {
	if r.x == nil {
		runtime.Gosched()
		return
	}
	r.x.notes.touch(true)
	point("Point")
	r.x.notes.touch(true)
}

// Note says that the goroutine is about to read or change the scene's books, which hold what the scene knows
// of other goroutines. Using the books is no step; neither is Note.
func (r *Run) Note() {
	if r.x != nil {
		r.x.notes.touch(true)
	}
}

// Quietly calls f. Only one execution is visited until f returns: the running goroutine goes on for as long
// as it can. It is for the way to the start of what a scene explores, and for the way from its end.
func (r *Run) Quietly(f func()) {
	if r.x == nil {
		f()
		return
	}
	r.x.quietly(f)
}

// Settle waits until no other goroutine can go on unless time passes.
func (r *Run) Settle() {
	if r.x == nil {
		synctest.Wait()
		return
	}
	r.x.settle()
}

// Choose returns each number below n in some execution.
func (r *Run) Choose(n int) int {
	if r.x == nil {
		return 0
	}
	return r.x.choose(n)
}

// Failf reports that the execution broke a promise, and ends it.
func (r *Run) Failf(format string, args ...any) {
	r.fail(fmt.Sprintf(format, args...))
}

// Check calls [Run.Failf] unless ok.
func (r *Run) Check(ok bool, format string, args ...any) {
	if !ok {
		r.Failf(format, args...)
	}
}

// AtEnd makes check be called when all goroutines have ended.
func (r *Run) AtEnd(check func()) { r.atEnd = append(r.atEnd, check) }
