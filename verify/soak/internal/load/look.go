package load

import (
	"slices"
	"strings"
	"time"

	"github.com/64ed045f/weir"
)

// look looks once at what other loads have, in one of the ways, and checks what holds of each answer.
func look(r *Round) {
	longer := pick(r.Rand, 0, micros(r.Rand, 1000), micros(r.Rand, 50_000))
	switch r.Rand.IntN(16) {
	case 0:
		r.lookAtLints(longer + 1)
	case 1, 2, 3:
		r.lookAtGroups(longer)
	default:
		r.lookAtPools(longer)
	}
	time.Sleep(pick(r.Rand, 0, 0, micros(r.Rand, 100), micros(r.Rand, 1000)))
}

func (r *Round) lookAtPools(longer time.Duration) {
	var last uint64
	for _, p := range slices.Collect(weir.Pools()) {
		r.Check(p.ID > last && p.Made != "" && !strings.Contains(p.Made, "/internal/engine/"), "pool %+v comes after pool %d", p, last)
		last = p.ID
		yields(r.Rand, 5) // the pool may close
		times, before := p.Times(), p.Stats()
		tasks := p.Running(longer)
		after, later := p.Stats(), p.Times()
		r.checkRunning(tasks, longer)
		for _, t := range tasks {
			r.Check(t.Pool == p.Name, "pool %q lists a task of pool %q", p.Name, t.Pool)
		}
		have := after.Running + after.Suspended
		quiet := before == after && after.Workers == after.Idle+have // no worker is between two tasks
		r.Check(!quiet || len(tasks) <= have, "while a pool had %+v, %d tasks ran: %+v", after, len(tasks), tasks)
		r.Check(times.Run.Count() <= later.Run.Count() && times.Wait.Count() <= later.Wait.Count() && later.Oldest >= 0, "times have become %+v from %+v", later, times)
		r.Look()
	}
}

// checkRunning checks an answer that the library has just given.
func (r *Round) checkRunning(tasks []weir.Running, longer time.Duration) {
	now := time.Now()
	workers := map[int]bool{}
	for i, t := range tasks {
		r.Check(now.Sub(t.Since) >= longer, "a task is said to run for longer than %v, since %v ago", longer, now.Sub(t.Since))
		r.Check(t.Since.After(started), "a task is said to run since %v before the program", started.Sub(t.Since))
		r.Check(i == 0 || !t.Since.Before(tasks[i-1].Since), "tasks are not in order: %+v", tasks)
		r.Check(t.Worker > 0 && !workers[t.Worker], "worker %d has two tasks: %+v", t.Worker, tasks)
		r.Check(slices.Contains([]string{"", "group", "future", "blocking", "place", "other"}, t.Waits), "a task waits for %q", t.Waits)
		workers[t.Worker] = true
	}
	if len(tasks) > 0 && one(r.Rand, 100) {
		stack := pick(r.Rand, tasks...).Stack()
		for text := range strings.SplitSeq(stack, "\n\n") {
			parked := !slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
				return line != "" && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "runtime.")
			})
			r.Check(stack == "" || !parked, "a task shows the stack of a parked worker: %s", stack)
		}
	}
}

var started = time.Now()

// lookAtGroups looks three times. A task that waits for a group of its own in the first and in the last answer must be in the one between, if
// it has been there for long enough that looks know of it.
func (r *Round) lookAtGroups(longer time.Duration) {
	const known = 20 * time.Millisecond
	first, began := r.groups(longer), time.Now()
	between, last := r.groups(0), r.groups(longer)
	for id, g := range first {
		again, ok := last[id]
		if !ok {
			continue
		}
		same := func(a, b uint64) bool { return a == b || a == 0 || b == 0 } // 0: it was not listed yet, or is over
		r.Check(g.Since.Equal(again.Since) && g.Made == again.Made && g.Parent == again.Parent && same(g.Pool, again.Pool) && same(g.ParentPool, again.ParentPool),
			"group %+v has become %+v", g, again)
		_, ok = between[g.Parent]
		r.Check(g.Parent == 0 || ok || began.Sub(g.Since) < known, "group %+v is there, and its parent is not among %+v", g, between)
	}
}

// groups returns the groups by their ID.
func (r *Round) groups(longer time.Duration) map[uint64]weir.GroupInfo {
	list := weir.Groups(longer)
	now := time.Now()
	groups := map[uint64]weir.GroupInfo{}
	for i, g := range list {
		_, twice := groups[g.ID]
		r.Check(g.ID > 0 && !twice && g.Parent < g.ID, "a group has a wrong ID: %+v", g)
		r.Check(i == 0 || !g.Since.Before(list[i-1].Since), "groups are not in order: %+v", list)
		r.Check(!g.Since.After(now) && g.Since.After(started) && g.Tasks >= 0, "a group is wrong: %+v", g)
		for _, t := range g.Running {
			r.Check(t.Group == g.ID, "group %d lists a task of group %d", g.ID, t.Group)
			r.Check(t.Since.Before(now), "a task is said to run since %v after the look", t.Since.Sub(now))
		}
		groups[g.ID] = g
	}
	r.Look()
	return groups
}

func (r *Round) lookAtLints(longer time.Duration) {
	for p, lints := range weir.Lints(longer) {
		for _, l := range lints {
			r.Check(slices.Contains([]string{"slow", "same line", "stuck", "own queue"}, l.Rule) && l.Text != "", "pool %+v has the lint %+v", p, l)
		}
		r.Look()
	}
}
