package places

import (
	"fmt"
	"maps"
)

// Options say how a program is run.
type Options struct {
	Cancels int  // how many waits may be cancelled
	Trace   bool // keep the Outcome's trace
}

// Outcome is what was seen of a run.
type Outcome struct {
	Problem string   // what went wrong; empty if the program ended and no invariant was broken
	Extra   int      // the most extra places that a pool had
	Trace   []string // what the tasks did
}

// Run runs the program, and takes each decision by choose, which returns a number from 0 to n-1:
// which task does its next step, which wait is cancelled, and what the rule leaves open.
func Run(p *Program, o Options, choose func(n int) int) Outcome {
	w := &world{Options: o, choose: choose, locked: map[int]bool{}, signals: map[int]bool{}}
	for _, limit := range p.Limits {
		w.pools = append(w.pools, &pool{limit: limit})
	}
	w.outside = &task{futures: map[int]*task{}}
	for _, root := range p.Roots {
		w.handOver(root, w.outside, nil)
	}
	w.run()
	for _, t := range w.tasks {
		if t.stop != nil {
			t.stop()
		}
	}
	return w.seen
}

// world is a program that runs.
type world struct {
	Options
	choose  func(n int) int
	outside *task // hands the roots over
	pools   []*pool
	tasks   []*task // all that were handed over, in their order
	locked  map[int]bool
	signals map[int]bool
	seen    Outcome
}

type state int

const (
	queued  state = iota // it has no place: it has not begun, or is a helper that handed its place over
	running              // it has a place; it may block in its own code
	waiting              // it has a place, and the library sees it wait
	ended                // or it was dropped before it began
)

// task is a Task that was handed over.
type task struct {
	*Task
	number    int
	pool      *pool
	parent    *task  // the task that handed it over
	group     *group // that it is a member of, or nil
	state     state
	begun     bool
	cancelled bool // its context has ended
	place     *place
	wait      *wait         // while it waits
	futures   map[int]*task // that it can get

	blocked func() bool // if not nil, tells whether its own code blocks it
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
}

// group is a set of members, or of helpers, that its owner waits for.
type group struct {
	open           []*task
	arrived, taken int // items delivered, or members ended; and those with which the owner did its body
	cancelled      bool
}

// wait is a wait for members of a group, or for a future.
type wait struct {
	group       *group
	future      *task
	over        func() bool
	cancellable bool
	cancelled   bool
}

func (t *task) String() string { return fmt.Sprintf("%c%d", 'X'+t.Pool, t.number) }

// awaited returns what the task waits for now.
func (t *task) awaited() []*task {
	switch {
	case t.state != waiting:
		return nil
	case t.wait.group != nil:
		return t.wait.group.open
	default:
		return []*task{t.wait.future}
	}
}

// handOver puts a task at the end of its pool's queue.
func (w *world) handOver(what *Task, by *task, g *group) {
	t := &task{Task: what, number: len(w.tasks), pool: w.pools[what.Pool], parent: by, group: g, futures: maps.Clone(by.futures)}
	w.tasks = append(w.tasks, t)
	t.pool.queue = append(t.pool.queue, t)
	if t.Future > 0 {
		by.futures[t.Future] = t
	}
	if g != nil {
		g.open = append(g.open, t)
	}
	if by.cancelled || g != nil && g.cancelled {
		w.cancel(t)
	}
}

// run lets the tasks take steps until nothing moves.
func (w *world) run() {
	for w.seen.Problem == "" {
		w.settle()
		w.check()
		var able, cancellable []*task
		over := true
		for _, t := range w.tasks {
			over = over && t.state == ended
			switch {
			case t.state == running && (t.blocked == nil || !t.blocked()):
				able = append(able, t)
			case t.state == waiting && t.wait.cancellable && !t.wait.cancelled && w.Cancels > 0:
				cancellable = append(cancellable, t)
			}
		}
		if over {
			w.checkEnd()
			return
		}
		if len(able) == 0 {
			w.seen.Problem = Deadlock
			return
		}
		if n := w.choose(len(able) + len(cancellable)); n < len(able) {
			w.step(able[n])
		} else {
			w.Cancels--
			w.cancelWait(cancellable[n-len(able)])
		}
	}
}

// say adds to the trace.
func (w *world) say(t *task, what string) {
	if w.Trace {
		w.seen.Trace = append(w.seen.Trace, fmt.Sprint(t, " ", what))
	}
}
