package programs

import "slices"

// share draws with one of so many parts of the acts that are left.
func (d *drawing) share(parts int, draw func()) {
	part := d.left / parts
	rest := d.left - part
	d.left = part
	draw()
	d.left += rest
}

// acts draws up to n acts, but at least one.
func (d *drawing) acts(at spot, n int) (acts []*act) {
	for ; n > 0 && d.left > 0; n-- {
		d.left--
		acts = append(acts, d.fill(d.kind(&at), &at))
	}
	if len(acts) == 0 {
		acts = append(acts, d.fill(compute, &at))
	}
	return acts
}

func (d *drawing) kind(at *spot) string {
	kinds := []string{compute}
	if len(d.free(at)) > 0 {
		kinds = append(kinds, locked, locked, locked, locked, locked)
	}
	if d.controls {
		kinds = append(kinds, resize, pause)
	}
	if d.shuts && d.noisy {
		kinds = append(kinds, shut)
	}
	if d.waits && !d.locks { // which what it waits for may need
		kinds = append(kinds, quiet)
	}
	if d.leases {
		kinds = append(kinds, lease, lease)
	}
	if d.divides {
		kinds = append(kinds, divide, sorted)
	}
	if at.depth < deepest {
		if d.forced {
			kinds = nil
		}
		if d.rests && at.held == 0 {
			kinds = append(kinds, rest, rest)
		}
		kinds = append(kinds, group, group, group, values, all, ordered, each, mapped, stream, stream, async, async, do, hedge, call, submit, fork, keyed, once, later)
		if d.noisy {
			kinds = append(kinds, first)
		}
		if d.crowds {
			kinds = append(kinds, fork, fork, fork, fork, fork, rest, rest, rest, rest, rest, group, group, group, resize, resize)
		}
		if len(at.futures) > 0 {
			kinds = append(kinds, get, get, get)
		}
	}
	d.forced = false
	return oneOf(d, kinds...)
}

// free is the locks that may be taken at a spot.
func (d *drawing) free(at *spot) (free []int) {
	pool := at.pool
	if pool == own {
		pool = at.row
	}
	for n := at.held + 1; n <= lockCount; n++ {
		if d.takes[n-1][pool] {
			free = append(free, n)
		}
	}
	return free
}

// fill draws an act of a kind.
func (d *drawing) fill(kind string, at *spot) *act {
	a, inner := &act{Kind: kind, With: options{}}, *at
	switch kind {
	case compute:
		d.maybe(2, a.With, "span", 3, 20, d.naps)
		if d.crowds {
			d.maybe(2, a.With, "span", 50, 200)
		}
	case rest:
		a.With["span"] = oneOf(d, 0, 3, 20)
		if d.crowds {
			a.With["span"] = oneOf(d, 3, 100, -500)
		}
	case resize:
		a.Pool, a.N = d.IntN(shared+1), oneOf(d, 1, 1, 2, 3, 5)
	case divide:
		a.Pool, a.N = d.IntN(shared), oneOf(d, 1, 4, 20)
		a.With["span"] = oneOf(d, 1, 10, 60)
		if d.noisy {
			d.maybe(4, a.With, "panics", 1)
		}
	case sorted:
		a.Pool, a.N = d.IntN(shared), oneOf(d, 1<<13, 1<<14)
	case shut:
		a.Pool = d.IntN(shared + 1)
		a.With["span"] = oneOf(d, 0, 1, 100)
		if d.locks { // which what closes waits for may need
			a.With["span"] = oneOf(d, 1, 100)
		}
	case quiet:
		a.Pool = d.IntN(shared + 1)
	case lease:
		a.With["span"] = oneOf(d, 0, 3, 20)
	case pause:
		a.Pool = d.IntN(shared + 1)
		a.With["span"] = oneOf(d, 1, 30, 200)
	case locked:
		a.N = oneOf(d, d.free(at)...)
		inner.held = a.N
		d.forced = !d.one(3)
		a.Body = d.acts(inner, 1+d.IntN(2))
		if at.pool >= 0 && at.pool < shared && at.depth < deepest && d.one(3) {
			// A place that is lent to a future for which no task waits goes to one that needs the lock.
			kid := &task{Acts: []*act{{Kind: locked, N: a.N}}}
			d.made++
			return &act{Kind: block, Body: []*act{{Kind: async, N: d.made, Pool: at.pool, Kids: []*task{kid}}, a}}
		}
	case fork:
		inner.depth++
		if d.rests && !d.locks {
			d.maybe(3, a.With, "rests", 1)
			if d.crowds {
				d.maybe(2, a.With, "rests", 1)
			}
		}
		for range 2 {
			a.Body = append(a.Body, &act{Kind: block, Body: d.acts(inner, 1+d.IntN(2))})
		}
	case get:
		f := oneOf(d, at.futures...)
		if !d.rings && f.Pool < at.row {
			return d.fill(compute, at)
		}
		a.N = f.N
	case call, submit, keyed:
		if a.Pool = callsPool; kind != call {
			a.Pool = d.target(at)
		}
		if kind == keyed {
			a.N = 1 + d.IntN(contextLane)
		}
		if a.Pool == at.pool { // a task must not wait for room in its own pool
			return d.fill(compute, at)
		}
		a.Kids = []*task{d.task(spot{pool: a.Pool, depth: deepest})} // it gets no context
		if kind != call {
			d.maybe(2, a.With, "try", 1)
		}
		if kind == keyed {
			d.maybe(2, a.Kids[0].With, "times", 2, 4)
		}
	case once:
		if known := oneOf(d, append([]*act{nil, nil}, d.onces...)...); known != nil {
			if !d.rings && known.Pool < at.row {
				return d.fill(compute, at)
			}
			a.N, a.Pool = known.N, known.Pool
			break
		}
		d.hand(a, at)
		d.onces = append(d.onces, a)
	default:
		d.hand(a, at)
	}
	if d.noisy && (kind == get || kind == once || kind != async && kind != later && len(a.Kids) > 0) {
		d.maybe(2, a.With, "recovers", 1)
		d.maybe(6, a.With, "deadline", 1, 20, 100, 500, 2000)
	}
	return a
}

