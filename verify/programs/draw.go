package programs

import (
	"math/rand/v2"
	"slices"
)

// drawing is a program that is being drawn.
type drawing struct {
	*rand.Rand
	locks, rings, noisy, rests bool
	controls, divides, shuts   bool                         // tasks change pools, compute on several of them, and close them
	waits                      bool                         // tasks wait for pools
	leases                     bool                         // tasks use objects of a keeper
	crowds                     bool                         // no task is queued, and many rest and wait for room
	left                       int                          // acts that may still be drawn
	naps                       int                          // the span of some computations; below 0 in few programs, as it takes long
	made                       int                          // futures, and acts of once
	onces                      []*act                       // that have a task
	next                       [shared][shared]bool         // pools to which tasks of a pool hand work
	takes                      [lockCount][outside + 1]bool // locks that tasks of a pool take
	forced                     bool                         // the next act must wait
}

// spot is where acts are drawn for.
type spot struct {
	pool    int // where the task runs
	row     int // the shared pool that decides where work goes from here
	depth   int
	held    int    // the latest lock
	inDo    bool   // the caller's context is at hand
	futures []*act // that the task can wait for
}

const deepest = 5

// Draw returns program number seed. It always returns the same one.
func Draw(seed uint64) *Program {
	r := rand.New(rand.NewPCG(seed, 0))
	for {
		d := &drawing{Rand: r, locks: r.IntN(4) > 0, rings: r.IntN(2) > 0, noisy: r.IntN(2) > 0, controls: r.IntN(3) == 0, divides: r.IntN(4) == 0, shuts: r.IntN(5) == 0, waits: r.IntN(4) == 0, leases: r.IntN(4) == 0}
		if d.crowds = d.one(6); d.crowds {
			d.locks, d.controls = false, true
		}
		d.rests = !d.locks || d.one(2)
		p := d.program()
		p.repair(d.Rand)
		p.lanes(d)
		p.keys(d)
		p.rates(d)
		p.ranks(d)
		p.controls(d)
		if n := runs(p.Main, 1); n <= 300 || d.crowds && n <= 800 {
			return p
		}
	}
}

// runs is how many tasks a program runs, if it does each act once.
func runs(t *task, times int) (n int) {
	n = times
	visit(t.Acts, func(a *act) {
		for _, kid := range a.Kids {
			n += runs(kid, times*max(kid.With["times"], a.With["runs"], 1))
		}
	})
	return n
}

func (d *drawing) one(in int) bool { return d.IntN(in) == 0 }

func oneOf[T any](d *drawing, of ...T) T { return of[d.IntN(len(of))] }

// maybe sets an option, on average once in so many cases.
func (d *drawing) maybe(in int, with options, name string, values ...int) {
	if d.one(in) {
		with[name] = oneOf(d, values...)
	}
}

func (d *drawing) program() *Program {
	narrow := !d.one(3)
	p := &Program{Main: &task{}, With: options{}}
	for i := range shared + 1 {
		b := bounds{Limit: 1, Queue: oneOf(d, 0, 1, 1024)}
		if !narrow {
			b.Limit = oneOf(d, 1, 1, 1, 2, 2, 3, 4)
		}
		if d.crowds {
			b.Queue = 0
		}
		b.Keys, b.Idle = oneOf(d, 0, 0, 2), oneOf(d, 0, 0, 1, 100)
		if i != callsPool && d.noisy && d.rests && !d.locks { // with locks, each task would be one that may not rest
			b.Tries = oneOf(d, 0, 0, 0, 2, 3)
		}
		p.Pools = append(p.Pools, b)
	}
	if d.noisy {
		p.With["noisy"] = 1
	}
	if d.rests {
		p.With["rests"] = 1
	}
	d.maybe(4, p.With, "looks", 1)
	if d.leases {
		p.With["objects"] = oneOf(d, 1, 1, 2, 4)
		d.maybe(2, p.With, "lifetime", 20, 200)
	}
	for _, lock := range []string{"channel1", "channel2", "channel3"} {
		d.maybe(3, p.With, lock, 1)
	}
	for i := range d.takes {
		for pool := range d.takes[i] {
			d.takes[i][pool] = d.locks && d.Float64() < 0.4
		}
	}
	dense := oneOf(d, 0.25, 0.4, 0.6, 1)
	for i := range d.next {
		for j := range d.next {
			d.next[i][j] = d.Float64() < dense && (d.rings || j >= i)
		}
	}
	d.naps = oneOf(d, 3, 3, 3, 3, 3, 3, 3, -50)
	d.left = oneOf(d, 6+d.IntN(20), 10+d.IntN(50))
	if d.crowds {
		d.left = 20 + d.IntN(80)
	}
	d.main(p.Main)
	return p
}

