package peers_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

var workerpoolPeer = peers.Peer{
	Name:   "workerpool",
	Module: "github.com/gammazero/workerpool",
	Cases:  workerpoolAgrees.and(workerpoolOwn, workerpoolPausing),
}

// workerpoolOwn are the cases that no test of the library shows as a whole, and those that differ.
var workerpoolOwn = []peers.Case{
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
		Name:      "IdleWorkersEndOneByOne",
		Theirs:    []string{"workerpool.TestWorkerTimeout"},
		Behaviour: "In each period in which the pool is idle one worker ends.",
		Different: "Every worker that has been idle for the whole period ends, so that after a burst the memory is given back at once and not over as many periods as there were workers.",
		Run: func(t *testing.T) {
			const workers = 20
			p := newWorkerpool(workers, weir.IdleTimeout(time.Second))
			block(t, p, workers)()
			synctest.Wait()
			equal(t, "idle workers", p.Stats().Idle, workers)
			time.Sleep(time.Second)
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
		Name:      "TheQueueIsCountedAtAnyTime",
		Theirs:    []string{"workerpool.TestWaitingQueueSizeRace"},
		Behaviour: "The length of the queue may be asked for by many while they submit; it counts what waits for a worker, and not what has started.",
		Run: func(t *testing.T) {
			const workers, submitters, each = 5, 10, 20
			p := newWorkerpool(workers)
			release := block(t, p, workers) // these are not in the queue
			var submitting sync.WaitGroup
			for range submitters {
				submitting.Go(func() {
					for own := range each {
						ok(t, p.Submit(func() {}))
						if queued := p.Stats().Queued; queued <= own || queued > submitters*each {
							t.Errorf("%d tasks are queued, %d of them by one of %d submitters", queued, own+1, submitters)
						}
					}
				})
			}
			submitting.Wait()
			equal(t, "tasks in the queue", p.Stats().Queued, submitters*each)
			release()
			p.Close()
			equal(t, "tasks in the queue at the end", p.Stats().Queued, 0)
		},
	},
	{
		Name:      "ANilTask",
		Theirs:    []string{"workerpool.TestSubmitWait", "workerpool.TestDoWait"},
		Behaviour: "A nil task is ignored by all calls that take a task.",
		Different: "A nil task panics where it is given: it is a mistake, and no caller would learn of a task that is left out.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			for name, call := range map[string]func(){
				"Submit":        func() { _ = p.Submit(nil) },
				"TrySubmit":     func() { _ = p.TrySubmit(nil) },
				"SubmitContext": func() { _ = p.SubmitContext(t.Context(), nil) },
				"Do":            func() { _ = p.Do(t.Context(), nil) },
				"Group.Go":      func() { p.Group(t.Context()).Go(nil) },
			} {
				if caught(call) == nil {
					t.Errorf("%s takes a nil task", name)
				}
			}
			p.Close()
			equal(t, "tasks", p.Stats().Accepted, 0)
		},
	},
	{
		Name:      "WaitingWhileThePoolIsClosed",
		Theirs:    []string{"workerpool.TestDoWaitStop", "workerpool.TestSubmitWaitStop"},
		Behaviour: "A task that a caller waits for, and that is queued when the pool must run what it has and end, does run.",
		Run: func(t *testing.T) {
			for _, call := range waitingCalls {
				p := newWorkerpool(1)
				release := block(t, p, 1)
				ran := false
				waits := begin(func() { ok(t, call(t.Context(), p, func() { ran = true })) })
				synctest.Wait()
				closes := begin(p.Close)
				synctest.Wait()
				equal(t, "ran before a worker was free", ran, false)
				release()
				<-waits
				<-closes
				equal(t, "ran", ran, true)
			}
		},
	},
	{
		Name:      "NoErrorToReturn",
		Theirs:    []string{"workerpool.TestPanicDo", "workerpool.TestSubmitWaitStop"},
		Behaviour: "Submit and SubmitWait, which return nothing, panic when the pool has ended.",
		Different: "That a pool is closed can happen at run time, so every call that hands a task over has an error for it, or a group whose Wait returns it; none panics.",
		Run: func(t *testing.T) {
			p := newWorkerpool(1)
			p.Close()
			equal(t, "panic", caught(func() {
				isError(t, p.Submit(func() {}), weir.ErrClosed)
				g := p.Group(t.Context())
				g.Go(succeedTask)
				isError(t, g.Wait(), weir.ErrClosed)
			}), nil)
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
			equal(t, "tasks handed back", len(stop(t, p)), 9)
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
			unrun := stop(t, p)
			equal(t, "tasks in the queue", p.Stats().Queued, 0)
			equal(t, "tasks handed back", p.Stats().HandedBack, 62)
			release()
			p.Close()
			equal(t, "tasks that ran", len(ran), 0)
			for _, task := range unrun {
				task()
			}
			equal(t, "tasks that were run by hand", len(ran), 62)
			equal(t, "in their order", slices.IsSorted(ran), true)
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
					equal(t, "tasks handed back", len(stop(t, p)), tasks)
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

// waitingCalls are the ways to run a task on a pool and to wait for it.
var waitingCalls = map[string]func(ctx context.Context, p *weir.Pool, task func()) error{
	"a group": func(ctx context.Context, p *weir.Pool, task func()) error {
		g := p.Group(ctx)
		g.Go(func(context.Context) error { task(); return nil })
		return g.Wait()
	},
	"a future": func(ctx context.Context, p *weir.Pool, task func()) error {
		_, err := weir.Async(ctx, p, func(context.Context) (struct{}, error) { task(); return struct{}{}, nil }).Get(ctx)
		return err
	},
	"Do": func(ctx context.Context, p *weir.Pool, task func()) error {
		return p.Do(ctx, func(context.Context) error { task(); return nil })
	},
}

// stop ends a pool without what it has queued, as workerpool's Stop does, and returns that. It does
// not wait for what runs.
func stop(t *testing.T, p *weir.Pool) (unrun []func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unrun, err := p.Shutdown(ctx)
	isError(t, err, context.Canceled)
	return unrun
}

// heap returns how much memory is in use, after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // for what the first one had to keep, as pools of objects do
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
