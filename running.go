package weir

import (
	"cmp"
	"iter"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/frames"
)

// Running is a task that has begun and not ended: see [Pool.Running].
type Running struct {
	Pool   string    // the [Name] of its pool, if that has one
	Label  string    // see [Label]
	Worker int       // the number of its worker, from 1; after 65535 workers of a pool others have the same
	Since  time.Time // it has run since then at least
	Group  uint64    // the ID of its group, see [Groups]; 0 if it belongs to none
	// Waits says what it waits for: "group" or "future" of the same pool, "blocking" for a call of [Blocking] and "place" after one, "other" for
	// other tasks, such as a group on another pool; "" if it waits for none of these: it may wait for room, for a turn of [RateLimit.Wait], or
	// outside of the library.
	Waits string

	workers *numberedWorkers
	still   func() bool
	task    any   // tells it apart from others, with begun: see [engine.Busy.Task]
	begun   int64 // of a measured task
	worker  *engine.Worker
	of      *batch // its group's
	named   int    // the number of its goroutine's label
}

// waitsFor are the values of Running.Waits.
var waitsFor = [...]string{
	engine.ForNothing:  "",
	engine.ForOther:    "other",
	engine.ForSubtasks: "group",
	engine.ForSingle:   "future",
	engine.ForBlocking: "blocking",
	engine.ForPlace:    "place",
}

// number makes workers have labels of their own, from their next task on.
func (c *core) number() {
	c.engine.Watch(func() any { return newNumberedWorkers(c.reporter.labels()) })
}

// numberOf is the number of a worker in Running and GroupInfo. Those of the keys of a Keyed, which each have numbers from 1, have
// those of the workers that run them. It is hidden from the race detector as describe is.
//
//go:norace
func (c *core) numberOf(w *engine.Worker) int {
	if c.shown().base() != c {
		w = c.engine.Base(w)
	}
	return w.Number()
}

// longer lists the tasks that have run for so long.
func (c *core) longer(d time.Duration) []Running {
	must(d >= 0, "time of running tasks must be at least 0", d)
	e := c.running()
	c.number()
	var list []Running
	for _, b := range e.Busy(d) {
		r := Running{Pool: c.reporter.name(), Worker: c.numberOf(b.Worker), Since: b.Since, Waits: waitsFor[b.Waits], still: b.Still}
		r.task, r.begun = b.Task()
		r.worker, r.named = b.Worker, b.Worker.Number()
		r.workers, _ = b.Worker.Watch().(*numberedWorkers)
		name, of := b.Worker.Label.Load(), batchOf(b.Worker)
		if name != nil || of != nil {
			if !b.Still() {
				continue // they may be those of the next task
			}
			if name != nil {
				r.Label = *name
			}
			if of != nil {
				r.of, r.Group = of, of.recorded().id
			}
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Running) int { return cmp.Or(a.Since.Compare(b.Since), a.Worker-b.Worker) })
	return list
}

// Running lists the tasks that have run for at least longer, those that have run for longest first. It finds
// a stuck task among any number of short ones.
//
// A task that is measured, as all are that take more than some microseconds, has its exact start: see
// [Measure]. Of other tasks Running knows which ones already ran at an earlier call, 10 ms ago or more. So a
// program that calls Running(d) each d finds each task that runs for 2d, measured or not. That costs a task
// nothing, and a worker one look at a lock for each such call.
//
// Running may be called at any time, in a task as well. It does not block: it looks at a thousand workers at
// once. From the first call on profiles tell some 256 workers of the pool apart, by the label "weir.worker".
func (p *Pool) Running(longer time.Duration) []Running { return p.made().longer(longer) }

// Running lists the calls of the pool's function that have run for so long. See [Pool.Running].
func (p *FuncPool[T]) Running(longer time.Duration) []Running { return p.made().longer(longer) }

// Running lists the calls of the pool's function that have run for so long. See [Pool.Running].
func (p *Stateful[S, T]) Running(longer time.Duration) []Running { return p.made().longer(longer) }

