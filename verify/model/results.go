package model

import (
	"errors"
	"slices"

	"github.com/64ed045f/weir"
)

// Results is the model of a [weir.Results], for the tasks that have been given to it since its
// last use. Its group must be given no other tasks.
type Results struct {
	Group *Group

	given []*Task
	batch *Batch
	value map[*Task]int
	fault map[*Task]*weir.TaskError
	order []*Task // that have a result, in the order in which they came
}

// Result is what a loop gets in one turn.
type Result struct {
	Value int
	Err   error
}

// Go gives t to the results and their group.
func (r *Results) Go(t *Task) *Call {
	if r.batch != r.Group.batch {
		*r = Results{Group: r.Group, batch: r.Group.batch, value: map[*Task]int{}, fault: map[*Task]*weir.TaskError{}}
	}
	r.given = append(r.given, t)
	return r.Group.Go(t, false)
}

// Used reports whether there are results that no use has taken.
func (r *Results) Used() bool { return r.batch != nil && r.batch == r.Group.batch }

// Rest is what is wrong in addition to the errors that a loop has got, when the batch is over with err.
func (r *Results) Rest(got []Result, err error) error {
	if !r.Group.KeepGoing {
		return err
	}
	var rest []error
	for _, t := range r.given {
		fault := r.fault[t]
		if fault != nil && !slices.ContainsFunc(got, func(one Result) bool { return errors.Is(one.Err, fault) }) {
			rest = append(rest, fault)
		}
	}
	if len(rest) == 0 {
		return r.batch.Cause
	}
	return errors.Join(append(rest, r.batch.Cause)...)
}

// Return notes that t, which still runs, is about to return value and err.
func (r *Results) Return(t *Task, value int, err error) {
	r.value[t] = value
	r.Fail(t, err)
}

// Fail notes that t, which still runs, is about to fail in another way than by returning, or, if err is nil,
// not to fail. A panic that comes out of Wait has no result: it is not noted.
func (r *Results) Fail(t *Task, err error) {
	if err != nil {
		r.fault[t] = &weir.TaskError{Index: t.Index, Err: err}
	}
	r.order = append(r.order, t)
}

// Values is the slice that Wait returns besides the error.
func (r *Results) Values() []int {
	values := make([]int, len(r.given))
	for i, t := range r.given {
		values[i] = r.value[t]
	}
	return values
}

// Begin begins a loop. Results that are there already come in the order of the tasks: the library does not keep
// which of them came first.
func (r *Results) Begin() {
	slices.SortFunc(r.order, func(a, b *Task) int { return a.Index - b.Index })
}

// All is what a loop over All has got by now.
func (r *Results) All() []Result { return r.yielded(r.order) }

// Ordered is what a loop over Ordered has got by now.
func (r *Results) Ordered() []Result {
	var due []*Task
	for _, t := range r.given {
		if !slices.Contains(r.order, t) || !r.Group.KeepGoing && r.fault[t] != nil {
			break
		}
		due = append(due, t)
	}
	return r.yielded(due)
}

// Winner is the first success, and false while there is none.
func (r *Results) Winner() (value int, won bool) {
	for _, t := range r.order {
		if r.fault[t] == nil {
			return r.value[t], true
		}
	}
	return 0, false
}

// yielded leaves out the failures of a group that ends with the first.
func (r *Results) yielded(tasks []*Task) (results []Result) {
	for _, t := range tasks {
		switch fault := r.fault[t]; {
		case fault == nil:
			results = append(results, Result{Value: r.value[t]})
		case r.Group.KeepGoing:
			results = append(results, Result{Value: r.value[t], Err: fault})
		}
	}
	return results
}
