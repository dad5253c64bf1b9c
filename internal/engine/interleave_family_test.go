package engine_test

import "github.com/64ed045f/weir/internal/engine"

// family is what a task and its subtasks have in common. It follows the protocol of a nested
// group, as the root package does.
type family struct {
	w        *world
	subtasks engine.Subtasks
	waiter   engine.Waiter
	outside  bool // the goroutine that waits is no task
	intake   engine.Intake
	tally    engine.Tally
}

func (w *world) newFamily() *family {
	f := &family{w: w}
	f.subtasks.Init(nil)
	f.waiter.Turn = make(chan struct{}, 1)
	f.tally.Init(&f.intake)
	return f
}

// Ended counts n subtasks out.
func (f *family) Ended(n int, by *engine.Worker) {
	if f.tally.End(n) {
		f.w.Recall(&f.waiter, by)
	}
}

// add hands a subtask over, and waits for room.
func (f *family) add(own *engine.Worker, j *task) {
	f.put(j)
	if !f.outside && f.w.Overfull(&f.subtasks) {
		f.w.aside()
		f.waitForRoom(own)
		f.w.back()
	}
}

// put hands a subtask over.
func (f *family) put(j *task) {
	w := f.w
	j.ledger = f
	w.offered(j)
	f.intake.Begin()
	w.answer(j, engine.Accepted)
	for _, refused := range w.Delegate(&f.subtasks, j.value()) {
		w.answer(taskOf(refused), engine.Closed)
		f.Ended(1, nil)
	}
}

// waitForRoom waits, as the task on own, until the source has room.
func (f *family) waitForRoom(own *engine.Worker) {
	a := &engine.Waiter{Turn: make(chan struct{}, 1)}
	if f.w.Crowded(&f.subtasks, a, own) {
		<-a.Turn
	}
}

// submit hands a task to the engine of another's group, and waits for room until done is closed. It does
// not matter whether the task runs or is dropped.
func (f *family) submit(j *task, done <-chan struct{}) {
	j.in = f
	f.w.SubmitWanted(j.value(), done, f.subtasks.Want(), nil)
}

// awaitElsewhere submits j for a task of another engine, and waits for its end.
func (w *world) awaitElsewhere(j *task) {
	f, heard := w.newFamily(), make(chan struct{})
	f.subtasks.Init(isNone)
	j.in, j.ledger = f, &teller{func() { close(heard) }}
	w.offered(j)
	w.Await(f.subtasks.Want(), nil, nil, nil)
	w.answer(j, w.SubmitWanted(j.value(), nil, f.subtasks.Want(), nil))
	<-heard
	w.Unawait(f.subtasks.Want())
}

// wait waits until all subtasks are over.
func (f *family) wait(own *engine.Worker) {
	for arrived := true; ; {
		if f.tally.Seal() {
			return
		}
		if arrived {
			arrived = !f.leaves(own)
			continue
		}
		f.w.Arrived(&f.waiter)
		arrived = true
	}
}

// leaves waits until a goroutine recalls the absence, and reports whether it had to wait.
func (f *family) leaves(own *engine.Worker) (away bool) {
	if f.outside {
		if away = f.w.Suspend(&f.waiter, nil, nil); away {
			<-f.waiter.Turn
		}
		return away
	}
	f.w.aside()
	if away = f.w.Suspend(&f.waiter, own, f.subtasks.Want()); away {
		<-f.waiter.Turn
	}
	f.w.back()
	return away
}

// parent makes a task that waits for the subtasks of f.
func (f *family) parent(name string, children ...*task) *task {
	return &task{name: name, on: func(own *engine.Worker) {
		for _, j := range children {
			f.add(own, j)
		}
		f.wait(own)
	}}
}

// adder makes a subtask that adds the first one before it is the second.
func (f *family) adder(first, second *task) *task {
	return &task{name: "adds", on: func(own *engine.Worker) {
		f.add(own, first)
		second.runOn(own)
	}}
}

// parent makes a task that waits for subtasks, in a family that begins with it.
func (w *world) parent(name string, children ...*task) *task {
	return &task{name: name, on: func(own *engine.Worker) { w.newFamily().parent(name, children...).on(own) }}
}

// sitsOut makes a task that waits for nothing of the engine, until a call of what it returns.
func (w *world) sitsOut(name string) (j *task, recall func()) {
	a := &engine.Waiter{Turn: make(chan struct{}, 1)}
	return &task{name: name, on: func(own *engine.Worker) {
		w.aside()
		if w.Suspend(a, own, nil) {
			<-a.Turn
		}
		w.back()
	}}, func() { w.Recall(a, nil) }
}

// givesUp makes a task that gives its place up, until a call of what it returns. single is for the tasks that wait for this one alone.
func (w *world) givesUp(name string, single *engine.Single) (j *task, recall func()) {
	a := &engine.Waiter{Turn: make(chan struct{}, 1)}
	j = &task{name: name}
	j.on = func(own *engine.Worker) {
		var part *engine.Subtasks
		if f, ok := j.ledger.(*family); ok {
			part = &f.subtasks
		}
		w.aside()
		if w.GiveUp(a, own, single, part) {
			<-a.Turn
		}
		w.back()
	}
	return j, func() { w.Recall(a, nil) }
}