// Stack returns the stack of the task, with two lines for each frame, as [debug.Stack] formats it but without
// numbers. It returns "" if the task has ended. The stack of a task that [Pool.Do] runs is that of the worker
// that stands for it. Under the race detector, where tasks have goroutines of their own, it is that of the
// worker that waits for the task.
//
// If the library cannot tell which goroutine runs the task, Stack returns all that may, with an empty line
// between them. This happens with more than 256 workers, for a task that began before the first call of
// Running or [Watch], and if the labels of the goroutine were changed, by the task or, in a pool without a
// [Name], by an earlier one.
//
// Stack takes a profile of all goroutines, which stops the program for some 10 µs and takes about 2 µs for
// each goroutine.
func (r Running) Stack() string {
	if r.still == nil || !r.still() {
		return ""
	}
	stacks := stacksOf(goroutines(), r.workers.name(r.named))
	if !r.still() {
		return ""
	}
	return stacks
}

// Lines returns where each task is, as the function, file and line of the program's own code, such as
// "main.send (mail.go:7)". It skips frames of the standard library and of this module, and returns "" where
// [Running.Stack] may return several stacks. It takes one profile of all goroutines for all tasks.
func Lines(tasks []Running) []string {
	lines := make([]string, len(tasks))
	if len(tasks) == 0 {
		return lines
	}
	byWorker := make(map[string]string)
	for _, g := range workerStacks() {
		line, known := g.line(), byWorker[g.worker]
		switch _, several := byWorker[g.worker]; {
		case !several:
			byWorker[g.worker] = line
		case line != known:
			byWorker[g.worker] = ""
		}
	}
	for i, r := range tasks {
		if r.still != nil {
			if line := byWorker[r.workers.name(r.named)]; line != "" && r.still() {
				lines[i] = line
			}
		}
	}
	return lines
}

// goroutines returns a profile of all goroutines as text.
func goroutines() string {
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1) // a Builder takes all
	return text.String()
}

// stacksOf returns the stacks of the workers that have the label, from a profile of goroutines as text. If
// there are none, it returns those of the workers without a label.
func stacksOf(profile, worker string) string {
	var stacks, others []string
	for g := range taskStacks(profile) {
		switch g.worker {
		case worker:
			stacks = append(stacks, strings.Join(g.frames, ""))
		case "":
			others = append(others, strings.Join(g.frames, ""))
		}
	}
	if stacks == nil {
		stacks = others
	}
	return strings.Join(stacks, "\n")
}

// taskStack is the stack of goroutines that run tasks.
type taskStack struct {
	worker string   // the value of their label
	count  int      // of the goroutines
	frames []string // of the task, the innermost first: the function on one line, the file on the next
}

// taskStacks yields the stacks of tasks in a profile of goroutines.
func taskStacks(profile string) iter.Seq[taskStack] {
	return func(yield func(taskStack) bool) {
		for record := range strings.SplitSeq(profile, "\n\n") {
			g := taskStack{}
			task := 0 // frames[:task] are those above the engine
			for line := range strings.Lines(record) {
				switch fields := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == '\n' }); {
				case strings.HasPrefix(line, "# labels:"):
					g.worker = labelIn(line)
				case len(fields) == 4:
					function, _, _ := strings.Cut(fields[2], "+0x")
					if strings.HasPrefix(function, engineWork) || function == directWork {
						task = len(g.frames)
					}
					g.frames = append(g.frames, function+"\n\t"+fields[3]+"\n")
				case g.count == 0:
					count, _, _ := strings.Cut(line, " @")
					g.count, _ = strconv.Atoi(count)
				}
			}
			for task > 1 && isOurs(g.frames[task-1]) {
				task-- // between the engine and the task
			}
			g.frames = g.frames[:task]
			if parked := !slices.ContainsFunc(g.frames, func(f string) bool { return !strings.HasPrefix(f, "runtime.") }); !parked && !yield(g) {
				return
			}
		}
	}
}

// labelIn returns the value of workerLabel in a line of labels.
func labelIn(line string) string {
	_, value, ok := strings.Cut(line, strconv.Quote(workerLabel)+":\"")
	if !ok {
		return ""
	}
	value, _, _ = strings.Cut(value, "\"")
	return value
}

func isOurs(function string) bool {
	return strings.HasPrefix(function, module+".") || strings.HasPrefix(function, module+"/internal/")
}

// The beginnings of names of functions: of those of this package and of those below it; of those in which tasks run, on a worker and on a
// plain goroutine; and of the one in which submitters of all kinds wait for room.
const (
	module     = frames.Module
	engineWork = module + "/internal/engine.(*Engine).session"
	directWork = module + ".(*member).runs"
	engineRoom = module + "/internal/engine.(*Engine).awaitRoom"
)
