package places

import (
	"fmt"
	"slices"
)

// Deadlock is the Problem of a program in which all tasks wait or block.
const Deadlock = "deadlock"

// broken notes an invariant that does not hold.
func (w *world) broken(format string, more ...any) {
	if w.seen.Problem == "" {
		w.seen.Problem = fmt.Sprintf(format, more...)
	}
}

// check looks at what holds between any two steps.
func (w *world) check() {
	for _, p := range w.pools {
		w.checkPlaces(p)
		w.checkTasks(p)
	}
}

func (w *world) checkPlaces(p *pool) {
	if len(p.places) > p.limit+p.extra || p.extra > 0 && len(p.places) < p.limit+p.extra {
		w.broken("%d places are in use; the limit is %d, and %d more are extra", len(p.places), p.limit, p.extra)
	}
	if len(p.places) < p.limit && len(p.queue) > 0 {
		w.broken("a place is free, and %v does not start", p.queue[0])
	}
	for _, k := range p.places {
		if len(k.stack) == 0 {
			w.broken("a place is in use, and no task is on it")
		}
		for _, t := range k.stack {
			switch {
			case t.place != k:
				w.broken("%v is on two places", t)
			case t.state != running && t.state != waiting:
				w.broken("%v is on a place, and neither runs nor waits", t)
			case t.state == running && t != k.top():
				w.broken("%v runs on a place that it has lent", t)
			}
		}
	}
}

func (w *world) checkTasks(p *pool) {
	runs, roots := 0, -p.limit
	for _, t := range w.tasks {
		if t.pool != p || !t.begun || t.state == ended {
			continue
		}
		if w.isRoot(t) {
			roots++
		}
		if t.state == running {
			runs++
		}
		if t.state != queued && !slices.Contains(p.places, t.place) {
			w.broken("%v has no place", t)
		}
		if t.state == waiting && t.wait.over() {
			w.broken("the wait of %v is over, and it does not go on", t)
		}
	}
	if runs > p.limit+p.extra {
		w.broken("%d tasks run; the limit is %d, and %d places are extra", runs, p.limit, p.extra)
	}
	if roots > 0 {
		w.broken("%d more roots have begun than the limit allows", roots)
	}
	w.seen.Extra = max(w.seen.Extra, p.extra)
}

// isRoot reports whether the task was handed over from outside, and so that no task waits for it.
func (w *world) isRoot(t *task) bool { return t.parent == w.outside && t.Future == 0 }

// checkEnd looks at what holds when all tasks have ended.
func (w *world) checkEnd() {
	for _, p := range w.pools {
		if len(p.places) > 0 || p.extra > 0 {
			w.broken("all tasks have ended, and a place is in use")
		}
	}
}
