package peers_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// workerpoolStopping answers StopWait by Close, and Stop by a Shutdown with a context that is done.
var workerpoolStopping = []peers.Case{
	{
		Name:      "CloseRunsWhatIsQueued",
		Theirs:    []string{"workerpool.TestStopWait", "workerpool.TestStopReleasesWaitingQueue"},
		Behaviour: "The call that ends a pool and waits returns when all queued tasks have run, and then there is no worker and no task left.",
		Run: func(t *testing.T) {
			const tasks = 100
			p := newWorkerpool(5)
			var finished atomic.Int64
			for range tasks {
				ok(t, p.Submit(func() { time.Sleep(time.Second); finished.Add(1) }))
			}
			p.Close()
			equal(t, "tasks that have run", finished.Load(), tasks)
			stats := p.Stats()
			equal(t, "workers", stats.Workers, 0)
			equal(t, "tasks in the queue", stats.Queued, 0)
		},
	},
	{
		Name:      "CloseWithoutTasksAndTwice",
		Theirs:    []string{"workerpool.TestStopWait", "workerpool.TestStop"},
		Behaviour: "A pool that has nothing to do may be ended, and more than once, in either way.",
		Run: func(t *testing.T) {
			p := newWorkerpool(5)
			for range 2 {
				p.Close()
				equal(t, "workers", p.Stats().Workers, 0)
				unrun, err := p.Shutdown(t.Context())
				ok(t, err)
				equal(t, "tasks handed back", len(unrun), 0)
			}
		},
	},
	{
		Name:      "WorkersAreGoneAfterTheEnd",
		Theirs:    []string{"workerpool.TestWorkerLeak", "workerpool.TestStop"},
		Behaviour: "When the call that ends a pool has returned, no goroutine of the pool is left.",
		Run: func(t *testing.T) {
			const workers = 100
			p := newWorkerpool(workers)
			var finished atomic.Int64
			for range workers {
				ok(t, p.Submit(func() { time.Sleep(time.Millisecond); finished.Add(1) }))
			}
			p.Close()
			equal(t, "workers", p.Stats().Workers, 0)
			equal(t, "tasks that have run", finished.Load(), workers)
			// The bubble of this case ends only if there is no goroutine.
		},
	},
	{
		Name:      "StopRunsNothingThatIsQueued",
		Theirs:    []string{"workerpool.TestStop", "workerpool.TestStopReleasesWaitingQueue"},
		Behaviour: "The call that ends a pool at once lets running tasks end, and starts none of those queued.",
		Run: func(t *testing.T) {
			p := newWorkerpool(5)
			release := make(chan struct{})
			var begun, finished atomic.Int64
			for range 20 {
				ok(t, p.Submit(func() { begun.Add(1); <-release; finished.Add(1) }))
			}
			synctest.Wait()
			equal(t, "tasks handed back", stop(t, p), 15)
			close(release)
			p.Close()
			equal(t, "tasks begun", begun.Load(), 5)
			equal(t, "tasks that have run", finished.Load(), 5)
		},
	},
	{
		Name:      "StopWaitsForRunningTasks",
		Theirs:    []string{"workerpool.TestStop", "workerpool.TestStopReleasesWaitingQueue"},
		Behaviour: "Stop does not return before the tasks that run have ended.",
		Different: "Shutdown waits for as long as its context lasts, and with one that is done not at all; a caller that wants to wait for the rest calls Close after it.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			release := block(t, p, 10)
			begun := time.Now()
			equal(t, "tasks handed back", stop(t, p), 9)
			equal(t, "time that it took", time.Since(begun), 0)
			equal(t, "tasks that run", p.Stats().Running, 1)
			closed := begin(p.Close)
			synctest.Wait()
			equal(t, "Close has returned", over(closed), false)
			release()
			<-closed
			equal(t, "workers", p.Stats().Workers, 0)
		},
	},
	{
		Name:      "WhatStopLeavesUnrun",
		Theirs:    []string{"workerpool.TestOverflow", "workerpool.TestStopReleasesWaitingQueue"},
		Behaviour: "After Stop the pool still tells the number of tasks that will never run, as the length of the queue, while the tasks are dropped.",
		Different: "Shutdown hands the tasks themselves back, in their order, so that nothing is lost; then they are no longer in the queue, and the pool counts them as handed back.",
		Run: func(t *testing.T) {
			p := newWorkerpool(2)
			release := block(t, p, 2)
			var ran []int
			for i := range 62 {
				ok(t, p.Submit(func() { ran = append(ran, i) }))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			unrun, err := p.Shutdown(ctx)
			isError(t, err, context.DeadlineExceeded)
			equal(t, "tasks in the queue", p.Stats().Queued, 0)
			equal(t, "tasks handed back", p.Stats().HandedBack, 62)
			release()
			p.Close()
			equal(t, "tasks that ran", len(ran), 0)
			for _, task := range unrun {
				task()
			}
			equal(t, "tasks that were run by hand", len(ran), 62)
			for i, task := range ran {
				equal(t, "task", task, i)
			}
		},
	},
	{
		Name:      "TheQueueIsGivenBack",
		Theirs:    []string{"workerpool.TestStopReleasesWaitingQueue"},
		Behaviour: "A pool that has ended, in either way, keeps no memory for a queue that was long.",
		Run: func(t *testing.T) {
			const tasks = 50_000
			for _, stopped := range []bool{false, true} {
				p := newWorkerpool(1)
				release := block(t, p, 1)
				before := heap()
				for range tasks {
					ok(t, p.Submit(func() {}))
				}
				if queue := heap() - before; queue < 8*tasks {
					t.Errorf("a queue of %d tasks takes only %d bytes", tasks, queue)
				}
				if stopped {
					equal(t, "tasks handed back", stop(t, p), tasks)
				}
				release()
				p.Close()
				if kept := heap() - before; kept > 2*tasks {
					t.Errorf("%d bytes are kept for a queue of %d tasks", kept, tasks)
				}
				runtime.KeepAlive(p)
			}
		},
	},
	{
		Name:      "AskingWhetherItIsStopped",
		Theirs:    []string{"workerpool.TestStop", "workerpool.TestStopWait"},
		Behaviour: "A pool tells whether it was stopped.",
		Different: "There is no such question, whose answer could be out of date before it is used: each call that hands over a task says whether the pool was closed.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			ok(t, p.TrySubmit(func() {}))
			p.Close()
			isError(t, p.TrySubmit(func() {}), weir.ErrClosed)
		},
	},
	{
		Name:      "ManyCloseAtOnce",
		Theirs:    []string{"workerpool.TestStopRace"},
		Behaviour: "Many may end a pool at once: none of the calls returns before the running tasks have ended, and all do then.",
		Run: func(t *testing.T) {
			p := newWorkerpool(20)
			release := block(t, p, 20)
			var closed []<-chan struct{}
			for range 5 {
				closed = append(closed, begin(p.Close))
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			for _, done := range closed {
				equal(t, "Close has returned", over(done), false)
			}
			release()
			for _, done := range closed {
				<-done
			}
		},
	},
	{
		Name:      "SubmittingDuringTheEnd",
		Theirs:    []string{"workerpool.TestDoConcurrentStop"},
		Behaviour: "A task submitted while the pool ends is either accepted or refused with the error that says so, and the call does not hang; what is accepted runs.",
		Run: func(t *testing.T) {
			for round := range 100 {
				p := newWorkerpool(2)
				var accepted, ran atomic.Int64
				submits := begin(func() {
					for {
						err := p.Submit(func() { ran.Add(1) })
						if errors.Is(err, weir.ErrClosed) {
							return
						}
						ok(t, err)
						accepted.Add(1)
					}
				})
				for accepted.Load() < int64(round) {
					runtime.Gosched()
				}
				p.Close()
				<-submits
				equal(t, "tasks that ran of those accepted", ran.Load(), accepted.Load())
			}
		},
	},
}

// heap returns how much memory is in use, after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // for what the first one had to keep, as pools of objects do
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
