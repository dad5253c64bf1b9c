package peers_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsDefaultCases are about the pool that is there for the whole program.
var antsDefaultCases = []peers.Case{
	{
		Name:      "ThereIsAPoolForTheWholeProgram",
		Theirs:    []string{"ants.TestAntsPool", "ants.ExamplePool"},
		Behaviour: "Tasks can be given to a pool that the program has not made, and it tells its limit and its workers.",
		Outside:   true,
		Run: antsOnDefault(func(t *testing.T) {
			const tasks = 1000
			var done sync.WaitGroup
			var sum atomic.Int64
			done.Add(tasks)
			for i := range tasks {
				ok(t, weir.Default().Submit(func() {
					defer done.Done()
					sum.Add(int64(i))
				}))
			}
			done.Wait()
			synctest.Wait()
			stats := weir.Default().Stats()
			equal(t, "sum", sum.Load(), 499_500)
			equal(t, "tasks that ran", stats.Finished, tasks)
			equal(t, "limit", stats.Limit, 10_000)
			equal(t, "idle workers among all", stats.Idle, stats.Workers)
		}),
	},
	{
		Name: "NobodyCanCloseThePoolOfTheProgram",
		Theirs: []string{
			"ants.TestRebootDefaultPool",
			"ants.TestDefaultPoolReleaseTimeout",
			"ants.TestDefaultPoolReleaseContext",
		},
		Behaviour: "The pool of the whole program can be ended, with a wait for its tasks, and opened again; opening it while it is open does nothing.",
		Different: "Ending it panics, since no part of a program can know that no other uses it; code that must know that all tasks are done can wait for them.",
		Outside:   true,
		Run: antsOnDefault(func(t *testing.T) {
			p := weir.Default()
			var ran atomic.Int64
			gate := make(chan struct{})
			for range 5 {
				ok(t, p.Submit(func() {
					<-gate
					ran.Add(1)
				}))
			}
			shared := "weir: the default pool is shared and cannot be closed"
			equal[any](t, "panic", caught(p.Close), shared)
			equal[any](t, "panic", caught(func() {
				_, err := p.Shutdown(t.Context())
				ok(t, err)
			}), shared)
			ok(t, p.Submit(func() { ran.Add(1) }))
			close(gate)
			ok(t, p.WaitContext(t.Context()))
			equal(t, "tasks that ran", ran.Load(), 6)
		}),
	},
}

// antsOnDefault is a case that uses the default pool. It runs in a process of its own, since the workers of
// that pool outlive the test, and there in a bubble, where they do not.
func antsOnDefault(test func(t *testing.T)) func(t *testing.T) {
	const began = "the child has run the case"
	return func(t *testing.T) {
		if inChild() {
			synctest.Test(t, func(t *testing.T) {
				test(t)
				time.Sleep(time.Hour) // until the workers have ended
			})
			fmt.Println(began)
			return
		}
		output, err := child(t)
		if err != nil || !strings.Contains(output, began) {
			t.Errorf("in a process of its own: %v\n%s", err, output)
		}
	}
}