// main draws what goroutines outside do: futures first, which tasks may wait for, and then all at once.
func (d *drawing) main(main *task) {
	at := spot{pool: outside}
	for range d.IntN(3) {
		at.row = d.IntN(shared)
		d.share(6, func() { main.Acts = append(main.Acts, d.fill(async, &at)) })
	}
	from, tops := d.IntN(shared), &act{Kind: fork}
	n := 1 + d.IntN(4)
	if d.crowds {
		n += 2
	}
	for i := range n {
		at.row = (from + i) % shared
		kind := oneOf(d, group, group, group, values, all, ordered, do, stream, each, fork, once, later, call)
		d.share(n+1-i, func() { tops.Body = append(tops.Body, d.fill(kind, &at)) })
		for _, kid := range tops.Body[i].Kids {
			if kind != do && kind != once && kind != later && kind != call {
				d.maybe(2, kid.With, "times", 2, 4, 8)
				if d.crowds {
					kid.With["times"] = oneOf(d, 2, 8, 20)
				}
			}
		}
	}
	main.Acts = append(main.Acts, tops)
}

// rates gives some pools a rate.
func (p *Program) rates(d *drawing) {
	if !d.one(4) || d.crowds {
		return
	}
	for i := range p.Pools[:shared] {
		if d.one(2) {
			p.Pools[i].Rate = oneOf(d, 1, 30, 200)
		}
	}
}

// ranks gives lanes priorities and shares, tasks of some pools a time in which they must start, and some pools room for few submitters that wait.
func (p *Program) ranks(d *drawing) {
	timed := [shared + 1]bool{} // the end of the run waits for timers, and so their tasks must start
	tasks, _ := p.index()
	for _, t := range tasks {
		visit(t.Acts, func(a *act) {
			if a.Kind == later {
				timed[a.Pool] = true
			}
		})
	}
	for i := range p.Pools {
		if b := &p.Pools[i]; b.Of > 0 && d.one(2) {
			b.Priority, b.Share, b.Aging = oneOf(d, -1, 0, 1, 1), oneOf(d, 1, 3), oneOf(d, 0, 0, 1, 100)
		}
		if d.noisy && !timed[i] && d.one(6) {
			p.Pools[i].Expiry = oneOf(d, 1, 50, 500)
		}
		if d.noisy && !timed[i] && d.one(6) {
			p.Pools[i].Waiting = 1
		}
	}
}

// controls draws calls that change pools.
func (p *Program) controls(d *drawing) {
	if !d.crowds && d.one(2) {
		return
	}
	for range 1 + d.IntN(4) {
		c := control{After: oneOf(d, 0, 30, 200, 1000), Pool: d.IntN(shared + 1)}
		switch {
		case d.noisy && d.one(4):
			c.Shutdown = oneOf(d, 1, 100, 1000)
		case d.one(3):
			c.Pause = oneOf(d, 1, 100, 500)
		default:
			c.Limit = oneOf(d, 1, 1, 2, 3, 5)
		}
		p.Control = append(p.Control, c)
	}
}

// lanes makes lanes of some pools, unless the program may then hang by rights, since tasks of other pools have the places that what it waits for
// needs:
//
//   - a task that comes back from a rest to such a place would wait for those that wait for a lock;
//   - one that waits with the context of its caller has no place to lend, either;
//   - one that submits, closes a pool, or calls the Stateful keeps its own place meanwhile, and what it waits for may need that;
//   - what a task waits for on a lane would wait for tasks of a lane of that, which count as its own, and may wait for a lock that the task holds;
//   - what a task, or main, waits for while it holds a lock would wait for those that wait for that, if the task has no place to lend to it;
//     so would another task of a pool that it waits for.
func (p *Program) lanes(d *drawing) {
	if d.locks && d.rests || !d.crowds && d.one(2) {
		return
	}
	for i := 1; i < shared; i++ {
		if of := d.IntN(i); !d.one(4) && (!d.locks || p.Pools[of].Of == 0) {
			p.Pools[i].Of = 1 + of
		}
	}
	if p.blocksInLanes(newOrder(p, d.Rand)) {
		for i := range p.Pools {
			p.Pools[i].Of = 0
		}
	}
	for _, of := range d.Perm(shared) {
		if d.locks && p.Pools[of].Of > 0 {
			continue
		}
		if p.Pools[callsPool].Of = 1 + of; !p.blocksInLanes(newOrder(p, d.Rand)) {
			return
		}
	}
	p.Pools[callsPool].Of = 0
}

