package step

import (
	"fmt"
	"runtime"
	"time"
)

// current is the execution in progress. A process has only one at a time, so an operation need not know which
// one it belongs to.
var current *execution

// execution is one run of a scene under control. One of its goroutines runs. The others stand at a step, or
// cannot go on. Only the running goroutine touches what the execution holds.
type execution struct {
	chooser chooser
	clock   Clock
	all     []*goroutine
	running *goroutine
	moment  int // counts the steps, and all else where a goroutine is chosen
	ask     int // the first moment at which a step asks the chooser
	longest int // a run of more moments is endless
	now     time.Duration
	run     *Run

	options    []*goroutine
	deviations []deviation // where the chooser did not take the default
	trace      *trace      // nil except in a replay

	reduces bool   // the execution is given up if it comes to the same as another one
	late    bool   // the running goroutine was preempted, and has done nothing since whose order matters
	since   int    // the moment of that preemption
	notes   access // to the books of the scene
	hushed  bool   // the chooser is not asked: the first option goes on

	failure *Failure
	given   bool          // the execution was given up: it comes to the same as another one
	over    chan struct{} // the goroutine that started the execution receives from it
	ending  bool          // each goroutine that is woken or comes to a step ends
	silent  bool          // no operation is a step
}

// patience is how often a goroutine may go on at once from Gosched. A loop of a few yields is run to its end,
// an endless one is not.
const patience = 12

// point is a step: another goroutine may go on here.
func point(doing string) {
	e := current
	if e == nil || e.silent {
		return
	}
	e.moment++
	if e.moment < e.ask && !e.late {
		return
	}
	e.step(doing)
}

func (e *execution) step(doing string) {
	g := e.running
	e.check()
	if e.late {
		e.given, e.ending, e.ask = true, true, 0
		runtime.Goexit()
	}
	if e.moment < e.ask {
		return
	}
	g.doing = doing
	if e.trace != nil {
		e.trace.note(e, g, doing)
	}
	if e.hushed {
		return
	}
	e.options = e.passing(e.others(append(e.options[:0], g), g))
	next := e.pick(preempt)
	if next == g {
		return
	}
	moment := e.moment
	e.letGoOn(g, next)
	e.late, e.since = e.reduces, moment
}

// quietly calls f. The chooser makes no choice until f returns.
func (e *execution) quietly(f func()) {
	e.tells()
	e.hushed, e.ask = true, e.longest
	f()
	e.hushed = false
	e.chooser.resume(e)
}

// check ends the goroutine if the execution must end, or has run for too many moments.
func (e *execution) check() {
	if e.ending {
		runtime.Goexit()
	}
	if e.moment > e.longest {
		e.failf("endless: no goroutine ends in %d steps", e.longest)
	}
}

// yield is Gosched: the other goroutines go first. The chooser is asked once whether the goroutine goes on at
// once, for as long as it does nothing but yield.
func (e *execution) yield() {
	g := e.running
	e.tells()
	e.moment++
	e.check()
	g.doing = "Gosched"
	if e.trace != nil {
		e.trace.note(e, g, g.doing)
	}
	if g.stays > 0 && g.stays < patience {
		g.stays++
		return
	}
	g.yielded, g.ran = e.moment, e.moment
	e.options = e.fair(e.others(e.options[:0], g))
	if e.clock == AtAnyTime {
		e.options = e.passing(e.options)
	}
	if len(e.options) == 0 {
		return
	}
	if g.stays == 0 {
		e.options = append(e.options, g)
	}
	next := e.pick(yield)
	if next == g {
		g.stays = 1
		return
	}
	e.letGoOn(g, next)
}

// block waits until the condition holds. If it holds already, block is no step.
func (e *execution) block(doing string, until condition) {
	if until.canGoOn() {
		return
	}
	if e.silent {
		panic("step: " + doing + " blocks at the end of an execution")
	}
	e.wait(doing, blocked, until)
}

// settle waits until no other goroutine can go on.
func (e *execution) settle() { e.wait("Settle", last, nil) }

func (e *execution) wait(doing string, as state, until condition) {
	g := e.running
	e.tells()
	e.moment++
	e.check()
	g.state, g.until, g.doing = as, until, doing
	if e.trace != nil {
		e.trace.note(e, g, doing+", and waits")
	}
	e.letGoOn(g, e.next(g))
}

// broke notes why the execution ends before its time.
func (e *execution) broke(message string) {
	if e.failure == nil {
		e.failure = &Failure{Message: message}
	}
	e.ending, e.ask = true, 0
}

func (e *execution) failf(format string, args ...any) {
	if !e.ending {
		e.broke(fmt.Sprintf(format, args...))
	}
	if e.silent {
		panic(brokenOff{})
	}
	runtime.Goexit()
}

// brokenOff is what a check at the end of an execution panics with.
type brokenOff struct{}
