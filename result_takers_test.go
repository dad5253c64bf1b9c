package weir_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// The ways to take the results of a model, each with what must be true of them.

func (m *model) wait(r *weir.Results[int]) {
	var values []int
	var err error
	if m.panicked(func() { values, err = r.Wait() }) {
		return
	}
	if len(values) != len(m.fates) {
		m.errorf("%d values of %d tasks", len(values), len(m.fates))
		return
	}
	// Each task that returned has one place, and its own if that is known.
	count := make(map[int]int)
	for place, name := range values {
		count[name]++
		if m.oneGiver && name != 0 && name != place+1 {
			m.errorf("the value of task %d stands in place %d", name-1, place)
		}
	}
	for i := range m.fates {
		want := 0
		if returns := m.fates[i] == succeeds || m.fates[i] == fails; returns && m.ran[i].Load() > 0 {
			want = 1
		}
		if count[i+1] != want {
			m.errorf("the value of task %d is there %d times, not %d", i, count[i+1], want)
		}
	}
	if m.keepGoing {
		m.allErrors(parts(err), func(number int) int { return values[number] })
	} else {
		m.firstError(err)
	}
}

// seenPairs are what a loop has yielded.
type seenPairs struct {
	values []int   // of those without an error, in order
	errs   []error // in order
	names  map[int]int
	last   error // the error of the last pair
}

func (m *model) loop(results iter.Seq2[int, error]) (p seenPairs, panicked bool) {
	p.names = make(map[int]int)
	panicked = m.panicked(func() {
		for v, err := range results {
			p.last = err
			if err == nil {
				p.values = append(p.values, v)
				continue
			}
			p.errs = append(p.errs, parts(err)...)
			if failure, isFailure := errors.AsType[*weir.TaskError](err); isFailure {
				p.names[failure.Index] = v
			}
		}
	})
	// However the loop ends, each value is there once at most, and comes from a task that succeeded.
	seen := make(map[int]bool)
	for _, name := range p.values {
		if name < 1 || seen[name] || m.fates[name-1] != succeeds {
			m.errorf("the value of task %d is not expected", name-1)
			continue
		}
		seen[name] = true
	}
	return p, panicked
}

func (m *model) all(r *weir.Results[int]) {
	p, panicked := m.loop(r.All())
	if panicked {
		return
	}
	check.Equal(m.t, fmt.Sprintf("seed %d: values", m.seed), len(p.values), m.did(succeeds))
	if m.keepGoing {
		m.allErrors(p.errs, func(number int) int { return p.names[number] })
		return
	}
	if len(p.errs) > 1 || len(p.errs) == 1 && p.last == nil {
		m.errorf("errors %v, the last pair's being %v", p.errs, p.last)
	}
	m.firstError(p.last)
}

func (m *model) ordered(r *weir.Results[int]) {
	p, panicked := m.loop(r.Ordered())
	if m.oneGiver && !slices.IsSorted(p.values) {
		m.errorf("not in order: %v", p.values)
	}
	if panicked {
		return
	}
	if m.keepGoing {
		// Values behind a gap are lost, errors are not.
		m.allErrors(p.errs, func(number int) int {
			if p.names[number] == 0 {
				return unknown // the error came with the rest
			}
			return p.names[number]
		})
	} else {
		if len(p.errs) > 1 || len(p.errs) == 1 && p.last == nil {
			m.errorf("errors %v, the last pair's being %v", p.errs, p.last)
		}
		m.firstError(p.last)
	}
	if m.oneGiver && !m.keepGoing {
		for i, name := range p.values {
			if name != i+1 {
				m.errorf("there is a gap in %v", p.values)
				break
			}
		}
	}
	if p.last == nil && len(p.errs) == 0 {
		check.Equal(m.t, fmt.Sprintf("seed %d: values", m.seed), len(p.values), len(m.fates))
	}
}

func (m *model) first(r *weir.Results[int]) {
	if len(m.fates) == 0 {
		return
	}
	var winner int
	var err error
	if m.panicked(func() { winner, err = r.First() }) {
		return
	}
	switch {
	case err == nil:
		if winner < 1 || m.fates[winner-1] != succeeds || m.ran[winner-1].Load() != 1 {
			m.errorf("task %d is said to be the first to succeed", winner-1)
		}
	case m.did(succeeds) > 0:
		m.errorf("%d tasks have succeeded, but First failed with %v", m.did(succeeds), err)
	case m.keepGoing:
		if winner != 0 {
			m.errorf("value %d with an error", winner)
		}
	default:
		m.firstError(err)
	}
}

func (m *model) leave(r *weir.Results[int]) {
	after := m.dice.IntN(len(m.fates) + 1)
	seen := 0
	m.panicked(func() {
		for _, err := range r.All() {
			if seen++; seen > after {
				break
			}
			if err != nil && !m.keepGoing {
				m.firstError(err)
			}
		}
	})
}
