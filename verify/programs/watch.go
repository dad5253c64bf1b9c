package programs_test

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// verdict is the outcome of a run.
type verdict struct {
	wrong  error
	hangs  bool
	counts []int64 // how often each task has started
	over   excess
	report string // of a run that hangs
}

// play runs a program, and gives up when nothing has happened for as long as patience.
func play(p *program, on func(*run) library, patience time.Duration) verdict {
	before := runtime.NumGoroutine()
	r := newRun(p, on)
	if !r.ends(r.main, patience) || !r.ends(r.library.finish, patience) {
		return verdict{wrong: fmt.Errorf("nothing has happened for %v", patience), hangs: true, report: r.report()}
	}
	for since := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(since) > patience {
			r.fail("%d goroutines are left\n%s", runtime.NumGoroutine()-before, check.Stacks())
			break
		}
	}
	v := verdict{wrong: r.wrong}
	for i := range v.over {
		v.over[i] = r.over[i].Load()
	}
	for i := range r.started {
		if !r.some[i] {
			v.counts = append(v.counts, r.started[i].Load())
		}
	}
	return v
}

// main does what goroutines outside do.
func (r *run) main() {
	defer r.caught(nil)
	a := &actor{run: r, task: r.program.Main, ctx: context.Background()}
	_ = a.perform(a.task.Acts)
}

// ends calls f, and reports whether it ends.
func (r *run) ends(f func(), patience time.Duration) bool {
	const looks = 10 // in the time of patience: a machine that stands still does not look
	done := make(chan struct{})
	go func() {
		defer close(done) // also when a task of Do exits
		f()
	}()
	tick := time.NewTicker(patience / looks)
	defer tick.Stop()
	for steps, still := r.steps.Load(), 0; still <= looks; still++ {
		select {
		case <-done:
			return true
		case <-tick.C:
		}
		if now := r.steps.Load(); now != steps {
			steps, still = now, 0
		}
	}
	return false
}

// report tells how things stand.
func (r *run) report() string {
	told := make(chan string, 1)
	go func() {
		s := ""
		if l, ok := r.library.(*weirs); ok {
			for i, stats := range l.stats() {
				s += fmt.Sprintf("%s: %+v\n", poolName(i), stats)
			}
		}
		told <- s
	}()
	select {
	case s := <-told:
		return s + check.Stacks()
	case <-time.After(time.Second): // a goroutine may hang that has the lock
		return check.Stacks()
	}
}
