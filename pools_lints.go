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
//   - "stuck": tasks are queued, and none can start: the pool is paused, or all tasks that have begun have waited for longer than d;
//   - "own queue": tasks of the pool wait for room in a queue while submitters wait for room in the pool's own, and no worker has
//     finished a task for longer than d.
//
// The last three are found among tasks that began after the first call of [Watch], or of Running for the pool. It takes a profile of
// all goroutines, as [Running.Stack] does, if as many tasks as the limit have run for longer than d.
func (i PoolInfo) Lints(d time.Duration) []Lint {
	must(d > 0, "time of slow tasks must be more than 0", d)
	return i.lints(d, workerStacks)
}

// Lints yields each pool of [Pools] with what [PoolInfo.Lints] finds there, mostly nothing. It takes at most
// one profile of all goroutines.
func Lints(d time.Duration) iter.Seq2[PoolInfo, []Lint] {
	must(d > 0, "time of slow tasks must be more than 0", d)
	return func(yield func(PoolInfo, []Lint) bool) {
		stacks := sync.OnceValue(workerStacks)
		for i := range Pools() {
			if !yield(i, i.lints(d, stacks)) {
				return
			}
		}
	}
}

// workerStacks returns the stacks of all tasks of the program.
func workerStacks() []taskStack { return slices.Collect(taskStacks(goroutines())) }

func (i PoolInfo) lints(d time.Duration, stacks func() []taskStack) (list []Lint) {
	s, tasks := i.Stats(), i.Running(d)
	waiting := 0
	for _, r := range tasks {
		if r.Waits != "" {
			waiting++
		}
	}
	add := func(rule, format string, args ...any) {
		list = append(list, Lint{rule, fmt.Sprintf(format, args...)})
	}
	behind := s.Queued + s.Waiting
	if computing := len(tasks) - waiting; computing > 0 && behind > 0 {
		add("slow", "%s run for longer than %v, while %d wait to start", tasksThat(computing, "has", "have"), d, behind)
	}
	switch {
	case behind > 0 && s.Paused:
		add("stuck", "%s to start, and the pool is paused", tasksThat(behind, "waits", "wait"))
	case behind > 0 && s.Running == 0 && waiting > 0 && waiting >= s.Suspended:
		add("stuck", "%s to start, and all %d that have begun have waited for longer than %v", tasksThat(behind, "waits", "wait"), waiting, d)
	}
	if len(tasks) == 0 || len(tasks) < s.Limit {
		return list
	}
	line, count, submitters := "", 0, 0
	for _, g := range stacks() {
		if !strings.HasPrefix(g.worker, tasks[0].workers.prefix) {
			continue
		}
		if g.submits() {
			submitters += g.count
		}
		at := g.line()
		if count > 0 && at != line {
			at = ""
		}
		line, count = at, count+g.count
	}
	if line != "" && count > 1 && count >= s.Limit {
		add("same line", "all %d tasks that run have done so for longer than %v, and are at %s", count, d, line)
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
		if !isLibrary(function, at) && !isStandard(function, at, undotted()) {
			return fmt.Sprintf("%s (%s)", function, path.Base(at))
		}
	}
	return ""
}

// isStandard reports whether the function, in that file, is one of the standard library, and not of one of the modules.
func isStandard(function, file string, modules []string) bool {
	folder := path.Dir(function)
	name, _, _ := strings.Cut(path.Base(function), ".")
	name = path.Join(folder, name) // of the package
	if first, _, _ := strings.Cut(name, "/"); first == "main" || strings.Contains(first, ".") {
		return false
	}
	for _, module := range modules {
		if name == module || strings.HasPrefix(name, module+"/") {
			return false
		}
	}
	in := func(folder string) bool {
		return path.Dir(file) == folder || strings.HasSuffix(path.Dir(file), "/src/"+folder)
	}
	return in(name) || in("runtime") // which has functions of other packages, such as those on which a Mutex waits
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
	for _, frame := range g.frames {
		function, _, _ := strings.Cut(frame, "\n")
		if rest, ok := strings.CutPrefix(function, module+".(*"); ok {
			for _, name := range []string{").Submit", ").SubmitContext", ").Invoke", ").InvokeContext", "Group).Go"} {
				if strings.HasSuffix(rest, name) {
					return true
				}
			}
		}
	}
	return false
}
