package engine_test

import (
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
)

// family is what a task and its subtasks have in common. It follows the protocol of a nested
// group, as the root package does.
type family struct {
	w       *world
	source  engine.Source[*task]
	absence engine.Absence
	outside bool // who waits is no task

	begun, ended, target atomic.Int64
}

func (w *world) newFamily(depth int) *family {
	f := &family{w: w}
	f.absence.Turn, f.absence.Depth = make(chan struct{}, 1), depth
	f.target.Store(1 << 62)
	return f
}

// Ended counts n subtasks out.
func (f *family) Ended(n int) {
	if f.ended.Add(int64(n)) >= f.target.Load() {
		f.w.Recall(&f.absence)
	}
}

// Last reports whether all have ended when n more have.
func (f *family) Last(n int) bool { return f.ended.Load()+int64(n) >= f.begun.Load() }

// add hands a subtask over, and waits for room.
func (f *family) add(j *task) {
	w := f.w
	j.ledger = f
	w.offered(j)
	f.begun.Add(1)
	w.answer(j, engine.Accepted)
	for _, refused := range w.Delegate(&f.source, j) {
		w.answer(refused, engine.Closed)
		f.Ended(1)
	}
	if f.outside || !w.Overfull(&f.source) {
		return
	}
	a := &engine.Absence{Turn: make(chan struct{}, 1), Depth: f.absence.Depth}
	w.aside()
	if w.Crowded(&f.source, a) {
		<-a.Turn
	}
	w.back()
}

// wait waits until all subtasks are over.
func (f *family) wait() {
	for arrived := true; ; {
		begun := f.begun.Load()
		f.target.Store(begun)
		if f.ended.Load() >= begun {
			return
		}
		if arrived {
			arrived = !f.leaves()
			continue
		}
		f.w.Arrived(&f.absence)
		arrived = true
	}
}

// leaves waits until somebody recalls the absence, and reports whether there was a need to.
func (f *family) leaves() (away bool) {
	if f.outside {
		if away = f.w.StayOutside(&f.absence); away {
			<-f.absence.Turn
		}
		return away
	}
	f.w.aside()
	if away = f.w.StepAside(&f.absence, &f.source); away {
		<-f.absence.Turn
	}
	f.w.back()
	return away
}

// parent makes a task that waits for the subtasks of f.
func (f *family) parent(name string, children ...*task) *task {
	return &task{name: name, run: func() {
		for _, j := range children {
			f.add(j)
		}
		f.wait()
	}}
}

// adder makes a subtask that adds the first one before it is the second.
func (f *family) adder(first, second *task) *task {
	return &task{name: "adds", run: func() {
		f.add(first)
		second.run()
	}}
}

// parent makes a task that waits for subtasks, in a family that begins with it.
func (w *world) parent(name string, children ...*task) *task {
	return &task{name: name, run: func() { w.newFamily(1).parent(name, children...).run() }}
}

// sitsOut makes a task that waits, without its place, until somebody calls what it returns.
func (w *world) sitsOut(name string, depth int) (j *task, recall func()) {
	a := &engine.Absence{Turn: make(chan struct{}, 1), Depth: depth}
	return &task{name: name, run: func() {
		w.aside()
		if w.StepAside(a, nil) {
			<-a.Turn
		}
		w.back()
	}}, func() { w.Recall(a) }
}
