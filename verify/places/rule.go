package places

import (
	"fmt"
	"slices"
)

// pool has places and a queue.
type pool struct {
	limit  int
	extra  int      // how many places it has beyond the limit
	places []*place // those in use
	queue  []*task  // helpers between two items, then tasks that have not begun
}

// place is a right to run, as a stack of tasks: each has lent it to the one above, and only the top may run.
type place struct {
	pool  *pool
	stack []*task
}

// open takes a place into use.
func (p *pool) open() *place {
	k := &place{pool: p}
	p.places = append(p.places, k)
	return k
}

// close takes a place out of use: an extra one, if there are any.
func (p *pool) close(k *place) {
	p.places = slices.DeleteFunc(p.places, func(o *place) bool { return o == k })
	p.extra = max(p.extra-1, 0)
}

func (k *place) top() *task {
	if len(k.stack) == 0 {
		return nil
	}
	return k.stack[len(k.stack)-1]
}

// lender returns the task that may lend the place: the top, if it waits.
func (k *place) lender() *task {
	if t := k.top(); t != nil && t.state == waiting {
		return t
	}
	return nil
}

func (k *place) remove(t *task) {
	k.stack = slices.DeleteFunc(k.stack, func(u *task) bool { return u == t })
	t.place = nil
}

// place puts the task on top of a place, where it runs.
func (w *world) place(t *task, on *place) {
	on.stack = append(on.stack, t)
	t.place, t.state = on, running
	w.say(t, fmt.Sprint("runs on ", on.stack))
}

// start is a start that the rule allows: of a queued task, on a lent place, or on a free one if that is nil.
type start struct {
	task *task
	lent *place
}

// settle starts tasks until the rule allows no more.
func (w *world) settle() {
	for _, p := range w.pools {
		for can := w.starts(p); len(can) > 0; can = w.starts(p) {
			w.start(can[w.choose(len(can))])
		}
	}
}

// starts returns what may start on the pool now: the first of the queue on a free place, and what the waiting tasks lend to.
func (w *world) starts(p *pool) (can []start) {
	if len(p.queue) == 0 {
		return nil
	}
	if len(p.places) < p.limit {
		can = append(can, start{p.queue[0], nil})
	}
	for _, k := range p.places {
		if t := k.lender(); t != nil {
			if u := t.borrower(); u != nil {
				can = append(can, start{u, k})
			}
		}
	}
	if len(can) == 0 {
		can = w.startsWhenAllWait(p)
	}
	return can
}

// borrower returns the first queued task on t's path, or nil.
func (t *task) borrower() *task {
	path := t.path(nil)
	for _, u := range t.pool.queue {
		if slices.Contains(path, u) {
			return u
		}
	}
	return nil
}

// path returns the tasks that t waits for, those that these wait for, and so on.
func (t *task) path(seen []*task) []*task {
	for _, u := range t.awaited() {
		if !slices.Contains(seen, u) {
			seen = u.path(append(seen, u))
		}
	}
	return seen
}

// startsWhenAllWait returns what may start on a pool of which no task runs: the first that is awaited, on any idle place.
func (w *world) startsWhenAllWait(p *pool) (can []start) {
	first := slices.IndexFunc(p.queue, w.isAwaited)
	if first < 0 || slices.ContainsFunc(w.tasks, func(t *task) bool { return t.pool == p && t.state == running }) {
		return nil
	}
	for _, k := range p.places {
		if k.lender() != nil {
			can = append(can, start{p.queue[first], k})
		}
	}
	return can
}

// isAwaited reports whether some task, of any pool, waits for t.
func (w *world) isAwaited(t *task) bool {
	return slices.ContainsFunc(w.tasks, func(u *task) bool { return slices.Contains(u.awaited(), t) })
}

func (w *world) start(s start) {
	t, p := s.task, s.task.pool
	p.queue = slices.DeleteFunc(p.queue, func(u *task) bool { return u == t })
	t.begun = true
	if s.lent == nil {
		w.place(t, p.open())
		return
	}
	if !w.isAwaited(t) {
		w.broken("%v gets a lent place, and no task waits for it", t)
	}
	w.place(t, s.lent)
}

// wake lets each task go on whose wait is over. left, if not nil, is the place of the task that ended or delivered.
func (w *world) wake(left *place) {
	for {
		var displaced []*task // the places of these are lent
		for _, t := range w.tasks {
			switch {
			case t.state != waiting || !t.wait.over():
			case t.place.top() == t:
				t.state = running
				w.say(t, "goes on")
			default:
				displaced = append(displaced, t)
			}
		}
		if len(displaced) == 0 {
			break
		}
		w.goOn(displaced[w.choose(len(displaced))], left)
	}
	if left != nil && len(left.stack) == 0 {
		left.pool.close(left)
	}
}

// goOn lets a task run that has lent its place. What has the place moves, unless the place is the one just left.
func (w *world) goOn(t *task, left *place) {
	own := t.place
	if left == own && own.top().state != running && !w.isRoot(t) {
		own.remove(t)
		w.place(t, own)
		return
	}
	to := t.placeFor(left)
	i := slices.Index(own.stack, t) + 1
	for _, above := range own.stack[i:] {
		above.place = to
	}
	to.stack = append(to.stack, own.stack[i:]...)
	own.stack = own.stack[:i:i]
	t.state = running
	w.say(t, fmt.Sprint("goes on; its place was lent, and now there is ", to.stack))
}

// placeFor returns where what has the place of t goes on: the place just left, or a free one, or an extra one.
func (t *task) placeFor(left *place) *place {
	p := t.pool
	switch {
	case left != nil && left.pool == p && left != t.place && (left.top() == nil || left.top().state != running):
		return left
	case len(p.places) < p.limit:
		return p.open()
	}
	p.extra++
	return p.open()
}
