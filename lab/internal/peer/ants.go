package peer

import (
	"runtime"
	"time"

	"github.com/panjf2000/ants/v2"
)

// antsPeers use ants' default options. A pool of ants has no queue, and cannot be used after a wait. So a
// WaitGroup waits for the tasks, and Submit blocks while all workers are busy.
func antsPeers() []Peer {
	return []Peer{
		{
			Name: "ants", About: "NewPool, Submit, a WaitGroup",
			Open: func(limit int, task func()) Runner { return openAnts(newAnts(limit), task) },
			New:  func(limit int) func() { return newAnts(limit).Release },
		},
		{
			Name: "ants.func", About: "NewPoolWithFunc, Invoke with an any, a WaitGroup",
			// An argument that needs no allocation. It must not be nil: ants ends a worker by nil.
			Open: func(limit int, task func()) Runner {
				return openAntsFunc(limit, task, ants.NewPoolWithFunc, func(int) any { return struct{}{} })
			},
			New: func(limit int) func() {
				pool, err := ants.NewPoolWithFunc(limit, func(any) {})
				must(err)
				return pool.Release
			},
		},
		{
			Name:  "ants.generic",
			About: "NewPoolWithFuncGeneric, Invoke with an int, a WaitGroup",
			Open: func(limit int, task func()) Runner {
				return openAntsFunc(limit, task, ants.NewPoolWithFuncGeneric, func(i int) int { return i })
			},
			New: func(limit int) func() {
				pool, err := ants.NewPoolWithFuncGeneric(limit, func(int) {})
				must(err)
				return pool.Release
			},
		},
		{
			Name:  "ants.multi",
			About: "NewMultiPool of about one pool for each processor, RoundRobin, Submit, a WaitGroup",
			Open:  func(limit int, task func()) Runner { return openAnts(newAntsMulti(limit), task) },
			New:   func(limit int) func() { return antsEnd(newAntsMulti(limit)) }, // there is no Release
		},
	}
}

// antsEnd waits until the goroutines of the pool are gone, which ants' Release does not. Only a hang would
// reach the timeout.
func antsEnd(pool interface{ ReleaseTimeout(time.Duration) error }) func() {
	return func() { must(pool.ReleaseTimeout(time.Minute)) }
}

func newAnts(limit int) *ants.Pool {
	pool, err := ants.NewPool(limit)
	must(err)
	return pool
}

// newAntsMulti divides the limit equally among as many pools as there are processors. If the division leaves
// a remainder, it makes fewer pools, so that the limits add up.
//
// ants' own benchmarks use RoundRobin. LeastTasks compares the numbers of workers, including idle ones. So
// once all pools have their workers, it sends every task to the first pool, and the others are idle.
func newAntsMulti(limit int) *ants.MultiPool {
	pools := min(runtime.GOMAXPROCS(0), limit)
	for limit%pools != 0 {
		pools--
	}
	pool, err := ants.NewMultiPool(pools, limit/pools, ants.RoundRobin)
	must(err)
	return pool
}

func openAnts(pool interface {
	Submit(task func()) error
	ReleaseTimeout(timeout time.Duration) error
}, task func()) Runner {
	task, live := counted(task)
	return runner{live: live, submit: func(lo, hi int) {
		for range hi - lo {
			must(pool.Submit(task))
		}
	}, close: antsEnd(pool)}
}

// openAntsFunc opens a pool of one function. argument returns what the task with an index gets.
func openAntsFunc[A any, P interface {
	Invoke(argument A) error
	ReleaseTimeout(timeout time.Duration) error
}](limit int, task func(), open func(limit int, run func(A), options ...ants.Option) (P, error), argument func(i int) A) Runner {
	task, live := counted(task)
	pool, err := open(limit, func(A) { task() })
	must(err)
	return runner{live: live, submit: func(lo, hi int) {
		for i := lo; i < hi; i++ {
			must(pool.Invoke(argument(i)))
		}
	}, close: antsEnd(pool)}
}
