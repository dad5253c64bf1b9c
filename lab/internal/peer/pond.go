package peer

import (
	"context"

	"github.com/alitto/pond/v2"
)

const pondModule = "github.com/alitto/pond/v2"

// pondPeers use pond's default options. With pond's unbounded queue Submit never blocks, so Open and Queued
// are the same.
func pondPeers() []Peer {
	return []Peer{
		{
			// Go is the only call that makes no future. The pool itself can be waited for only by stopping it
			// for good.
			Name: "pond", Module: pondModule, About: "NewPool, Go, a WaitGroup; unbounded queue",
			Open: openPond, Queued: unbounded(openPond),
			New: func(limit int) func() { return pond.NewPool(limit).StopAndWait },
		},
		{
			Name: "pond.group", Module: pondModule,
			About: "NewGroup, Submit (SubmitErr with a context), Wait; a new group after each Wait, unbounded queue",
			Open:  openPondGroup, Queued: unbounded(openPondGroup),
			Group: func(ctx context.Context, limit int, work GroupWork) Runner {
				pool := pond.NewPool(limit)
				g := pool.NewGroupContext(ctx)
				tasks := work.bound(g.Context())
				return runner{
					submit: func(lo, hi int) {
						for i := lo; i < hi; i++ {
							g.SubmitErr(tasks.task(i))
						}
					},
					wait: func() error {
						err := g.Wait()
						g = pool.NewGroupContext(ctx)
						tasks = work.bound(g.Context())
						return err
					},
					close: pool.StopAndWait,
				}
			},
		},
		{
			Name: "pond.result", Module: pondModule,
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

func openPond(limit int, work Work) Runner {
	pool := pond.NewPool(limit)
	tasks, live := work.counted()
	return runner{
		live: live,
		submit: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				must(pool.Go(tasks.task(i)))
			}
		},
		close: pool.StopAndWait,
	}
}

// openPondGroup makes a new group after each Wait: a group keeps a result of each task for as long as the
// group lives.
func openPondGroup(limit int, work Work) Runner {
	pool := pond.NewPool(limit)
	g, tasks := pool.NewGroup(), work.plain()
	return runner{
		submit: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				g.Submit(tasks.task(i))
			}
		},
		wait: func() error {
			err := g.Wait()
			g = pool.NewGroup()
			return err
		},
		close: pool.StopAndWait,
	}
}

func openPondResult(limit int, work Work) Runner {
	pool := pond.NewResultPool[int](limit)
	g, tasks := pool.NewGroup(), work.valued()
	return runner{
		submit: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				g.Submit(tasks.task(i))
			}
		},
		wait: func() error {
			_, err := g.Wait()
			g = pool.NewGroup()
			return err
		},
		close: pool.StopAndWait,
	}
}
