package places

import "slices"

// Draw makes a program of one to three pools by choose, which returns a number from 0 to n-1; zeros make it small.
// Locks are held over waits in it as far as [Program.RestrictLocks] leaves them.
func Draw(choose func(n int) int) *Program {
	d := drawer{choose: choose, left: 4 + choose(1+choose(30))}
	p := &Program{}
	pools, most := 1+choose(3), 1+3*choose(2)
	for range pools {
		p.Limits = append(p.Limits, 1+choose(1+choose(most)))
		d.handsTo = append(d.handsTo, d.some(pools))
		d.takes = append(d.takes, d.some(5))
	}
	var known []int
	for range 1 + choose(5) {
		root := d.task(choose(pools), scope{known: known})
		if p.Roots = append(p.Roots, root); choose(4) == 3 {
			root.Future = d.future()
			known = append(known, root.Future)
			continue
		}
		for range choose(most) { // the same again
			p.Roots = append(p.Roots, root)
		}
	}
	p.RestrictLocks(choose)
	return p
}

// drawer draws the parts of a program.
type drawer struct {
	choose  func(n int) int
	left    int     // how many actions it may draw yet
	futures int     // how many it has drawn
	handsTo [][]int // the pools to which the tasks of each pool hand work; few, so that locks can be held over waits
	takes   [][]int // the locks that they take; lock 0 is none
}

// scope is where an action stands.
type scope struct {
	pool, depth int
	held        int   // the latest lock that is held there
	known       []int // the futures that it can get
}

// some draws some of the numbers below n.
func (d *drawer) some(n int) (drawn []int) {
	for i := range n {
		if d.choose(5) > 2 {
			drawn = append(drawn, i)
		}
	}
	return drawn
}

func (d *drawer) future() int {
	d.futures++
	return d.futures
}

func (d *drawer) task(pool int, s scope) *Task {
	s.pool, s.depth = pool, s.depth+1
	return &Task{Pool: pool, Actions: d.actions(s, 1+d.choose(3), false)}
}

// tasks draws what an action hands over, on one pool or, for a group now and then, on several.
func (d *drawer) tasks(s scope, kind Kind) (drawn []*Task) {
	n := 1
	if kind == Group || kind == Stream {
		n += d.choose(3)
	}
	to := append([]int{s.pool}, d.handsTo[s.pool]...)
	pool, several := to[d.choose(len(to))], d.choose(5) == 4
	for range n {
		if several && kind == Group {
			pool = to[d.choose(len(to))]
		}
		t := d.task(pool, s)
		if kind == Stream {
			t.Items = 1 + d.choose(2)
		}
		drawn = append(drawn, t)
	}
	return drawn
}

// actions draws n actions, the first of them a wait if there must be one.
func (d *drawer) actions(s scope, n int, wait bool) (drawn []*Action) {
	s.known = slices.Clone(s.known)
	for range min(n, d.left) {
		d.left--
		a := d.action(s, wait)
		if a.Kind == Async {
			a.Tasks[0].Future = d.future()
			s.known = append(s.known, a.Tasks[0].Future)
		}
		drawn, wait = append(drawn, a), false
	}
	return drawn
}

func (d *drawer) action(s scope, wait bool) *Action {
	later := slices.DeleteFunc(slices.Clone(d.takes[s.pool]), func(lock int) bool { return lock <= s.held })
	kinds := []Kind{Compute}
	if len(later) > 0 && !wait {
		kinds = append(kinds, Lock, Lock, Lock)
	}
	if s.depth < 4 {
		kinds = append(kinds, Group, Group, Group, Stream, Do, Async, Async)
	}
	if len(s.known) > 0 {
		kinds = append(kinds, Get, Get)
	}
	if wait && len(kinds) > 1 {
		kinds = kinds[1:]
	}
	a := &Action{Kind: kinds[d.choose(len(kinds))]}
	switch a.Kind {
	case Compute:
		return a
	case Lock:
		a.Number = later[d.choose(len(later))]
		s.held = a.Number
		a.Body = d.actions(s, 1+d.choose(2), d.choose(3) > 0)
		return a
	case Get:
		a.Number = s.known[d.choose(len(s.known))]
	default:
		a.Tasks = d.tasks(s, a.Kind)
	}
	if a.Kind == Group {
		a.Mode = []Mode{All, All, First, Each}[d.choose(4)]
		a.Limit = d.choose(1 + 2*d.choose(2))
	}
	if a.Mode != All || a.Kind == Stream {
		a.Body = d.actions(s, d.choose(2), false)
	}
	a.Cancel = a.Kind != Async && d.choose(4) == 3
	return a
}
