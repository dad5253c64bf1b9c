package programs

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/64ed045f/weir"
)

// The labels of tasks tell when they were handed over, in ns since this.
var started = time.Now()

// labelled returns what weir.Label needs for tasks that are handed over now.
func labelled() string { return strconv.FormatInt(int64(time.Since(started)), 10) }

// looks looks at all pools, tasks and groups of the process until stop is closed, and checks what holds of each answer.
func (r *run) looks(stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		longer := micros(rand.IntN(1 + []int{0, 1000, 50_000}[rand.IntN(3)]))
		switch i % 8 {
		case 0:
			r.lookAtLints(longer + 1)
		case 1, 2:
			r.lookAtGroups(longer)
		default:
			r.lookAtPools(longer)
		}
		time.Sleep(micros(rand.IntN(200)))
	}
}

// check fails the run unless ok.
func (r *run) check(ok bool, format string, args ...any) {
	if !ok {
		r.fail(format, args...)
	}
}

func (r *run) lookAtPools(longer time.Duration) {
	var last uint64
	for _, p := range slices.Collect(weir.Pools()) {
		r.check(p.ID > last && p.Made != "" && !strings.Contains(p.Made, "/internal/engine/"), "pool %+v comes after pool %d", p, last)
		last = p.ID
		times, before := p.Times(), p.Stats() // it may be closed by now
		tasks := p.Running(longer)
		r.checkComplete(tasks, p.Running(0), p.Running(longer))
		after, later := p.Stats(), p.Times()
		r.checkRunning(tasks, longer)
		for _, t := range tasks {
			r.check(t.Pool == p.Name, "pool %q lists a task of pool %q", p.Name, t.Pool)
		}
		have := after.Running + after.Suspended
		quiet := before == after && after.Workers == after.Idle+have // no worker is between two tasks
		r.check(!quiet || len(tasks) <= have, "while a pool had %+v, %d tasks ran: %+v", after, len(tasks), tasks)
		r.check(times.Run.Count() <= later.Run.Count() && times.Wait.Count() <= later.Wait.Count() && later.Oldest >= 0, "times have become %+v from %+v", later, times)
	}
}

// checkComplete checks three answers, one after the other: a task in the first and in the last must be in the one between.
func (r *run) checkComplete(first, between, last []weir.Running) {
	in := func(list []weir.Running, t weir.Running) bool {
		return slices.ContainsFunc(list, func(u weir.Running) bool { return u.Worker == t.Worker && u.Since.Equal(t.Since) })
	}
	for _, t := range first {
		r.check(!in(last, t) || in(between, t), "task %+v runs all the time, and is not among %+v", t, between)
	}
}

// checkRunning checks an answer that the library has just given.
func (r *run) checkRunning(tasks []weir.Running, longer time.Duration) {
	now := time.Now()
	workers := map[int]bool{}
	for i, t := range tasks {
		given := started
		if ns, err := strconv.ParseInt(t.Label, 10, 64); err == nil {
			given = started.Add(time.Duration(ns))
		}
		r.check(!t.Since.Before(given), "a task has run since %v before it was given", given.Sub(t.Since))
		r.check(now.Sub(t.Since) >= longer, "a task is said to run for longer than %v, since %v ago", longer, now.Sub(t.Since))
		r.check(i == 0 || !t.Since.Before(tasks[i-1].Since), "tasks are not in order: %+v", tasks)
		r.check(t.Worker > 0 && !workers[t.Worker], "worker %d has two tasks: %+v", t.Worker, tasks)
		r.check(slices.Contains([]string{"", "group", "future", "blocking", "place", "other"}, t.Waits), "a task waits for %q", t.Waits)
		workers[t.Worker] = true
	}
	if len(tasks) > 0 && rand.IntN(100) == 0 {
		stack := tasks[rand.IntN(len(tasks))].Stack()
		for text := range strings.SplitSeq(stack, "\n\n") {
			parked := !slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
				return line != "" && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "runtime.")
			})
			r.check(stack == "" || !parked, "a task shows the stack of a parked worker: %s", stack)
		}
	}
}

// lookAtGroups looks three times. A task that waits for a group of its own in the first and in the last answer must be in the one between, if
// it has been there for long enough that looks know of it.
func (r *run) lookAtGroups(longer time.Duration) {
	const known = 20 * time.Millisecond
	first, began := r.groups(longer), time.Now()
	between, last := r.groups(0), r.groups(longer)
	for id, g := range first {
		again, ok := last[id]
		if !ok {
			continue
		}
		same := func(a, b uint64) bool { return a == b || a == 0 || b == 0 } // 0: it was not listed yet, or is over
		r.check(g.Since.Equal(again.Since) && g.Made == again.Made && g.Parent == again.Parent && same(g.Pool, again.Pool) && same(g.ParentPool, again.ParentPool),
			"group %+v has become %+v", g, again)
		_, ok = between[g.Parent]
		r.check(g.Parent == 0 || ok || began.Sub(g.Since) < known, "group %+v is there, and its parent is not among %+v", g, between)
	}
}

// groups returns the groups by their ID.
func (r *run) groups(longer time.Duration) map[uint64]weir.GroupInfo {
	list := weir.Groups(longer)
	now := time.Now()
	groups := map[uint64]weir.GroupInfo{}
	for i, g := range list {
		_, twice := groups[g.ID]
		r.check(g.ID > 0 && !twice && g.Parent != g.ID, "a group has a wrong ID: %+v", g)
		r.check(i == 0 || !g.Since.Before(list[i-1].Since), "groups are not in order: %+v", list)
		r.check(!g.Since.After(now) && g.Since.After(started) && g.Tasks >= 0, "a group is wrong: %+v", g)
		for _, t := range g.Running {
			r.check(t.Group == g.ID, "group %d lists a task of group %d", g.ID, t.Group)
			r.check(t.Since.Before(now), "a task is said to run since %v after the look", t.Since.Sub(now))
		}
		groups[g.ID] = g
	}
	return groups
}

func (r *run) lookAtLints(longer time.Duration) {
	for p, lints := range weir.Lints(longer) {
		for _, l := range lints {
			r.check(slices.Contains([]string{"slow", "same line", "stuck", "own queue"}, l.Rule) && l.Text != "", "pool %+v has the lint %+v", p, l)
		}
	}
}
