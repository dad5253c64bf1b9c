package peer

import "github.com/gammazero/workerpool"

func workerpoolPeers() []Peer {
	open := func(limit int, work Work) Runner {
		return &workerpoolRunner{workerpool.New(limit), work.counted()}
	}
	return []Peer{
		{
			Name: "workerpool", Module: "github.com/gammazero/workerpool",
			About: "New, Do, a WaitGroup; unbounded queue",
			Open:  open, Queued: unbounded(open),
			New: func(limit int) func() { return workerpool.New(limit).StopWait },
		},
	}
}

// A workerpoolRunner has a WaitGroup because the pool can be waited for only by
// stopping it for good.
type workerpoolRunner struct {
	pool *workerpool.WorkerPool
	*counted
}

func (r *workerpoolRunner) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		must(r.pool.Do(r.task(i)))
	}
}

func (r *workerpoolRunner) Close() { r.pool.StopWait() }