// keys gives some groups keys, unless the program may then hang by rights: the tasks of a key run in a lane.
func (p *Program) keys(d *drawing) {
	if d.locks && d.rests || d.one(2) {
		return
	}
	tasks, _ := p.index()
	within := map[int]bool{} // tasks of groups with keys, which have such groups themselves more often
	for _, t := range tasks {
		visit(t.Acts, func(a *act) {
			switch a.Kind {
			case group, values, all, ordered, first:
				if a.Pool == own || !within[t.id] && !d.one(3) {
					break
				}
				if a.With["key"] = 1 + d.IntN(keyCount); !p.sound() {
					delete(a.With, "key")
					break
				}
				for _, kid := range a.Kids {
					within[kid.id] = true
				}
			}
		})
	}
}

// blocksInLanes reports whether the program may hang by rights since some of its pools are lanes. Rests it leaves to lanes.
func (p *Program) blocksInLanes(o *order) (blocks bool) {
	if !slices.ContainsFunc(p.Pools, func(b bounds) bool { return b.Of > 0 }) && !slices.Contains(o.keys, true) {
		return false
	}
	for _, t := range o.tasks {
		visit(t.Acts, func(a *act) {
			keeps := (a.submits() || a.Kind == call || a.closes()) && p.needs(o, a.Pool)&(1<<t.pool) != 0
			blocks = blocks || keeps || a.With.has("outer") ||
				a.Kind == locked && p.leadsBack(o, a.Body, p.root(t.pool), true, map[int]bool{})
		})
	}
	return blocks
}

// needs is the pools whose tasks, or places, the tasks of a pool may need.
func (p *Program) needs(o *order, pool int) (all uint64) {
	for next := o.reach[pool] | 1<<pool; next&^all != 0; {
		all |= next
		for from := range o.reach {
			if all&(1<<from) == 0 {
				continue
			}
			next |= o.reach[from]
			for other := range outside {
				if p.root(other) == p.root(from) {
					next |= 1 << other
				}
			}
		}
	}
	return all
}

// leadsBack reports whether acts wait for tasks of a pool with lanes, or such tasks do, or other tasks of their pools, without a place of its root to lend:
// within says that the acts themselves are done with one. It looks at each pool once, and notes it in seen.
func (p *Program) leadsBack(o *order, acts []*act, root int, within bool, seen map[int]bool) (leads bool) {
	visit(acts, func(a *act) {
		for _, kid := range o.awaited(a) {
			there := within && p.root(kid.pool) == root && !a.pipes() // each stage but the last is awaited from outside
			leads = leads || !there && (p.isFamily(kid.pool) || o.keys[kid.pool]) || p.leadsBack(o, kid.Acts, root, there, seen)
			if there || seen[kid.pool] {
				continue
			}
			seen[kid.pool] = true
			for _, t := range o.tasks {
				leads = leads || t.pool == kid.pool && p.leadsBack(o, t.Acts, root, false, seen)
			}
		}
	})
	return leads
}

// isOn reports whether a pool is another one, or a lane of it.
func (p *Program) isOn(pool, other int) bool {
	for pool != other && pool < outside && p.Pools[pool].Of > 0 {
		pool = p.Pools[pool].Of - 1
	}
	return pool == other
}

// root is the pool whose places the pool has.
func (p *Program) root(pool int) int {
	for pool >= 0 && pool < outside && p.Pools[pool].Of > 0 {
		pool = p.Pools[pool].Of - 1
	}
	return pool
}

// isFamily reports whether other pools have the same places.
func (p *Program) isFamily(pool int) bool {
	for other := range outside {
		if other != pool && p.root(other) == p.root(pool) {
			return true
		}
	}
	return false
}
