package peer

import (
	"context"

	"github.com/alitto/pond/v2"
)

// pondPeers use pond's default options. With pond's unbounded queue Submit never blocks, so Open and Queued
// are the same.
func pondPeers() []Peer {
	return []Peer{
		{
			// Go is the only call that makes no future. The pool itself can be waited for only by stopping it
			// for good.
			Name: "pond", About: "NewPool, Go, a WaitGroup; unbounded queue",
			Open: openPond, Queued: unbounded(openPond),
			New: func(limit int) func() { return pond.NewPool(limit).StopAndWait },
		},
		{
			Name:  "pond.group",
			About: "NewGroup, Submit (SubmitErr with a context), Wait; a new group after each Wait, unbounded queue",
			Open:  openPondGroup, Queued: unbounded(openPondGroup),
			Group: func(ctx context.Context, limit int, work GroupWork) Runner {
				pool := pond.NewPool(limit)
				return openPondGroups(pool.StopAndWait, func() (pond.TaskGroup, tasks[func() error]) {
					g := pool.NewGroupContext(ctx)
					return g, work.bound(g.Context())
				}, func(g pond.TaskGroup, task func() error) { g.SubmitErr(task) }, pond.TaskGroup.Wait)
			},
		},
		{
			Name: "pond.result",
			About: "NewResultPool, NewGroup, Submit, Wait: a number from each task; a new group after each Wait, " +
				"unbounded queue",
			Open: openPondResult, Queued: unbounded(openPondResult),
			New: func(limit int) func() { return pond.NewResultPool[int](limit).StopAndWait },
			Collect: func(limit, n int, fn func(i int) (int, error)) ([]int, error) {
				pool := pond.NewResultPool[int](limit)
				defer pool.StopAndWait()
				group := pool.NewGroup()
				for i := range n {
					group.SubmitErr(func() (int, error) { return fn(i) })
				}
				return group.Wait()
			},
		},
	}
}

func openPond(limit int, task func()) Runner {
	pool := pond.NewPool(limit)
	task, live := counted(task)
	return runner{live: live, submit: func(lo, hi int) {
		for range hi - lo {
			must(pool.Go(task))
		}
	}, close: pool.StopAndWait}
}

// openPondGroups makes a new group after each Wait: a group keeps a result of each task for as long as the
// group lives.
func openPondGroups[F, G any](end func(), open func() (G, tasks[F]), submit func(G, F), wait func(G) error) Runner {
	r := openRemade(open, submit, wait)
	r.close = end
	return r
}

func openPondGroup(limit int, task func()) Runner {
	pool, list := pond.NewPool(limit), tasks[func()]{same: task}
	return openPondGroups(pool.StopAndWait, func() (pond.TaskGroup, tasks[func()]) { return pool.NewGroup(), list },
		func(g pond.TaskGroup, task func()) { g.Submit(task) }, pond.TaskGroup.Wait)
}

func openPondResult(limit int, task func()) Runner {
	pool, list := pond.NewResultPool[int](limit), tasks[func() int]{same: valued(task)}
	return openPondGroups(pool.StopAndWait, func() (pond.ResultTaskGroup[int], tasks[func() int]) { return pool.NewGroup(), list },
		func(g pond.ResultTaskGroup[int], task func() int) { g.Submit(task) },
		func(g pond.ResultTaskGroup[int]) error { _, err := g.Wait(); return err })
}
