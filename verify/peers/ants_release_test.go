package peers_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsReleaseCases are about the end of a pool.
var antsReleaseCases = []peers.Case{
	{
		Name: "TheEndLetsWaitingSubmittersGo",
		Theirs: []string{
			"ants.TestReleaseWhenRunningPool",
			"ants.TestReleaseWhenRunningPoolWithFunc",
			"ants.TestReleaseWhenRunningPoolWithFuncGeneric",
		},
		Behaviour: "Closing a pool while several producers wait for room lets all of them go; tasks that run go on to their end.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(1, weir.Queue(0))
			var accepted, refused, ran atomic.Int64
			var producers sync.WaitGroup
			for range 2 {
				producers.Go(func() {
					for range 30 {
						err := p.give(func() {
							time.Sleep(time.Second)
							ran.Add(1)
						})
						if err == nil {
							accepted.Add(1)
							continue
						}
						isError(t, err, weir.ErrClosed)
						refused.Add(1)
					}
				})
			}
			time.Sleep(2500 * time.Millisecond)
			p.Close()
			equal(t, "tasks that ran", ran.Load(), 3)
			producers.Wait()
			equal(t, "tasks that were accepted", accepted.Load(), 3)
			equal(t, "tasks that were refused", refused.Load(), 57)
			equal(t, "tasks that ran in the end", ran.Load(), 3)
		}),
	},
	{
		Name: "AClosedPoolRefusesTasks",
		Theirs: []string{
			"ants.TestRebootNewPool",
			"ants.TestRestCodeCoverage",
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
		},
		Behaviour: "A task given to a closed pool is refused with an error that says so, also one whose argument is nil.",
		Run: func(t *testing.T) {
			antsBoth(func(t *testing.T, made antsMade) {
				p := made(10)
				antsOccupy(t, p, 1)()
				p.Close()
				never := func() { t.Error("a refused task ran") }
				isError(t, p.give(never), weir.ErrClosed)
				isError(t, p.tryGive(never), weir.ErrClosed)
			})(t)

			p := weir.NewFunc(10, func(any) { t.Error("a refused call was made") })
			p.Close()
			isError(t, p.Invoke(nil), weir.ErrClosed)
		},
	},
	{
		Name:      "ATaskThatIsNilIsAMistakeAlsoWhenClosed",
		Theirs:    []string{"ants.TestRebootNewPool", "ants.TestRebootDefaultPool", "ants.TestMultiPool"},
		Behaviour: "Nil given as a task to a closed pool is answered like every task: the pool is closed.",
		Different: "It panics, as it does before: a call that can never be right must not hide behind the state of the pool.",
		Run: func(t *testing.T) {
			p := weir.New(1)
			mistake := "weir: task must not be nil, got nil"
			equal[any](t, "panic", caught(func() { ok(t, p.Submit(nil)) }), mistake)
			p.Close()
			equal[any](t, "panic", caught(func() { ok(t, p.Submit(nil)) }), mistake)
		},
	},
	{
		Name:      "ShutdownWaitsForRunningTasks",
		Theirs:    []string{"ants.TestReleaseTimeout"},
		Behaviour: "Ending a pool with a time limit waits for the tasks that run, and reports success when they end within it.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10)
			for range 5 {
				ok(t, p.give(func() { time.Sleep(time.Second) }))
			}
			synctest.Wait()
			equal(t, "tasks that run", p.Stats().Running, 5)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			start := time.Now()
			unrun, err := p.Shutdown(ctx)
			ok(t, err)
			equal(t, "tasks handed back", len(unrun), 0)
			equal(t, "time", time.Since(start), time.Second)
			equal(t, "workers", p.Stats().Workers, 0)
		}),
	},
	{
		Name:      "ADoneContextEndsAPoolWithoutWaiting",
		Theirs:    []string{"ants.TestReleaseContextWithNil"},
		Behaviour: "Nil in place of a context ends the pool without waiting for its tasks, and without an error.",
		Different: "Nil panics, since a context that was forgotten would look the same; one that is done says it, and the error tells that tasks still ran.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10)
			for range 5 {
				ok(t, p.give(func() { time.Sleep(time.Second) }))
			}
			synctest.Wait()
			equal[any](t, "panic", caught(func() {
				_, err := p.Shutdown(nil) //nolint:staticcheck // the mistake is what is tested
				ok(t, err)
			}), "weir: context must not be nil, got nil")
			ok(t, p.tryGive(func() {})) // the mistake has closed nothing
			synctest.Wait()

			done, cancel := context.WithCancel(t.Context())
			cancel()
			start := time.Now()
			_, err := p.Shutdown(done)
			isError(t, err, context.Canceled)
			equal(t, "time", time.Since(start), 0)
			isError(t, p.give(func() {}), weir.ErrClosed)
			equal(t, "tasks that run on", p.Stats().Running, 5)
			p.Close()
			equal(t, "time until they have ended", time.Since(start), time.Second)
		}),
	},
	{
		Name: "ACancelledEndReturnsAndTasksRunOn",
		Theirs: []string{
			"ants.TestMultiPoolReleaseContext",
			"ants.TestMultiPoolWithFuncReleaseContext",
			"ants.TestMultiPoolWithFuncGenericReleaseContext",
		},
		Behaviour: "Ending a pool with a context that is cancelled returns an error, and the tasks that run end in their own time.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(50)
			release := antsOccupy(t, p, 50)
			stop := errors.New("no time")
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(stop)
			unrun, err := p.Shutdown(ctx)
			isError(t, err, stop)
			equal(t, "tasks handed back", len(unrun), 0)
			equal(t, "tasks that run on", p.Stats().Running, 50)
			release()
			equal(t, "tasks that ran to their end", p.Stats().Finished, 50)
			equal(t, "workers in the end", p.Stats().Workers, 0)
		}),
	},
	{
		Name: "APoolMayBeEndedAgain",
		Theirs: []string{
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
			"ants.TestMultiPoolReleaseContext",
			"ants.TestMultiPoolWithFuncReleaseContext",
			"ants.TestMultiPoolWithFuncGenericReleaseContext",
		},
		Behaviour: "Ending a pool that has ended is an error.",
		Different: "It may be repeated, and tells the same: code that must know that all tasks are done can ask, even if other code has closed the pool.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(5)
			antsOccupy(t, p, 5)()
			for range 2 {
				unrun, err := p.Shutdown(t.Context())
				ok(t, err)
				equal(t, "tasks handed back", len(unrun), 0)
				p.Close()
			}
			equal(t, "workers", p.Stats().Workers, 0)
		}),
	},
	{
		Name: "WhetherAPoolIsClosedIsSaidByTheRefusal",
		Theirs: []string{
			"ants.TestReleaseContextWithNil",
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
			"ants.TestMultiPoolReleaseContext",
			"ants.TestMultiPoolWithFuncReleaseContext",
			"ants.TestMultiPoolWithFuncGenericReleaseContext",
		},
		Behaviour: "A pool can be asked whether it is closed.",
		Different: "It cannot, since the answer could be wrong when it is used; giving it a task tells, and ErrClosed is never mistaken for a full pool.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(1, weir.Queue(0))
			release := antsOccupy(t, p, 1)
			isError(t, p.tryGive(func() {}), weir.ErrFull)
			closed := begin(p.Close)
			synctest.Wait()
			isError(t, p.tryGive(func() {}), weir.ErrClosed)
			equal(t, "the pool has ended", over(closed), false)
			release()
			equal(t, "the pool has ended", over(closed), true)
			isError(t, p.tryGive(func() {}), weir.ErrClosed)
		}),
	},
}

// antsRebootCases are about a pool that is opened again.
var antsRebootCases = []peers.Case{
	{
		Name: "AClosedPoolStaysClosedAndTheNextCostsNothing",
		Theirs: []string{
			"ants.TestRebootNewPool",
			"ants.TestRebootNewPoolCalc",
			"ants.TestRebootNewPoolWithPreAllocCalc",
			"ants.TestMultiPool",
			"ants.TestMultiPoolWithFunc",
			"ants.TestMultiPoolWithFuncGeneric",
			"ants.TestMultiPoolReleaseContext",
		},
		Behaviour: "A pool that has ended can be opened again, and then works as before.",
		Different: "It stays closed, so that ErrClosed is a final answer to all callers that share it; another pool starts nothing before its first task, and gets the same work done.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			for _, opts := range [][]weir.Option{{}, {weir.Prestart(10)}} {
				p := made(10, opts...)
				antsSum(t, p, 10)
				isError(t, p.give(func() { t.Error("a refused task ran") }), weir.ErrClosed)
				antsSum(t, made(10, opts...), 10)
				isError(t, p.give(func() { t.Error("a refused task ran") }), weir.ErrClosed)
			}
		}),
	},
}
