package programs

import (
	"math/rand/v2"
	"slices"
)

// order looks for what may block a program at any limit: locks held over waits against the rule in the package
// documentation, and submitters that wait for each other.
type order struct {
	tasks   []*task
	futures map[int]*task // by number
	onces   map[int]*task // by number
	below   map[*task]work
	reach   []uint64 // by pool: this one, and those to which work goes from there
	lowest  []*act   // by pool: the earliest lock that its tasks take
	senders []uint64 // by pool: the pools whose tasks submit to it
	keys    []bool   // by pool: it has groups with keys, whose tasks run in lanes
	fix     func()   // mends a mistake
	rand    *rand.Rand
}

// work is what a wait for a task waits for: the task, and all that it waits for in turn.
type work struct {
	pools uint64
	lock  *act // the earliest lock that it takes
}

func newOrder(p *Program, r *rand.Rand) *order {
	tasks, pools := p.index()
	o := &order{
		tasks: tasks, futures: map[int]*task{}, onces: map[int]*task{}, below: map[*task]work{}, rand: r,
		reach: make([]uint64, pools), lowest: make([]*act, pools), senders: make([]uint64, pools), keys: make([]bool, pools),
	}
	for _, t := range tasks {
		visit(t.Acts, func(a *act) {
			if a.Kind == async {
				o.futures[a.N] = a.Kids[0]
			}
			if a.Kind == once && len(a.Kids) > 0 {
				o.onces[a.N] = a.Kids[0]
			}
		})
	}
	for _, t := range tasks {
		o.reach[t.pool] |= 1 << t.pool
		visit(t.Acts, func(a *act) {
			o.lowest[t.pool] = earlier(o.lowest[t.pool], a)
			if a.closes() {
				o.reach[t.pool] |= 1 << a.Pool
			}
			if a.With.has("key") {
				o.keys[a.Pool] = true
			}
			for _, kid := range o.awaited(a) {
				o.reach[t.pool] |= 1 << kid.pool
				if a.submits() {
					o.senders[kid.pool] |= 1 << t.pool
				}
			}
		})
	}
	for over := range pools {
		for from := range pools {
			if o.reach[from]&(1<<over) != 0 {
				o.reach[from] |= o.reach[over]
			}
		}
	}
	return o
}

// earlier returns a, or b if that takes an earlier lock.
func earlier(a, b *act) *act {
	if b != nil && b.Kind == locked && (a == nil || b.N < a.N) {
		return b
	}
	return a
}

// awaited is the tasks that an act waits for. Async, submit and keyed wait for room.
func (o *order) awaited(a *act) []*task {
	var kid *task
	switch a.Kind {
	case later:
		return nil
	case get:
		kid = o.futures[a.N]
	case once:
		kid = o.onces[a.N]
	}
	if kid != nil {
		return []*task{kid}
	}
	return a.Kids
}

func (o *order) work(t *task) work {
	if w, ok := o.below[t]; ok {
		return w
	}
	w := work{pools: 1 << t.pool}
	visit(t.Acts, func(a *act) {
		w.lock = earlier(w.lock, a)
		if a.leavesPool() {
			w.pools |= elsewhere
		}
		for _, kid := range o.awaited(a) {
			k := o.work(kid)
			w.pools |= k.pools
			w.lock = earlier(w.lock, k.lock)
		}
	})
	o.below[t] = w
	return w
}

// elsewhere stands for what is not of the pool: the goroutines that read the items of streams, and the keys.
const elsewhere = 1 << 63

// leavesPool reports whether a is a stream whose items a goroutine of its own reads, a group with a key, or one for which several goroutines wait. While the
// stream waits for that, no task of the pool may run that is the stream's, so a task that another pool waits
// for may have the place: it is as if the stream's work ran on two pools. Another task of the key may have the key's place.
func (a *act) leavesPool() bool {
	return a.Kind == stream && (a.With.has("seq") || a.With.has("chan")) || a.With.has("key") || a.With.has("waiters")
}

// closes reports whether a waits for all that a pool has accepted.
func (a *act) closes() bool { return a.Kind == shut && !a.With.has("span") || a.Kind == quiet }

// held is a lock that is held over a wait.
type held struct {
	lock   *act
	by     *task
	place  placeOf
	forked bool // by one of several goroutines of the task, the others of which may have lent its place
}

