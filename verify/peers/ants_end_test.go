package peers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsEndCases are about the end of a pool, and what may come after it.
var antsEndCases = []peers.Case{
	{
		Name:      "ATaskThatIsNilIsAMistakeAlsoWhenClosed",
		Theirs:    ants("TestRebootNewPool", "TestRebootDefaultPool", "TestMultiPool"),
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
		Name:      "ADoneContextEndsAPoolWithoutWaiting",
		Theirs:    ants("TestReleaseContextWithNil"),
		Behaviour: "Nil in place of a context ends the pool without waiting for its tasks, and without an error.",
		Different: "Nil panics, since a context that was forgotten would look the same; one that is done says it, and the error tells that tasks still ran.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10)
			release := antsOccupy(t, p, 5)
			equal[any](t, "panic", caught(func() {
				_, err := p.Shutdown(nil) //nolint:staticcheck // the mistake is what is tested
				ok(t, err)
			}), "weir: context must not be nil, got nil")
			ok(t, p.tryGive(func() {})) // the mistake has closed nothing
			synctest.Wait()

			done, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := p.Shutdown(done)
			isError(t, err, context.Canceled)
			isError(t, p.give(func() {}), weir.ErrClosed)
			equal(t, "tasks that run on", p.Stats().Running, 5)
			release()
			equal(t, "tasks that ran to their end", p.Stats().Finished, 6)
		}),
	},
	{
		Name:      "APoolMayBeEndedAgain",
		Theirs:    ants("TestMultiPool*", "TestMultiPool*ReleaseContext"),
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
		Name:      "WhetherAPoolIsClosedIsSaidByTheRefusal",
		Theirs:    ants("TestReleaseContextWithNil", "TestMultiPool*", "TestMultiPool*ReleaseContext"),
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
	{
		Name:      "ResizingAClosedPoolDoesNoHarm",
		Theirs:    ants("TestMultiPool*"),
		Behaviour: "The limit may be set when the pool has been closed, and that starts nothing.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(2)
			antsOccupy(t, p, 2)()
			p.Close()
			p.Resize(10)
			synctest.Wait()
			equal(t, "workers", p.Stats().Workers, 0)
			isError(t, p.give(func() { t.Error("a refused task ran") }), weir.ErrClosed)
		}),
	},
	{
		Name: "AClosedPoolStaysClosedAndTheNextCostsNothing",
		Theirs: ants("TestRebootNewPool", "TestRebootNewPoolCalc", "TestRebootNewPoolWithPreAllocCalc",
			"TestMultiPool*", "TestMultiPoolReleaseContext"),
		Behaviour: "A pool that has ended can be opened again, and then works as before.",
		Different: "It stays closed, so that ErrClosed is a final answer to all callers that share it; another pool starts nothing before its first task, and gets the same work done.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(10)
			for range 2 {
				antsOccupy(t, p, 10)()
				p.Close()
				equal(t, "tasks that ran", p.Stats().Finished, 10)
				isError(t, p.give(func() { t.Error("a refused task ran") }), weir.ErrClosed)
				p = made(10)
				synctest.Wait()
				equal(t, "workers of the next pool", p.Stats().Workers, 0)
			}
		}),
	},
	{
		Name:      "ThePoolOfTheProgramCannotBeEnded",
		Theirs:    ants("TestRebootDefaultPool", "TestDefaultPoolReleaseTimeout", "TestDefaultPoolReleaseContext"),
		Behaviour: "The pool of the whole program can be ended, with a wait for its tasks, and opened again; opening it while it is open does nothing.",
		Different: "Ending it panics, since no part of a program can know that no other uses it; code that must know that all tasks are done can wait for them.",
		Run: func(t *testing.T) {
			p := weir.Default()
			release := antsOccupy(t, antsSubmits{p}, 5)
			shared := "weir: the default pool is shared and cannot be closed"
			equal[any](t, "panic", caught(p.Close), shared)
			equal[any](t, "panic", caught(func() {
				_, err := p.Shutdown(t.Context())
				ok(t, err)
			}), shared)
			equal(t, "tasks that run on", p.Stats().Running, 5)
			ran := false
			ok(t, p.Submit(func() { ran = true }))
			release()
			ok(t, p.WaitContext(t.Context()))
			equal(t, "a task that came later ran", ran, true)
			time.Sleep(time.Hour) // until its workers have ended
		},
	},
}
