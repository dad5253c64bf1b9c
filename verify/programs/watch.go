package programs

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// play runs a program, and gives up when it hangs.
func (j Judge) play(p *Program, on func(*run) library) Verdict {
	before := runtime.NumGoroutine()
	r := newRun(p, on)
	if !r.ends(r.main, j.Patience) || !r.ends(r.library.finish, j.Patience) {
		return Verdict{Wrong: fmt.Errorf("nothing has happened for %v", j.Patience), hangs: true, report: r.report()}
	}
	for since := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(since) > j.Patience {
			r.fail("%d goroutines are left\n%s", runtime.NumGoroutine()-before, check.Stacks())
			break
		}
	}
	v := Verdict{Wrong: r.wrong}
	for i := range v.Over {
		v.Over[i] = r.over[i].Load()
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
		var s strings.Builder
		if l, ok := r.library.(*weirs); ok {
			for i, stats := range l.stats() {
				fmt.Fprintf(&s, "%s: %+v\n", poolName(i), stats)
			}
		}
		told <- s.String()
	}()
	select {
	case s := <-told:
		return s + check.Stacks()
	case <-time.After(time.Second): // a goroutine may hang that has the lock
		return check.Stacks()
	}
}
