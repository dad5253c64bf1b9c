package peer

import (
	"context"

	"github.com/alitto/pond/v2"
)

const pondModule = "github.com/alitto/pond/v2"

// The options are pond's own defaults: with its unbounded queue Submit never
// blocks, so Open and Queued are one.
func pondPeers() []Peer {
	open := func(limit int, work Work) Runner { return &pondPool{pond.NewPool(limit), work.counted()} }
	group := func(limit int, work Work) Runner {
		pool := pond.NewPool(limit)
		return &pondGroupRunner{pool, pool.NewGroup(), plain{work}}
	}
	result := func(limit int, work Work) Runner {
		pool := pond.NewResultPool[int](limit)
		return &pondResult{pool, pool.NewGroup(), work.valued()}
	}
	return []Peer{
		{
			// Go is the one call that makes no future. The pool itself can be waited for
			// only by stopping it for good.
			Name: "pond", Module: pondModule, About: "NewPool, Go, a WaitGroup; unbounded queue",
			Open: open, Queued: unbounded(open),
			New: func(limit int) func() { return pond.NewPool(limit).StopAndWait },
		},
		{
			Name: "pond.group", Module: pondModule,
			About: "NewGroup, Submit (SubmitErr with a context), Wait; a new group after each Wait, unbounded queue",
			Open:  group, Queued: unbounded(group),
			Group: func(ctx context.Context, limit int, work GroupWork) Group {
				g := &pondGroup{pool: pond.NewPool(limit), parent: ctx, work: work}
				g.renew()
				return g
			},
		},
		{
			Name: "pond.result", Module: pondModule,
			About: "NewResultPool, NewGroup, Submit, Wait: a number from each task; a new group after each Wait, " +
				"unbounded queue",
			Open: result, Queued: unbounded(result),
			New:     func(limit int) func() { return pond.NewResultPool[int](limit).StopAndWait },
			Collect: collectPond,
		},
	}
}

func collectPond(limit, n int, fn func(i int) (int, error)) ([]int, error) {
	pool := pond.NewResultPool[int](limit)
	defer pool.StopAndWait()
	group := pool.NewGroup()
	for i := range n {
		group.SubmitErr(func() (int, error) { return fn(i) })
	}
	return group.Wait()
}

type pondPool struct {
	pool pond.Pool
	*counted
}

func (r *pondPool) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		must(r.pool.Go(r.task(i)))
	}
}

func (r *pondPool) Close() { r.pool.StopAndWait() }

type pondGroupRunner struct {
	pool  pond.Pool
	group pond.TaskGroup
	tasks plain
}

func (r *pondGroupRunner) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.group.Submit(r.tasks.task(i))
	}
}

// Wait makes a new group: one keeps a result of each task for as long as it lives.
func (r *pondGroupRunner) Wait() {
	must(r.group.Wait())
	r.group = r.pool.NewGroup()
}

func (r *pondGroupRunner) Close() { r.pool.StopAndWait() }

type pondGroup struct {
	pool   pond.Pool
	parent context.Context
	work   GroupWork
	group  pond.TaskGroup
	tasks  *bound
}

func (g *pondGroup) renew() {
	g.group = g.pool.NewGroupContext(g.parent)
	g.tasks = g.work.bound(g.group.Context())
}

func (g *pondGroup) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		g.group.SubmitErr(g.tasks.task(i))
	}
}

func (g *pondGroup) Wait() error {
	err := g.group.Wait()
	g.renew()
	return err
}

func (g *pondGroup) Close() { g.pool.StopAndWait() }

type pondResult struct {
	pool  pond.ResultPool[int]
	group pond.ResultTaskGroup[int]
	tasks *valued
}

func (r *pondResult) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.group.Submit(r.tasks.task(i))
	}
}

func (r *pondResult) Wait() {
	_, err := r.group.Wait()
	must(err)
	r.group = r.pool.NewGroup()
}

func (r *pondResult) Close() { r.pool.StopAndWait() }