// placeOf is what a task has of a pool. An item of a loop with workers of its own runs on goroutines of the task that ranges, and
// has that one's place; so has what runs in Do on the caller's own pool.
type placeOf struct {
	task *task
	pool int
}

// check looks for mistakes in acts of t, done at a place while the locks of the chain are held.
func (o *order) check(t *task, acts []*act, chain []held, at placeOf, forked bool) {
	for _, a := range acts {
		within := chain
		if a.Kind == locked {
			for _, h := range chain {
				if a.N <= h.lock.N {
					o.drop(a, h.lock)
				}
			}
			within = slices.Concat(chain, []held{{a, t, at, forked}})
		}
		if a.closes() && o.reach[a.Pool]&(1<<t.pool) != 0 { // the tasks of the pool may wait for t
			o.fix = func() {
				if a.With["span"] = 1; a.Kind == quiet {
					a.Kind = compute
				}
			}
		}
		if a.Kind == rest && mayNotRest(chain, at, forked) {
			o.fix = func() { a.Kind = compute }
		}
		for _, kid := range o.awaited(a) {
			o.wait(t, a, kid, chain)
			inner := chain
			if a.Kind == async || a.submits() {
				inner = nil
			}
			there, several := placeOf{kid, kid.pool}, false
			switch {
			case a.loops() && a.Pool == own:
				there, several = at, true
			case a.Kind == do && kid.pool == at.pool:
				there, several = at, forked
			}
			if a.With.has("retry") && mayNotRest(inner, there, several) {
				o.fix = func() { delete(a.With, "retry") }
			}
			o.check(kid, kid.Acts, inner, there, several)
		}
		if a.Kind == later {
			o.check(a.Kids[0], a.Kids[0].Acts, nil, placeOf{a.Kids[0], a.Pool}, false)
		}
		o.check(t, a.Body, within, at, forked || a.Kind == fork)
	}
}

// mayNotRest reports whether a task, in Blocking or between two tries, may need for its place what waits for a lock of the chain.
func mayNotRest(chain []held, at placeOf, forked bool) bool {
	return slices.ContainsFunc(chain, func(h held) bool { return forked || h.place == at })
}

// wait checks one wait.
func (o *order) wait(t *task, a *act, kid *task, chain []held) {
	w := o.work(kid)
	reach := uint64(0)
	for pool := range o.reach {
		if w.pools&(1<<pool) != 0 {
			reach |= o.reach[pool]
		}
	}
	switch {
	case a.submits() && reach&o.senders[kid.pool] != 0: // what makes room there may wait for room there
		o.fix = func() { a.Kind, a.Kids = compute, nil }
	case a.With.has("outer") && reach&(1<<t.pool) != 0: // t keeps its place meanwhile
		o.fix = func() { delete(a.With, "outer") }
	}
	for _, h := range chain {
		if w.lock != nil && w.lock.N <= h.lock.N {
			o.drop(w.lock, h.lock)
		}
		if w.pools == 1<<h.by.pool && !h.forked && !a.submits() && !a.leavesPool() {
			continue
		}
		for pool, lock := range o.lowest {
			if reach&(1<<pool) != 0 && lock != nil && lock.N <= h.lock.N {
				o.drop(lock, h.lock)
			}
		}
	}
}

// drop removes one of two locks, preferably the one that is not held over the wait.
func (o *order) drop(taken, holding *act) {
	remove := taken
	if o.rand.IntN(6) == 0 {
		remove = holding
	}
	o.fix = func() { remove.Kind, remove.N = block, 0 }
}

func (p *Program) mistake(r *rand.Rand) (fix func()) {
	o := newOrder(p, r)
	o.check(p.Main, p.Main.Acts, nil, placeOf{p.Main, outside}, false)
	return o.fix
}

// sound reports whether only a fault of the library can block the program.
func (p *Program) sound() bool {
	r := rand.New(rand.NewPCG(0, 0))
	return p.mistake(r) == nil && !p.blocksInLanes(newOrder(p, r))
}

// repair removes locks, and what else it must, until the program is sound.
func (p *Program) repair(r *rand.Rand) {
	for fix := p.mistake(r); fix != nil; fix = p.mistake(r) {
		fix()
	}
}
