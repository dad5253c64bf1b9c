package weir

import (
	"cmp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Running is a task that has begun and not ended: see [Pool.Running].
type Running struct {
	Pool   string    // the [Name] of its pool, if that has one
	Label  string    // see [Label]
	Worker int       // the number of its worker, from 1; after 65535 workers of a pool others have the same
	Since  time.Time // it has run since then at least
	Waits  bool      // it waits for other tasks of the library, or in [Blocking]

	workers *numberedWorkers
	still   func() bool
}

// longer lists the tasks that have run for so long.
func (c *core[T]) longer(d time.Duration) []Running {
	must(d >= 0, "time of running tasks must be at least 0", d)
	e := c.running()
	e.Watch(func() any { return newNumberedWorkers(c.reporter.pool) })
	var list []Running
	for _, b := range e.Busy(d) {
		r := Running{Pool: c.reporter.pool.name(), Worker: b.Worker.Number(), Since: b.Since, Waits: b.Waits, still: b.Still}
		r.workers, _ = b.Worker.Watch().(*numberedWorkers)
		if name := b.Worker.Label.Load(); name != nil {
			if r.Label = *name; !b.Still() {
				continue // the label may be that of the next task
			}
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Running) int { return cmp.Or(a.Since.Compare(b.Since), a.Worker-b.Worker) })
	return list
}

// Running lists the tasks that have run for so long or longer, those that have run for longest first. It finds a stuck task among any
// number of short ones.
//
// What is known of a task's start depends on whether it is measured, as all are that take more than some microseconds: see [Measure].
// Then it is known exactly. Of others it is known which ones already ran at an earlier call of Running that was 10 ms ago or more. So a program
// that calls Running(d) each d finds each task that runs for 2d, measured or not. That costs a task nothing, and a worker one look at a
// lock for each such call.
//
// Running may be called at any time, in a task as well. It does not block: it looks at a thousand workers at once. From the first call on
// profiles tell some 256 workers of the pool apart, by the label "weir.worker".
func (p *Pool) Running(longer time.Duration) []Running { return p.made().longer(longer) }

// Running lists the calls of the pool's function that have run for so long. See [Pool.Running].
func (p *FuncPool[T]) Running(longer time.Duration) []Running { return p.made().longer(longer) }

// Running lists the calls of the pool's function that have run for so long. See [Pool.Running].
func (p *Stateful[S, T]) Running(longer time.Duration) []Running { return p.made().longer(longer) }

// Stack returns the stack of the task, one line for the function and one for the file of each frame, as [debug.Stack] does without the
// numbers. It returns "" if the task has ended, or began before the first call of Running and its stack cannot be told from others.
// Where more than 256 workers are there, or the task has changed the labels of its goroutine, it may be several stacks, of which the task has one: an empty line
// separates them. Of a task that [Pool.Do] runs it is the stack of the worker that stands for it.
//
// Stack takes a profile of all goroutines, which stops the program for some 10 µs and takes about 2 µs for each goroutine.
func (r Running) Stack() string {
	if r.still == nil || !r.still() {
		return ""
	}
	var text strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return ""
	}
	if !r.still() {
		return ""
	}
	return stacksOf(text.String(), r.workers.name(r.Worker))
}

// stacksOf returns the stacks of the workers that have the label, from a profile of goroutines as text.
func stacksOf(profile, worker string) string {
	label := strconv.Quote(workerLabel) + ":" + strconv.Quote(worker)
	var stacks []string
	for record := range strings.SplitSeq(profile, "\n\n") {
		var frames []string
		ours, task := false, 0 // frames[:task] are those above the engine
		for line := range strings.Lines(record) {
			switch fields := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == '\n' }); {
			case strings.HasPrefix(line, "# labels:"):
				ours = strings.Contains(line, label)
			case len(fields) == 4:
				function, _, _ := strings.Cut(fields[2], "+0x")
				if strings.HasPrefix(function, engineWork) {
					task = len(frames)
				}
				frames = append(frames, function+"\n\t"+fields[3]+"\n")
			}
		}
		if !ours || task == 0 {
			continue // a goroutine that a task has started
		}
		for task > 1 && isOurs(frames[task-1]) {
			task-- // between the engine and the task
		}
		stacks = append(stacks, strings.Join(frames[:task], ""))
	}
	return strings.Join(stacks, "\n")
}

func isOurs(function string) bool {
	return strings.HasPrefix(function, module+".") || strings.HasPrefix(function, module+"/internal/")
}

// The beginnings of names of functions: of those of this package and of those below it, and of the one of the engine that a worker runs tasks in.
const (
	module     = "github.com/64ed045f/weir"
	engineWork = module + "/internal/engine.(*Engine[...]).session"
)
