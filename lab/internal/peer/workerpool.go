package peer

import "github.com/gammazero/workerpool"

func workerpoolPeers() []Peer {
	return []Peer{{
		Name:  "workerpool",
		About: "New, Do, a WaitGroup; unbounded queue",
		Open:  openWorkerpool, Queued: unbounded(openWorkerpool),
		New: func(limit int) func() { return workerpool.New(limit).StopWait },
	}}
}

// openWorkerpool uses a WaitGroup, because the pool can be waited for only by stopping it for good.
func openWorkerpool(limit int, task func()) Runner {
	pool := workerpool.New(limit)
	task, live := counted(task)
	return runner{live: live, submit: func(lo, hi int) {
		for range hi - lo {
			must(pool.Do(task))
		}
	}, close: pool.StopWait}
}
