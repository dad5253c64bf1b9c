package peer

import (
	"runtime"

	"github.com/bytedance/gopkg/util/gopool"
)

func gopoolPeers() []Peer {
	return []Peer{{
		Name:  "gopool",
		About: "NewPool, Go, a WaitGroup; unbounded queue",
		Open:  openGopool, Queued: unbounded(openGopool),
		New: func(limit int) func() {
			pool := newGopool(limit)
			return func() { runtime.KeepAlive(pool) } // only the garbage collector ends the pool
		},
	}}
}

func newGopool(limit int) gopool.Pool {
	return gopool.NewPool("lab", int32(limit), gopool.NewConfig())
}

// openGopool returns a runner that may run more tasks than its limit: one more for each submitter but one.
// gopool reads the number of its workers and adds a worker in two steps. Close has nothing to end: a worker
// ends when it finds no task.
func openGopool(limit int, task func()) Runner {
	pool := newGopool(limit)
	task, live := counted(task)
	return runner{live: live, submit: func(lo, hi int) {
		for range hi - lo {
			pool.Go(task)
		}
	}}
}
