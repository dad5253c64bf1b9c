package peers_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/peers"
)

var workerpoolPeer = peers.Peer{
	Name:   "workerpool",
	Module: "github.com/gammazero/workerpool",
	Cases:  slices.Concat(workerpoolAgrees.cases(), workerpoolDiffers.cases(), workerpoolOwn),
}

// workerpoolOwn are the cases that no test of the library shows as a whole.
var workerpoolOwn = []peers.Case{
	{
		Name:      "WorkersNeverTimeOut",
		Theirs:    names{"workerpool.TestWorkerNoTimeout"},
		Behaviour: "With a negative period idle workers never end.",
		Different: "A negative period panics, as every negative length does; the longest duration there is, some 292 years, stands for never.",
		Ours:      names{"weir.TestPromise13MisusePanicsAtTheCall/IdleTimeout -1"},
		Run:       keepsWorkers(weir.IdleTimeout(math.MaxInt64)),
	},
	{
		Name:      "TheQueueIsCountedAtAnyTime",
		Theirs:    names{"workerpool.TestWaitingQueueSizeRace"},
		Behaviour: "The length of the queue may be asked for by many while they submit; it counts what waits for a worker, and not what has started.",
		Run: func(t *testing.T) {
			const workers, submitters, each = 5, 10, 20
			p := endless(workers)
			v := hold(t, p.Submit, workers) // these are not in the queue
			var submitting sync.WaitGroup
			for range submitters {
				submitting.Go(func() {
					for own := range each {
						check.OK(t, p.Submit(func() {}))
						if queued := p.Stats().Queued; queued <= own || queued > submitters*each {
							t.Errorf("%d tasks are queued, %d of them by one of %d submitters", queued, own+1, submitters)
						}
					}
				})
			}
			submitting.Wait()
			check.Equal(t, "tasks in the queue", p.Stats().Queued, submitters*each)
			v.Open()
			p.Close()
			check.Equal(t, "tasks in the queue at the end", p.Stats().Queued, 0)
		},
	},
	{
		Name:      "WaitingWhileThePoolIsClosed",
		Theirs:    names{"workerpool.TestDoWaitStop", "workerpool.TestSubmitWaitStop"},
		Behaviour: "A task that a caller waits for, and that is queued when the pool must run what it has and end, does run.",
		Run: func(t *testing.T) {
			p := endless(1)
			v := hold(t, p.Submit, 1)
			ran := 0
			task := func(context.Context) error { ran++; return nil }
			var calls sync.WaitGroup
			calls.Go(func() { check.OK(t, p.Do(t.Context(), task)) })
			calls.Go(func() {
				g := p.Group(t.Context())
				g.Go(task)
				check.OK(t, g.Wait())
			})
			calls.Go(func() {
				_, err := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) { return 0, task(ctx) }).Get(t.Context())
				check.OK(t, err)
			})
			synctest.Wait()
			calls.Go(p.Close)
			synctest.Wait()
			check.Equal(t, "tasks that ran before a worker was free", ran, 0)
			v.Open()
			calls.Wait()
			check.Equal(t, "tasks that ran", ran, 3)
		},
	},
	{
		Name:      "TheQueueIsGivenBack",
		Theirs:    names{"workerpool.TestStopReleasesWaitingQueue"},
		Behaviour: "A pool that has ended, in either way, keeps no memory for a queue that was long.",
		Ours:      names{"weir.TestAnUnboundedQueueGivesMemoryBack"},
		Run: func(t *testing.T) {
			const tasks = 50_000
			p := endless(1)
			v := hold(t, p.Submit, 1)
			before := heap()
			for range tasks {
				check.OK(t, p.Submit(func() {}))
			}
			if queue := heap() - before; queue < 8*tasks {
				t.Errorf("a queue of %d tasks takes only %d bytes", tasks, queue)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			unrun, _ := p.Shutdown(ctx)
			check.Equal(t, "tasks handed back", len(unrun), tasks)
			v.Open()
			p.Close()
			if kept := heap() - before; kept > 2*tasks {
				t.Errorf("%d bytes are kept for a queue of %d tasks", kept, tasks)
			}
			runtime.KeepAlive(p)
		},
	},
	{
		Name:      "PausesAtOnce",
		Theirs:    names{"workerpool.TestPause"},
		Behaviour: "Pauses by several goroutines at once do not block each other for ever, and the pool goes on when they are over.",
		Run: func(t *testing.T) {
			p := endless(25)
			var pausing sync.WaitGroup
			for range 4 {
				pausing.Go(func() {
					for range 100 {
						p.Pause()
						p.Resume()
					}
				})
			}
			pausing.Wait()
			check.OK(t, p.Submit(func() {}))
			p.Wait()
			p.Close()
		},
	},
	{
		Name:      "ResumedWithoutAPause",
		Theirs:    names{"pacer.TestResumeWhenNotPaused"},
		Behaviour: "Resume without Pause changes nothing and does not block, nor does one too many.",
		Run: func(t *testing.T) {
			p := endless(1)
			p.Resume()
			hold(t, p.Submit, 1).Open()
			p.Wait()
			p.Pause()
			v := hold(t, p.Submit, 1)
			check.Equal(t, "tasks in the queue while paused", p.Stats().Queued, 1)
			p.Resume()
			p.Resume()
			v.Open()
			p.Wait()
			p.Close()
		},
	},
	{
		Name:      "TasksAreStartedOneInAPeriod",
		Theirs:    names{"pacer.TestPacedWorkers"},
		Behaviour: "A function can be wrapped so that its calls begin no sooner than a given time after one another, whatever pool runs them; several such paces hold side by side.",
		Different: "How many tasks run at once is what Weir limits, not how many start in a second: the submitter can wait for a ticker, which costs no worker, where a paced task occupies one while it waits.",
		Run: func(t *testing.T) {
			p := endless(5)
			var submitters sync.WaitGroup
			for _, period := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond} {
				submitters.Go(func() {
					ticks := time.NewTicker(period)
					defer ticks.Stop()
					begun := time.Now()
					for i := range 10 {
						<-ticks.C
						check.OK(t, p.Submit(func() {
							check.Equal(t, "time of the start", time.Since(begun), time.Duration(i+1)*period)
						}))
					}
				})
			}
			submitters.Wait()
			p.Close()
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
