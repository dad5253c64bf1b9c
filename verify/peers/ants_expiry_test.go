package peers_test

import (
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// antsExpiryCases are about workers that have nothing to do.
var antsExpiryCases = []peers.Case{
	{
		Name:      "WorkersCanBeKeptForEver",
		Theirs:    ants("TestWithDisablePurgePool", "TestWithDisablePurgePoolFunc"),
		Behaviour: "Idle workers can be kept for as long as the pool lives; the end of the pool still ends them.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			antsKeeps(t, made(10, weir.IdleTimeout(math.MaxInt64)), 10)
		}),
	},
	{
		Name:      "TheLastOfTwoIdleTimesCounts",
		Theirs:    ants("TestWithDisablePurgeAndWithExpirationPool", "TestWithDisablePurgeAndWithExpirationPoolFunc"),
		Behaviour: "If idle workers are to be kept for ever and an idle time is given as well, they are kept.",
		Different: "There is one option for both, and the last one given counts, so that a caller can override what a list of options says.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			short, ever := weir.IdleTimeout(100*time.Millisecond), weir.IdleTimeout(math.MaxInt64)
			antsKeeps(t, made(2, short, ever), 2)

			p := made(2, ever, short)
			antsOccupy(t, p, 2)()
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			equal(t, "workers left by the short time", p.Stats().Workers, 0)
			p.Close()
		}),
	},
	{
		Name:      "TheLastWorkerToStopIsTheFirstToGoOn",
		Theirs:    ants("TestWorkerStack", "TestRetrieveExpiry"),
		Behaviour: "A task goes to the worker that became idle last, so that the others can end; they do so in the order in which they became idle.",
		Run:       antsNewestFirst(),
	},
	{
		Name:      "WorkersMadeBeforehandAreReusedInTheSameOrder",
		Theirs:    ants("TestLoopQueue", "TestRotatedQueueSearch", "TestRetrieveExpiry"),
		Behaviour: "In a pool that makes everything beforehand the workers take turns: a task goes to the one that has been idle for longest.",
		Different: "It goes to the one that became idle last there, too: its stack and caches are warm, and the workers that are not needed can end.",
		Run:       antsNewestFirst(weir.Prestart(3)),
	},
}

// antsKeeps fails the test unless the n workers of p are there after a thousand hours
// without a task. It closes p.
func antsKeeps(t *testing.T, p antsPool, n int) {
	t.Helper()
	release := antsOccupy(t, p, n)
	equal(t, "workers that work", p.Stats().Workers, n)
	release()
	time.Sleep(1000 * time.Hour)
	synctest.Wait()
	equal(t, "workers kept", p.Stats().Workers, n)
	equal(t, "workers that are idle", p.Stats().Idle, n)
	p.Close()
	equal(t, "workers after the end", p.Stats().Workers, 0)
}

// antsNewestFirst is a case with three workers, numbered in the order in which they first get a task.
func antsNewestFirst(opts ...weir.Option) func(t *testing.T) {
	return func(t *testing.T) {
		var mu sync.Mutex
		var opened int
		var ended []int
		open := func() (worker int, err error) {
			mu.Lock()
			defer mu.Unlock()
			opened++
			return opened - 1, nil
		}
		end := func(worker int) {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, worker)
		}
		p := weir.NewStateful(3, open, func(worker int, task func(int)) { task(worker) }, end, opts...)
		gates := [3]chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
		for range gates {
			ok(t, p.Invoke(func(worker int) { <-gates[worker] }))
			synctest.Wait()
		}
		for _, gate := range gates {
			close(gate)
			time.Sleep(time.Millisecond)
		}
		for range 3 {
			used := -1
			ok(t, p.Invoke(func(worker int) { used = worker }))
			p.Wait()
			equal(t, "worker that is used", used, 2)
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []int{0, 1, 2}; !slices.Equal(ended, want) {
			t.Errorf("the workers ended in the order %v, want %v", ended, want)
		}
		p.Close()
	}
}
