package programs

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Judge runs programs on plain goroutines and on the library.
type Judge struct {
	Patience time.Duration // a program in which nothing happens for so long hangs
}

// Verdict is the outcome of a run.
type Verdict struct {
	Wrong error
	Over  Excess

	hangs  bool
	counts []int64 // how often each task has started
	report string  // of a run that hangs
}

var errBeyond = errors.New("beyond the limits")

// may is by how much limits may be exceeded. A group's own workers do not tell how many places they have, and the rule bounds what is counted, not how
// many run: 14 more were seen in some 100 000 programs.
var may = Excess{apart: 32}

// Times runs a program so many times, and returns the last outcome: that of the first run that failed, if one did.
func (j Judge) Times(p *Program, times int) (v Verdict) {
	reference := j.play(p, onGoroutines)
	if reference.Wrong != nil {
		reference.Wrong = fmt.Errorf("the program blocks on plain goroutines, too: %w", reference.Wrong)
		return reference
	}
	for i := 0; i < times && v.Wrong == nil; i++ {
		v = j.compare(p, reference)
	}
	return v
}

// compare runs a program on the library, and compares how often each task has started.
func (j Judge) compare(p *Program, reference Verdict) Verdict {
	v := j.play(p, onWeir)
	for i, may := range may {
		if i == begun && p.With.has("rests") {
			continue // while a task rests, others may begin
		}
		if v.Wrong == nil && v.Over[i] > may {
			v.Wrong = fmt.Errorf("%v %w", v.Over, errBeyond)
		}
	}
	if v.Wrong == nil && !p.With.has("noisy") && !slices.Equal(v.counts, reference.counts) {
		v.Wrong = fmt.Errorf("tasks have started %d times, and on goroutines %d times", v.counts, reference.counts)
	}
	return v
}

// Tell describes a failure of a program, and a smaller one that fails in the same way, for which it looks that long.
func (j Judge) Tell(p *Program, v Verdict, length time.Duration) string {
	const tries = 30
	j.Patience /= 5
	small := shrink(p, func(p *Program) bool {
		reference := j.play(p, onGoroutines)
		for i := 0; i < tries && reference.Wrong == nil; i++ {
			if w := j.compare(p, reference); w.Wrong != nil {
				return w.hangs == v.hangs && errors.Is(w.Wrong, errBeyond) == errors.Is(v.Wrong, errBeyond)
			}
		}
		return false
	}, time.Now().Add(length))
	return fmt.Sprintf("%v\n%v\n%s\n%s\nsmaller:\n%v\n%s", v.Wrong, p, p.JSON(), v.report, small, small.JSON())
}
