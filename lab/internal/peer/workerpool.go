package peer

import "github.com/gammazero/workerpool"

func workerpoolPeers() []Peer {
	return []Peer{{
		Name: "workerpool", Module: "github.com/gammazero/workerpool",
		About: "New, Do, a WaitGroup; unbounded queue",
		Open:  openWorkerpool, Queued: unbounded(openWorkerpool),
		New: func(limit int) func() { return workerpool.New(limit).StopWait },
	}}
}

// openWorkerpool uses a WaitGroup, because the pool can be waited for only by stopping it for good.
func openWorkerpool(limit int, work Work) Runner {
	pool := workerpool.New(limit)
	tasks, live := work.counted()
	return runner{live: live, submit: one(func(i int) error { return pool.Do(tasks.task(i)) }), close: pool.StopWait}
}
