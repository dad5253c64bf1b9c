package history_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/64ed045f/weir"
)

// settle finds out when each task was known to be over, and what handed it back.
func (r *round) settle() {
	last := r.now()
	for i := range r.tasks {
		r.tasks[i].over = last
		r.tasks[i].after = -1
	}
	bound := func(e *event, concerned func(t *task) bool) {
		for i := range r.tasks {
			if t := &r.tasks[i]; t.accepted() && concerned(t) {
				t.over = min(t.over, e.end)
			}
		}
	}
	all := func(*task) bool { return true }
	for _, e := range r.events() {
		switch e.action {
		case wait:
			bound(e, func(t *task) bool { return t.submitted.end < e.call })
		case closing:
			bound(e, all)
		case groupWait:
			t := &r.tasks[e.n]
			// The group of a task that runs is cancelled with the same error, but then it is not the task's.
			_, ofTask := errors.AsType[*weir.TaskError](e.err)
			if errors.Is(e.err, weir.ErrClosed) && t.accepted() && (ofTask || t.runs.Load() == 0) {
				t.back = e
			}
			t.over = min(t.over, e.end)
		case shutdown:
			if e.err == nil {
				bound(e, all)
			}
			after := -1
			for _, number := range e.unrun() {
				t := &r.tasks[number]
				t.back, t.after = e, after
				after = number
			}
		}
	}
}

func (t *task) submits() bool { return t.submitted.end != 0 }

func (t *task) accepted() bool { return t.submits() && t.submitted.err == nil }

// events returns everything that clients did.
func (r *round) events() []*event { return slices.Concat(r.done...) }

// once checks that each accepted task ran or was handed back, once, that no other task did, and
// that no goroutine that waited for it returned earlier.
func (r *round) once() error {
	for i := range r.tasks {
		t := &r.tasks[i]
		runs := int(t.runs.Load())
		outcomes := runs
		if t.back != nil {
			outcomes++
		}
		switch {
		case t.accepted() && outcomes != 1:
			return fmt.Errorf("task %s was accepted, ran %d times, and was handed back: %t", name(i), runs, t.back != nil)
		case !t.accepted() && outcomes != 0:
			return fmt.Errorf("task %s was not accepted, ran %d times, and was handed back: %t", name(i), runs, t.back != nil)
		case runs > 0 && t.over < t.ended:
			return fmt.Errorf("task %s ended at %d; what waited for it returned at %d", name(i), t.ended, t.over)
		}
	}
	for _, e := range r.events() {
		switch {
		case e.action == shutdown && e.err != nil && !errors.Is(e.err, errDone):
			return fmt.Errorf("Shutdown returned %w", e.err)
		case e.action == groupWait && e.err != nil && !errors.Is(e.err, weir.ErrClosed):
			return fmt.Errorf("Group.Wait returned %w", e.err)
		}
	}
	return nil
}

// counted checks what the pool has counted, and how many tasks ran at once.
func (r *round) counted() error {
	var want weir.Stats
	for i := range r.tasks {
		t := &r.tasks[i]
		if t.accepted() {
			want.Accepted++
		}
		if t.back != nil {
			want.HandedBack++
		}
		if n := uint64(t.runs.Load()); n > 0 {
			want.Finished += n
			if t.ending == panics {
				want.Panicked += n
			}
		}
	}
	got := r.last
	got.Accepted, got.Finished = got.Accepted-r.first.Accepted, got.Finished-r.first.Finished
	want.Limit, want.Closed, want.Rejected = got.Limit, true, got.Rejected // which only Submit promises
	switch {
	case got != want:
		return fmt.Errorf("the pool has counted %+v, want %+v", got, want)
	case r.excess.Load() > 0:
		return fmt.Errorf("%d tasks ran at once, and the limit was never above %d", r.excess.Load(), r.highest)
	}
	return nil
}

// operations is the history for the checker. Each task has two clients of its own, for its
// start and its end: they are under way while the submitter goes on.
func (r *round) operations() []porcupine.Operation {
	var ops []porcupine.Operation
	add := func(client int, c call, a answer, from, to int64) {
		ops = append(ops, porcupine.Operation{ClientId: client, Input: c, Output: a, Call: from, Return: to})
	}
	for client, done := range r.done {
		for _, e := range done {
			switch e.action {
			case wait, groupWait:
			case shutdown:
				add(client, call{action: closing}, answer{}, e.call, e.end)
				add(len(r.done)+2*len(r.tasks)+client, call{action: drained}, answer{}, e.call, e.end)
			default:
				add(client, call{action: e.action, n: e.n}, answer{err: e.err, others: r.waited(e), limit: e.stats.Limit}, e.call, e.end)
			}
		}
	}
	for i := range r.tasks {
		t := &r.tasks[i]
		own := len(r.done) + 2*i
		switch {
		case !t.accepted():
		case t.back != nil && t.submitted.action == tryGo:
			add(own, call{action: doom, n: i}, answer{}, t.submitted.call, t.back.end)
			add(own+1, call{action: giveUp, n: i}, answer{}, t.submitted.call, t.back.end)
		case t.back != nil:
			add(own, call{action: handBack, n: i, after: t.after}, answer{}, t.submitted.call, t.back.end)
		default:
			add(own, call{action: start, n: i}, answer{}, t.submitted.call, t.started)
			add(own+1, call{action: finish, n: i}, answer{}, t.ended, t.over)
		}
	}
	return ops
}

// waited reports whether a submitter may have waited for room while e, which does not wait, was
// under way: it is refused then.
func (r *round) waited(e *event) bool {
	if r.refusing || e.action != try && e.action != tryGo {
		return false
	}
	for _, other := range r.events() {
		waits := other.action == submit || other.action == submitSoon
		if waits && other.call < e.end && other.end > e.call {
			return true
		}
	}
	return false
}

// linearizable asks the checker. It gives up, and knows nothing, after a time in which it
// could have checked thousands of histories.
func (r *round) linearizable() (porcupine.CheckResult, porcupine.LinearizationInfo) {
	model, ops := spec(r.limit, r.queue, r.refusing), r.operations()
	if verdict := porcupine.CheckOperationsTimeout(model, ops, patience); verdict != porcupine.Illegal {
		return verdict, porcupine.LinearizationInfo{}
	}
	return porcupine.CheckOperationsVerbose(model, ops, 0)
}

const patience = 20 * time.Second

// String is the history, as it is read best: all operations in the order in which they began, and what bounds the ends of tasks.
func (r *round) String() string {
	ops := r.operations()
	for client, done := range r.done {
		for _, e := range done {
			if e.action == wait || e.action == groupWait {
				ops = append(ops, porcupine.Operation{ClientId: client, Input: call{action: e.action}, Output: answer{err: e.err}, Call: e.call, Return: e.end})
			}
		}
	}
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var text strings.Builder
	fmt.Fprintf(&text, "%v\n", r.script)
	for _, op := range ops {
		who := "        "
		if op.ClientId < len(r.done) {
			who = fmt.Sprint("client ", op.ClientId)
		}
		fmt.Fprintf(&text, "%4d to %4d  %s  %s\n", op.Call, op.Return, who, describe(op.Input.(call), op.Output.(answer)))
	}
	return text.String()
}
