package weir

import (
	"fmt"
	"iter"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/frames"
)

// Lint is a state of a pool that is most often a mistake of the program: see [PoolInfo.Lints].
type Lint struct {
	Rule string // which it is: "slow", "same line", "stuck" or "own queue"
	Text string // what it is, in a sentence
}

// Lints looks for mistakes in the use of the pool:
//
//   - "slow": tasks have run for longer than d, while others are queued;
//   - "same line": all places are those of tasks that have run for longer than d, and are at the same line of the program;
//   - "stuck": tasks are queued, and none can start: the pool is paused, or all tasks in its places have waited for longer than d;
//   - "own queue": tasks of the pool wait for room in a queue while submitters wait for room in the pool's own, and no worker has
//     finished a task for longer than d.
//
// Tasks that wait for a token, see [Rate], do not count as queued. A lane is also stuck if a pool above it is. For that, the tasks of
// a pool's lanes count as its own.
//
// The last three are found among tasks that began after the first call of [Watch], or of Running for the pool. It takes a profile of
// all goroutines, as [Running.Stack] does, if as many tasks as the limit have run for longer than d, which must be more than 0.
func (i PoolInfo) Lints(d time.Duration) []Lint {
	must(d > 0, "time of slow tasks must be more than 0", d)
	return newLintLook(d, stacksByWorker).lints(i)
}

// Lints yields each pool of [Pools] with what [PoolInfo.Lints] finds there, mostly nothing. It takes at most
// one profile of all goroutines.
func Lints(d time.Duration) iter.Seq2[PoolInfo, []Lint] {
	must(d > 0, "time of slow tasks must be more than 0", d)
	return func(yield func(PoolInfo, []Lint) bool) {
		l := newLintLook(d, sync.OnceValue(stacksByWorker))
		for i := range Pools() {
			if !yield(i, l.lints(i)) {
				return
			}
		}
	}
}

// workerStacks returns the stacks of all tasks of the program.
func workerStacks() []taskStack { return slices.Collect(taskStacks(goroutines())) }

// stacksByWorker returns the same by the labels of the workers: Lints looks at those of each pool, and there may be thousands of pools.
func stacksByWorker() map[string][]taskStack {
	by := make(map[string][]taskStack)
	for _, g := range workerStacks() {
		by[g.worker] = append(by[g.worker], g)
	}
	return by
}

func (l *lintLook) lints(i PoolInfo) (list []Lint) {
	s, tasks := i.Stats(), i.Running(l.longer)
	add := func(rule, format string, args ...any) {
		list = append(list, Lint{rule, fmt.Sprintf(format, args...)})
	}
	computing := 0
	placed := make(map[string]bool) // the labels of the workers whose tasks have places
	places := 0
	for _, r := range tasks {
		if r.Waits == "" {
			computing++
		}
		if r.hasPlace() {
			placed[r.workers.name(r.named)] = true
			places++
		}
	}
	if behind := i.of().behind(); computing > 0 && behind > 0 {
		add("slow", "%s run for longer than %v, while %d wait to start", tasksThat(computing, "has", "have"), l.longer, behind)
	}
	if behind, why := l.stuck(i); behind > 0 {
		add("stuck", "%s to start, and %s", tasksThat(behind, "waits", "wait"), why)
	}
	if places == 0 || places < s.Limit {
		return list
	}
	line, count, submitters := "", 0, 0
	stacks := l.stacks()
	for worker := range placed {
		for _, g := range stacks[worker] {
			if g.submits() {
				submitters += g.count
			}
			at := g.line()
			if count > 0 && at != line {
				at = ""
			}
			line, count = at, count+g.count
		}
	}
	if line != "" && count > 1 && count >= s.Limit {
		add("same line", "all %d tasks that run have done so for longer than %v, and are at %s", count, l.longer, line)
	}
	if submitters > 0 && s.Waiting > 0 {
		add("own queue", "%s for room in a queue, and %d submitters wait for room in that of this pool: if they are the same, they may do so forever",
			tasksThat(submitters, "waits", "wait"), s.Waiting)
	}
	return list
}

func tasksThat(n int, does, do string) string {
	if n == 1 {
		return "1 task " + does
	}
	return fmt.Sprintf("%d tasks %s", n, do)
}

// line returns the function, file and line where the program's own code is: outside of the standard library and of this module.
func (g taskStack) line() string {
	for _, frame := range g.frames {
		function, at, _ := strings.Cut(strings.TrimSpace(frame), "\n\t")
		if !frames.IsLibrary(function, at) && !frames.IsStandard(function, at, undotted()) {
			return fmt.Sprintf("%s (%s)", function, path.Base(at))
		}
	}
	return ""
}

// undotted are the program's modules that could be folders of the standard library, by their names.
var undotted = sync.OnceValue(func() (modules []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, m := range append(info.Deps, &info.Main) {
		if first, _, _ := strings.Cut(m.Path, "/"); first != "" && !strings.Contains(first, ".") {
			modules = append(modules, m.Path)
		}
	}
	return modules
})

// submits reports whether the task waits for room in a pool.
func (g taskStack) submits() bool {
	return slices.ContainsFunc(g.frames, func(f string) bool { return strings.HasPrefix(f, engineRoom) })
}
