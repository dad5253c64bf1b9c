package peer

import (
	"runtime"

	"github.com/bytedance/gopkg/util/gopool"
)

func gopoolPeers() []Peer {
	open := func(limit int, work Work) Runner { return &gopoolRunner{newGopool(limit), work.counted()} }
	return []Peer{
		{
			Name: "gopool", Module: "github.com/bytedance/gopkg",
			About: "NewPool, Go, a WaitGroup; unbounded queue",
			Open:  open, Queued: unbounded(open),
			New: func(limit int) func() {
				pool := newGopool(limit)
				return func() { runtime.KeepAlive(pool) } // only the collector ends it
			},
		},
	}
}

func newGopool(limit int) gopool.Pool {
	return gopool.NewPool("lab", int32(limit), gopool.NewConfig())
}

// A gopoolRunner may run one task more than its limit for each submitter but one:
// gopool looks at the number of its workers and adds one in two steps.
type gopoolRunner struct {
	pool gopool.Pool
	*counted
}

func (r *gopoolRunner) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		r.pool.Go(r.task(i))
	}
}

// Close has nothing to end: a worker ends when it finds no task.
func (*gopoolRunner) Close() {}
