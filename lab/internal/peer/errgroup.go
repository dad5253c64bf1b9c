package peer

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

const errgroupModule = "golang.org/x/sync"

func errgroupPeers() []Peer {
	return []Peer{
		{
			Name: "errgroup", Module: errgroupModule, About: "SetLimit, Go, Wait; a new group after each Wait",
			Open: func(limit int, work Work) Runner {
				return &errgroupRunner{newErrgroup(limit), limit, work.failing()}
			},
			Group: func(ctx context.Context, limit int, work GroupWork) Group {
				g := &errgroupGroup{parent: ctx, limit: limit, work: work}
				g.renew()
				return g
			},
			New: func(limit int) func() {
				group := newErrgroup(limit)
				return func() { must(group.Wait()) }
			},
			Collect:   collectErrgroup,
			Fibonacci: func(_, n int) int { return fibonacciErrgroup(n) },
			Sort:      func(_ int, items []int) { must(sortErrgroup(items)) },
		},
		{
			Name: "errgroup.waitgroup", Module: errgroupModule,
			About: "SetLimit, Go of one group for good, and a WaitGroup that waits",
			Open:  func(limit int, work Work) Runner { return openErrgroupCounted(limit, work) },
		},
	}
}

func newErrgroup(limit int) *errgroup.Group {
	group := new(errgroup.Group)
	group.SetLimit(limit)
	return group
}

// fibonacciErrgroup makes a group for each number: one with a limit that all share
// would wait for itself.
func fibonacciErrgroup(n int) int {
	if n < 2 {
		return n
	}
	var x, y int
	var both errgroup.Group
	both.Go(func() error { x = fibonacciErrgroup(n - 1); return nil })
	both.Go(func() error { y = fibonacciErrgroup(n - 2); return nil })
	must(both.Wait())
	return x + y
}

func sortErrgroup(items []int) error {
	if len(items) < divisible {
		slices.Sort(items)
		return nil
	}
	low, high := partition(items)
	var both errgroup.Group
	both.Go(func() error { return sortErrgroup(low) })
	both.Go(func() error { return sortErrgroup(high) })
	return both.Wait()
}

// collectErrgroup has a place for each task's value.
func collectErrgroup(limit, n int, fn func(i int) (int, error)) ([]int, error) {
	values := make([]int, n)
	group := newErrgroup(limit)
	for i := range n {
		group.Go(func() (err error) {
			values[i], err = fn(i)
			return err
		})
	}
	err := group.Wait()
	return values, err
}

type errgroupRunner struct {
	group *errgroup.Group
	limit int
	tasks *failing
}

func (r *errgroupRunner) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.group.Go(r.tasks.task(i))
	}
}

// Wait makes a new group: the documentation asks not to reuse one for other tasks.
func (r *errgroupRunner) Wait() {
	must(r.group.Wait())
	r.group = newErrgroup(r.limit)
}

func (*errgroupRunner) Close() {}

type errgroupGroup struct {
	parent context.Context
	limit  int
	work   GroupWork
	group  *errgroup.Group
	tasks  *bound
}

func (g *errgroupGroup) renew() {
	group, ctx := errgroup.WithContext(g.parent)
	group.SetLimit(g.limit)
	g.group, g.tasks = group, g.work.bound(ctx)
}

func (g *errgroupGroup) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		g.group.Go(g.tasks.task(i))
	}
}

// Wait makes a new group, since the context of the old one is cancelled.
func (g *errgroupGroup) Wait() error {
	err := g.group.Wait()
	g.renew()
	return err
}

// Close cancels the context of a group that has no tasks.
func (g *errgroupGroup) Close() { must(g.group.Wait()) }

type errgroupCounted struct {
	group *errgroup.Group
	work  Work
	same  func() error
	live  sync.WaitGroup
}

func openErrgroupCounted(limit int, work Work) Runner {
	r := &errgroupCounted{group: newErrgroup(limit), work: work}
	r.same = func() error {
		work.Same()
		r.live.Done()
		return nil
	}
	return r
}

func (r *errgroupCounted) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		r.group.Go(r.task(i))
	}
}

func (r *errgroupCounted) task(i int) func() error {
	if r.work.Same != nil {
		return r.same
	}
	return func() error {
		r.work.Each(i)
		r.live.Done()
		return nil
	}
}

func (r *errgroupCounted) Wait()  { r.live.Wait() }
func (r *errgroupCounted) Close() { must(r.group.Wait()) }
