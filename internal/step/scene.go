package step

import (
	"fmt"
	"runtime"
	"sync"
	"testing/synctest"
)

// Scene is a small program whose interleavings are explored.
type Scene struct {
	Name  string
	Quick int // how many preemptions an execution of the quick search may have
	Deep  int // the same for the deep search
	// Free is how often an execution may let another than the next goroutine go on where
	// one cannot; 0 stands for no bound.
	Free  int
	Clock Clock
	// Body is the first goroutine of each execution. When it has returned, every
	// other one must end, too.
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
	x       *execution // nil where the real scheduler is at work
	fail    func(message string)
	started sync.WaitGroup // where x is nil
	open    int            // goroutines of Go that have not ended, where x is not nil
	atEnd   []func()
}

// Go starts a goroutine and gives it a name for the report. [Run.Join] waits for it.
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

// Join waits for all goroutines of Go.
func (r *Run) Join() {
	if r.x == nil {
		r.started.Wait()
		return
	}
	r.x.block("Join", (*joining)(r))
}

type joining Run

func (r *joining) canGoOn() bool { return r.open == 0 }

// Point is a step that does nothing. A task has some, so that it lasts.
func (r *Run) Point() {
	if r.x == nil {
		runtime.Gosched()
		return
	}
	r.x.notes.touch(true)
	point("Point")
	r.x.notes.touch(true)
}

// Note says that the goroutine is about to look at, or to change, what the scene knows of
// others: its books, which are no step. It is none either.
func (r *Run) Note() {
	if r.x != nil {
		r.x.notes.touch(true)
	}
}

// Quietly calls f, and until that returns only one execution is visited: the one that runs goes on for
// as long as it can. It is for the way to where a scene begins, and for that from its end.
func (r *Run) Quietly(f func()) {
	if r.x == nil {
		f()
		return
	}
	r.x.quietly(f)
}

// Settle waits until no other goroutine can go on, unless time passes.
func (r *Run) Settle() {
	if r.x == nil {
		synctest.Wait()
		return
	}
	r.x.settle()
}

// Choose returns each number below n, in one execution or another.
func (r *Run) Choose(n int) int {
	if r.x == nil {
		return 0
	}
	return r.x.choose(n)
}

// Failf says that the execution broke a promise, and ends it.
func (r *Run) Failf(format string, args ...any) {
	r.fail(fmt.Sprintf(format, args...))
}

// Check calls [Run.Failf] unless ok.
func (r *Run) Check(ok bool, format string, args ...any) {
	if !ok {
		r.Failf(format, args...)
	}
}

// AtEnd has check called when all goroutines have ended.
func (r *Run) AtEnd(check func()) { r.atEnd = append(r.atEnd, check) }
