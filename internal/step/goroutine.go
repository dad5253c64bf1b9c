package step

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// goroutine is a goroutine under control.
type goroutine struct {
	id    int
	name  string
	e     *execution
	body  func()
	alive bool          // a real goroutine exists, which waits for wake
	wake  chan struct{} // of capacity 1
	state state
	until condition     // the condition that it waits for, if blocked
	at    time.Duration // the time at which it begins, if due
	doing string        // the operation that it is about to do, or waits for
	place string        // where it does that, in a replay

	ran      int     // the moment up to which it ran last
	yielded  int     // the moment of the Gosched at which it stands, or 0
	stays    int     // how often it has gone on at once from Gosched since its last turn
	priority float64 // in a random search
}

type state uint8

const (
	fresh   state = iota // has not begun
	due                  // it is a timer's, and begins when time has passed
	ready                // stands at a step
	blocked              // cannot go on until its condition holds
	last                 // goes on when no other goroutine can
	ended
)

// condition is what a blocked goroutine waits for.
type condition interface{ canGoOn() bool }

// start lets a goroutine begin or go on.
func (e *execution) start(g *goroutine) {
	if g.state == due {
		e.now = max(e.now, g.at)
	}
	g.state, g.yielded, g.until = ready, 0, nil
	e.running = g
	if e.trace != nil {
		e.trace.lines = append(e.trace.lines, fmt.Sprintf("%5d  goroutine %s goes on", e.moment, g.title()))
	}
	if !g.alive {
		g.alive = true
		go g.live()
	}
	g.wake <- struct{}{}
}

// spawn makes a goroutine that begins when it is let go on.
func (e *execution) spawn(name string, body func()) *goroutine {
	if e.ending {
		runtime.Goexit()
	}
	g := recycled()
	g.id, g.name, g.body, g.e = len(e.all), name, body, e
	if e.trace != nil {
		g.place = e.trace.caller()
	}
	e.all = append(e.all, g)
	return g
}

// live runs one body after another.
func (g *goroutine) live() {
	for range g.wake {
		g.once()
	}
}

func (g *goroutine) once() {
	returned := false
	defer func() {
		e := g.e
		if panicked := recover(); panicked != nil {
			returned = true
			if !e.ending {
				e.broke(fmt.Sprintf("panic: %v", panicked))
				e.failure.Stack = string(debug.Stack())
			}
		}
		g.alive = returned
		e.end(g)
	}()
	g.body()
	returned = true
}

// end is the last thing that a goroutine does.
func (e *execution) end(g *goroutine) {
	g.state, g.body = ended, nil
	e.tells()
	if e.ending {
		e.over <- struct{}{}
		return
	}
	e.moment++
	if !e.left() {
		e.over <- struct{}{}
		return
	}
	e.able(g)
	if len(e.options) == 0 {
		e.broke(e.deadlock())
		e.over <- struct{}{}
		return
	}
	g.ran = e.moment
	e.start(e.pick(free))
}

// left reports whether goroutines are left other than those of timers.
func (e *execution) left() bool {
	for _, g := range e.all {
		if g.state != ended && g.state != due {
			return true
		}
	}
	return false
}
