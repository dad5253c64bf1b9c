package peers_test

import (
	"context"
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
		Name:      "IdleWorkersEnd",
		Theirs:    []string{"ants.TestPurgePool", "ants.TestPurgePreMallocPool"},
		Behaviour: "A pool has as many workers as tasks that run, and none when all of them have been idle for the idle time.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			for _, opts := range [][]weir.Option{{}, {weir.Prestart(500)}} {
				p := made(500, append(opts, weir.IdleTimeout(time.Second))...)
				gate := make(chan struct{})
				for i := range 500 {
					ok(t, p.give(func() {
						<-gate
						time.Sleep(time.Duration(i%100) * time.Millisecond)
					}))
				}
				synctest.Wait()
				equal(t, "workers with all tasks running", p.Stats().Workers, 500)
				close(gate)
				time.Sleep(99*time.Millisecond + time.Second)
				synctest.Wait()
				equal(t, "workers left", p.Stats().Workers, 0)
				equal(t, "tasks that ran", p.Stats().Finished, 500)
				p.Close()
			}
		}),
	},
	{
		Name: "APoolWhoseWorkersHaveEndedTakesTasks",
		Theirs: []string{
			"ants.TestAntsPoolGetWorkerFromCache",
			"ants.TestAntsPoolWithFuncGetWorkerFromCache",
			"ants.TestAntsPoolWithFuncGenericGetWorkerFromCache",
			"ants.TestAntsPoolWithFuncGetWorkerFromCachePreMalloc",
			"ants.TestAntsPoolWithFuncGenericGetWorkerFromCachePreMalloc",
		},
		Behaviour: "When all its workers have ended from idleness, the pool starts new ones for new tasks.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			for _, opts := range [][]weir.Option{{}, {weir.Prestart(100)}} {
				p := made(100, append(opts, weir.IdleTimeout(time.Second))...)
				antsOccupy(t, p, 100)()
				time.Sleep(2 * time.Second)
				equal(t, "workers left", p.Stats().Workers, 0)
				antsOccupy(t, p, 3)()
				equal(t, "tasks that ran", p.Stats().Finished, 103)
				p.Close()
			}
		}),
	},
	{
		Name: "WorkersCanBeKeptForEver",
		Theirs: []string{
			"ants.TestWithDisablePurgePool",
			"ants.TestWithDisablePurgePoolFunc",
		},
		Behaviour: "Idle workers can be kept for as long as the pool lives; the end of the pool still ends them.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			antsKeeps(t, made(10, weir.IdleTimeout(math.MaxInt64)), 10)
		}),
	},
	{
		Name: "TheLastOfTwoIdleTimesCounts",
		Theirs: []string{
			"ants.TestWithDisablePurgeAndWithExpirationPool",
			"ants.TestWithDisablePurgeAndWithExpirationPoolFunc",
		},
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
		Name: "OnlyThoseEndThatWereIdleForTheWholeTime",
		Theirs: []string{
			"ants.TestWorkerStack",
			"ants.TestLoopQueue",
			"ants.TestRetrieveExpiry",
			"ants.TestSearch",
			"ants.TestRotatedQueueSearch",
		},
		Behaviour: "Exactly those workers end that have done nothing for the whole idle time; one that worked since then is kept, however often that is repeated.",
		Run: antsBoth(func(t *testing.T, made antsMade) {
			p := made(12, weir.IdleTimeout(time.Second))
			defer p.Close()
			left := func(when string, want int) {
				t.Helper()
				synctest.Wait()
				equal(t, "workers "+when, p.Stats().Workers, want)
			}
			for range 3 {
				releaseOld, releaseYoung := antsOccupy(t, p, 6), antsOccupy(t, p, 6)
				releaseOld()
				time.Sleep(400 * time.Millisecond)
				releaseYoung()
				time.Sleep(300 * time.Millisecond)
				antsOccupy(t, p, 1)() // one of the young, for no time
				time.Sleep(300*time.Millisecond - 1)
				left("before the idle time is over", 12)
				time.Sleep(time.Nanosecond)
				left("when it is over for six", 6)
				time.Sleep(400*time.Millisecond - 1)
				left("before it is over for the others", 6)
				time.Sleep(time.Nanosecond)
				left("when it is over for all but the one that worked", 1)
				time.Sleep(300*time.Millisecond - 1)
				left("before it is over for that one", 1)
				time.Sleep(time.Nanosecond)
				left("at the end", 0)
			}
		}),
	},
	{
		Name:      "TheLastWorkerToStopIsTheFirstToGoOn",
		Theirs:    []string{"ants.TestWorkerStack", "ants.TestRetrieveExpiry"},
		Behaviour: "A task goes to the worker that became idle last, so that the others can end; they do so in the order in which they became idle.",
		Run: func(t *testing.T) {
			p := antsNewTracked(3)
			p.becomeIdle(t, 0, 1, 2)
			for range 3 {
				equal(t, "worker that is used", p.use(t), 2)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if want := []int{0, 1, 2}; !slices.Equal(p.ended, want) {
				t.Errorf("the workers ended in the order %v, want %v", p.ended, want)
			}
			p.Close()
		},
	},
	{
		Name:      "WorkersMadeBeforehandAreReusedInTheSameOrder",
		Theirs:    []string{"ants.TestLoopQueue", "ants.TestRotatedQueueSearch", "ants.TestRetrieveExpiry"},
		Behaviour: "In a pool that makes everything beforehand the workers take turns: a task goes to the one that has been idle for longest.",
		Different: "It goes to the one that became idle last there, too: its stack and caches are warm, and the workers that are not needed can end.",
		Run: func(t *testing.T) {
			p := antsNewTracked(3, weir.Prestart(3))
			p.becomeIdle(t, 0, 1, 2)
			equal(t, "worker that is used", p.use(t), 2)
			p.Close()
		},
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

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := p.Shutdown(ctx)
	ok(t, err)
	equal(t, "workers after the end", p.Stats().Workers, 0)
}

// antsTracked is a pool that tells which worker runs a task, by the value which the worker owns:
// a number for each, in the order in which they first got a task.
type antsTracked struct {
	*weir.Stateful[int, func(worker int)]

	mu    sync.Mutex
	made  int
	ended []int
}

func antsNewTracked(limit int, opts ...weir.Option) *antsTracked {
	var p antsTracked
	p.Stateful = weir.NewStateful(limit, p.open, func(worker int, task func(int)) { task(worker) }, p.end, opts...)
	return &p
}

func (p *antsTracked) open() (worker int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return p.made - 1, nil
}

func (p *antsTracked) end(worker int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, worker)
}

// becomeIdle makes all workers run at once, and then become idle in the given order.
func (p *antsTracked) becomeIdle(t *testing.T, order ...int) {
	t.Helper()
	gates := make([]chan struct{}, len(order))
	for i := range gates {
		gates[i] = make(chan struct{})
		ok(t, p.Invoke(func(worker int) { <-gates[worker] }))
		synctest.Wait()
	}
	for _, worker := range order {
		close(gates[worker])
		time.Sleep(time.Millisecond)
	}
}

// use runs a task, and returns which worker did so.
func (p *antsTracked) use(t *testing.T) int {
	t.Helper()
	used := -1
	ok(t, p.Invoke(func(worker int) { used = worker }))
	p.Wait()
	synctest.Wait()
	return used
}
