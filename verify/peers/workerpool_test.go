package peers_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// workerpoolPeer is answered by a Pool with an unbounded queue.
var workerpoolPeer = peers.Peer{
	Name:   "workerpool",
	Module: "github.com/gammazero/workerpool",
	Cases:  slices.Concat(workerpoolWorkers, workerpoolWaiting, workerpoolStopping, workerpoolPausing, workerpoolPacing),
}

// workerpoolWorkers are about how many workers there are, and for how long.
var workerpoolWorkers = []peers.Case{
	{
		Name:      "AllRequestsAreServed",
		Theirs:    []string{"workerpool.TestExample"},
		Behaviour: "Every task submitted has run when the pool is closed.",
		Run: func(t *testing.T) {
			p := newWorkerpool(2)
			requests := []string{"alpha", "beta", "gamma", "delta", "epsilon"}
			served := make(chan string, len(requests))
			for _, request := range requests {
				ok(t, p.Submit(func() { served <- request }))
			}
			p.Close()
			close(served)
			var got []string
			for request := range served {
				got = append(got, request)
			}
			slices.Sort(got)
			equal(t, "requests", fmt.Sprint(got), "[alpha beta delta epsilon gamma]")
		},
	},
	{
		Name:      "FewerThanOneWorker",
		Theirs:    []string{"workerpool.TestMaxWorkers"},
		Behaviour: "A pool asked for no worker has one.",
		Different: "A limit below 1 panics and says what must hold: a number that came out wrong should be found, not mended in silence.",
		Run: func(t *testing.T) {
			for _, limit := range []int{0, -1} {
				equal(t, "panic", caught(func() { weir.New(limit) }),
					any(fmt.Sprintf("weir: limit must be at least 1, got %d", limit)))
			}
		},
	},
	{
		Name:      "AllWorkersAreUsed",
		Theirs:    []string{"workerpool.TestMaxWorkers"},
		Behaviour: "A pool tells its size, and runs as many tasks at once, without leaving any of them in the queue.",
		Run: func(t *testing.T) {
			const workers = 20
			p := newWorkerpool(workers)
			equal(t, "limit", p.Stats().Limit, workers)
			release := block(t, p, workers)
			stats := p.Stats()
			equal(t, "tasks that run", stats.Running, workers)
			equal(t, "tasks in the queue", stats.Queued, 0)
			release()
			p.Close()
		},
	},
	{
		Name:      "AWorkerIsReused",
		Theirs:    []string{"workerpool.TestReuseWorkers"},
		Behaviour: "Tasks that come one after the other are run by one worker, however many there may be.",
		Run: func(t *testing.T) {
			p := newWorkerpool(5)
			for range 10 {
				ok(t, p.Submit(func() {}))
				synctest.Wait()
			}
			equal(t, "workers", p.Stats().Workers, 1)
			p.Close()
		},
	},
	{
		Name:      "IdleWorkersEndOneByOne",
		Theirs:    []string{"workerpool.TestWorkerTimeout"},
		Behaviour: "In each period in which the pool is idle one worker ends.",
		Different: "Every worker that has been idle for the whole period ends, so that after a burst the memory is given back at once and not over as many periods as there were workers.",
		Run: func(t *testing.T) {
			const workers = 20
			p := newWorkerpool(workers, weir.IdleTimeout(time.Second))
			release := block(t, p, workers)
			time.Sleep(time.Minute)
			synctest.Wait()
			equal(t, "workers while all are busy", p.Stats().Workers, workers)
			release()
			synctest.Wait()
			equal(t, "idle workers", p.Stats().Idle, workers)
			time.Sleep(time.Second - time.Nanosecond)
			synctest.Wait()
			equal(t, "idle workers just before the end of the period", p.Stats().Idle, workers)
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			equal(t, "workers after the period", p.Stats().Workers, 0)
		},
	},
	{
		Name:      "WorkersNeverTimeOut",
		Theirs:    []string{"workerpool.TestWorkerNoTimeout"},
		Behaviour: "With a negative period idle workers never end.",
		Different: "A negative period panics, as every negative length does; the longest duration there is, some 292 years, stands for never.",
		Run: func(t *testing.T) {
			if caught(func() { weir.New(1, weir.IdleTimeout(-1)) }) == nil {
				t.Error("a negative period is accepted")
			}
			const workers = 20
			p := newWorkerpool(workers, weir.IdleTimeout(1<<63-1))
			block(t, p, workers)()
			for range 2 {
				time.Sleep(time.Hour)
				synctest.Wait()
				equal(t, "idle workers", p.Stats().Idle, workers)
			}
			p.Close()
		},
	},
	{
		Name:      "WhatDoesNotRunIsQueued",
		Theirs:    []string{"workerpool.TestOverflow"},
		Behaviour: "Submit never blocks: what no worker can take is queued without a bound, and counted.",
		Run: func(t *testing.T) {
			p := newWorkerpool(2)
			release := make(chan struct{})
			for range 10_000 {
				ok(t, p.Submit(func() { <-release }))
			}
			synctest.Wait()
			equal(t, "tasks in the queue", p.Stats().Queued, 9_998)
			close(release)
			p.Close()
		},
	},
	{
		Name:      "TheQueueIsCountedAtAnyTime",
		Theirs:    []string{"workerpool.TestWaitingQueueSizeRace"},
		Behaviour: "The length of the queue may be asked for by many while they submit; it counts what waits for a worker, and not what has started.",
		Run: func(t *testing.T) {
			const workers, submitters, each = 5, 10, 20
			p := newWorkerpool(workers)
			release := block(t, p, workers) // these are not in the queue
			var most atomic.Int64
			var done []<-chan struct{}
			for range submitters {
				done = append(done, begin(func() {
					for own := range each {
						ok(t, p.Submit(func() {}))
						queued := int64(p.Stats().Queued)
						if queued <= int64(own) || queued > submitters*each {
							t.Errorf("%d tasks are queued, %d of them by one of %d submitters", queued, own+1, submitters)
						}
						for seen := most.Load(); queued > seen && !most.CompareAndSwap(seen, queued); {
							seen = most.Load()
						}
					}
				}))
			}
			for _, done := range done {
				<-done
			}
			equal(t, "most tasks in the queue", most.Load(), submitters*each)
			release()
			p.Close()
			equal(t, "tasks in the queue at the end", p.Stats().Queued, 0)
		},
	},
}

// newWorkerpool returns a pool that is as workerpool.New makes one: Submit never waits.
func newWorkerpool(workers int, opts ...weir.Option) *weir.Pool {
	return weir.New(workers, append(opts, weir.Queue(weir.Unbounded))...)
}

// block has n tasks run until release is called, and returns when they run, or are queued.
func block(t *testing.T, p *weir.Pool, n int) (release func()) {
	t.Helper()
	held := make(chan struct{})
	for range n {
		ok(t, p.Submit(func() { <-held }))
	}
	synctest.Wait()
	return func() { close(held) }
}

// failsWith fails the test unless err is that of a task which failed with target.
func failsWith(t *testing.T, err, target error) {
	t.Helper()
	if failed, isTask := errors.AsType[*weir.TaskError](err); !isTask || !errors.Is(failed, target) {
		t.Errorf("got error %v, want that of a task which is %v", err, target)
	}
}