// hand draws an act that hands over tasks with a context.
func (d *drawing) hand(a *act, at *spot) {
	inner := *at
	a.Pool = d.target(at)
	inner.depth, inner.row, inner.held, inner.inDo = at.depth+1, a.Pool, 0, a.Kind == do
	n := 1 + d.IntN(3)
	switch a.Kind {
	case async, once:
		d.made++
		a.N, n = d.made, 1
	case later:
		a.N, n = oneOf(d, 0, 1, 100, 1000), 1
		if a.N > 0 {
			d.maybe(3, a.With, "runs", 1, 2, 3)
		}
	case do, hedge:
		if n = 1; a.Kind == hedge {
			d.maybe(2, a.With, "after", 1, 50)
		}
	default:
		if d.one(7) {
			a.Pool, inner.row = own, at.row
			a.With["workers"] = 1 + d.IntN(2)
		}
		d.gather(a, at)
	}
	inner.pool = a.Pool
	for i := range n {
		d.share(n-i, func() { a.Kids = append(a.Kids, d.task(inner)) })
		if n > 1 {
			d.maybe(5, a.Kids[i].With, "times", 2)
		}
	}
	if a.Kind == async {
		at.futures = append(slices.Clip(at.futures), a)
	}
}

// gather draws the options and the body of a group, loop or stream.
func (d *drawing) gather(a *act, at *spot) {
	loop := a.loops()
	if !loop || a.Pool != own {
		d.maybe(3, a.With, "limit", 1, 2)
	}
	d.maybe(4, a.With, "keepgoing", 1)
	if !loop && (a.Pool == own || a.With.has("limit")) {
		d.maybe(4, a.With, "resized", 1, 2, 3)
	}
	if a.Kind == group {
		d.maybe(6, a.With, "waiters", 2, 3)
		d.maybe(6, a.With, "try", 1)
		d.maybe(2, a.With, "again", 1)
	}
	if loop {
		d.maybe(2, a.With, oneOf(d, "seq", "chan"), 1)
	}
	if d.noisy && d.rests && (!loop || a.Pool != own) { // on a goroutine of the task, its place would be given away between two tries, while the task itself may run
		d.maybe(4, a.With, "retry", 2, 3)
	}
	if a.Kind == stream {
		d.maybe(3, a.With, "unordered", 1)
		d.maybe(3, a.With, "ahead", 1, 2)
		d.maybe(4, a.With, "before", 1, 2)
		d.maybe(4, a.With, "after", 1, 2)
	}
	if (a.delivers() || a.readsSequence()) && !d.one(3) {
		inner := *at
		inner.depth++
		a.Body = d.acts(inner, 1)
	} else if at.inDo && !d.locks {
		d.maybe(4, a.With, "outer", 1)
	}
	if d.noisy && !loop {
		d.maybe(3, a.With, "panicsaserrors", 1)
		d.maybe(10, a.With, "cancelled", 1)
	}
	if d.noisy && a.delivers() {
		d.maybe(4, a.With, "break", 1, 2)
	}
}

// loops reports whether a is a call of package par.
func (a *act) loops() bool { return a.Kind == each || a.Kind == mapped || a.Kind == stream }

// pipes reports whether a is a pipeline of several stages.
func (a *act) pipes() bool { return a.With.has("before") || a.With.has("after") }

// delivers reports whether Body is that of a range statement.
func (a *act) delivers() bool { return a.Kind == all || a.Kind == ordered || a.Kind == stream }

// readsSequence reports whether the task itself reads a sequence.
func (a *act) readsSequence() bool { return a.With.has("seq") && (a.Kind == each || a.Kind == mapped) }

func (d *drawing) task(at spot) *task {
	t := &task{Acts: d.acts(at, 1+d.IntN(3)), With: options{}}
	if d.noisy {
		d.maybe(2, t.With, "heeds", 1)
		d.maybe(4, t.With, oneOf(d, "fails", "panics", "exits", "cancels"), 1)
	}
	return t
}

// target draws the pool on which work is handed over.
func (d *drawing) target(at *spot) int {
	var can []int
	for to, next := range d.next[at.row] {
		if next && at.pool != outside {
			can = append(can, to)
		}
	}
	return oneOf(d, append(can, at.row)...)
}
