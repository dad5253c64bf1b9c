package peers_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// antsSubmitCases are about handing tasks over.
var antsSubmitCases = []peers.Case{
	{
		Name: "EveryTaskOfAFastProducerRuns",
		Theirs: []string{
			"ants.TestAntsPoolWaitToGetWorker",
			"ants.TestAntsPoolWithFuncWaitToGetWorker",
			"ants.TestAntsPoolWithFuncGenericWaitToGetWorker",
			"ants.ExamplePool",
			"ants.ExamplePoolWithFunc",
			"ants.ExamplePoolWithFuncGeneric",
		},
		Behaviour: "A producer with far more tasks than the pool has workers waits for a free one each time, all workers are used, and every task runs once.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			antsSum(t, made(10, weir.Queue(0)), 10)
		}),
	},
	{
		Name: "WorkersMadeBeforehandDoTheSame",
		Theirs: []string{
			"ants.TestAntsPoolWaitToGetWorkerPreMalloc",
			"ants.TestAntsPoolWithFuncWaitToGetWorkerPreMalloc",
			"ants.TestAntsPoolWithFuncGenericWaitToGetWorkerPreMalloc",
		},
		Behaviour: "A pool that makes everything beforehand runs its tasks like any other.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10, weir.Queue(0), weir.Prestart(10))
			synctest.Wait()
			equal(t, "workers before the first task", p.Stats().Workers, 10)
			antsSum(t, p, 10)
		}),
	},
	{
		Name:      "ANewPoolIsEmpty",
		Theirs:    []string{"ants.TestNewWorkerStack", "ants.TestNewLoopQueue"},
		Behaviour: "A pool that has had no task yet keeps no worker.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(100)
			synctest.Wait()
			equal(t, "counts", p.Stats(), weir.Stats{Limit: 100})
			p.Close()
		}),
	},
	{
		Name: "ANonblockingSubmitIsRefusedWhenFull",
		Theirs: []string{
			"ants.TestNonblockingSubmit",
			"ants.TestNonblockingSubmitWithFunc",
			"ants.TestNonblockingSubmitWithFuncGeneric",
		},
		Behaviour: "A submission that must not wait is accepted while a worker is free, refused with an error of its own when all are busy, and accepted again when one has become free.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10, weir.Queue(0))
			defer p.Close()
			releaseMost := antsOccupy(t, p, 9)
			gate := make(chan struct{})
			ok(t, p.tryGive(func() { <-gate }))
			isError(t, p.tryGive(func() { t.Error("a refused task ran") }), weir.ErrFull)

			close(gate)
			synctest.Wait()
			ran := false
			ok(t, p.tryGive(func() { ran = true }))
			releaseMost()
			equal(t, "the task that was accepted ran", ran, true)
			equal(t, "refusals", p.Stats().Rejected, 1)
		}),
	},
	{
		Name: "OnlySoManyMayWait",
		Theirs: []string{
			"ants.TestMaxBlockingSubmit",
			"ants.TestMaxBlockingSubmitWithFunc",
			"ants.TestMaxBlockingSubmitWithFuncGeneric",
		},
		Behaviour: "When as many submitters wait as may do so, one more is refused at once, and those that wait are served when a worker is free.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10, weir.Queue(0), weir.MaxWaiting(1))
			defer p.Close()
			release := antsOccupy(t, p, 10)
			ran := false
			waits := begin(func() { ok(t, p.give(func() { ran = true })) })
			synctest.Wait()
			equal(t, "the first submitter is let go", over(waits), false)
			equal(t, "submitters that wait", p.Stats().Waiting, 1)
			isError(t, p.give(func() { t.Error("a refused task ran") }), weir.ErrFull)

			release()
			equal(t, "the first submitter is let go", over(waits), true)
			equal(t, "its task ran", ran, true)
		}),
	},
	{
		Name: "TasksMayBeGivenByTasksOfAnUnlimitedPool",
		Theirs: []string{
			"ants.TestInfinitePool",
			"ants.TestInfinitePoolWithFunc",
			"ants.TestInfinitePoolWithFuncGeneric",
		},
		Behaviour: "A pool without a limit runs whatever it is given at once, also what one of its own tasks gives it.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(weir.Unbounded)
			gate := make(chan struct{})
			ok(t, p.give(func() {
				ok(t, p.give(func() { <-gate }))
				<-gate
			}))
			synctest.Wait()
			equal(t, "tasks that run", p.Stats().Running, 2)
			equal(t, "limit", p.Stats().Limit, weir.Unbounded)
			close(gate)
			p.Close()
			equal(t, "tasks that ran", p.Stats().Finished, 2)
		}),
	},
}

// antsSum has p add up the numbers below 1000, each in a task of 10 ms, and closes it. The tasks
// must keep all workers busy.
func antsSum(t *testing.T, p antsPool, workers int) {
	t.Helper()
	const tasks, pause = 1000, 10 * time.Millisecond
	var sum atomic.Int64
	var inside gauge.Gauge
	start := time.Now()
	for i := range tasks {
		ok(t, p.give(func() {
			inside.Enter()
			defer inside.Leave()
			time.Sleep(pause)
			sum.Add(int64(i))
		}))
	}
	p.Wait()
	equal(t, "sum", sum.Load(), 499_500)
	equal(t, "tasks that ran at once", inside.Peak.Load(), int64(workers))
	equal(t, "time", time.Since(start), time.Duration(tasks/workers)*pause)
	p.Close()
}
