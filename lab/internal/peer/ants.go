package peer

import (
	"runtime"
	"sync"
	"time"

	"github.com/panjf2000/ants/v2"
)

const antsModule = "github.com/panjf2000/ants/v2"

// The options are ants' own defaults. Its pools cannot be waited for and used on,
// and have no queue: a WaitGroup waits, and Submit blocks while all workers are
// busy.
func antsPeers() []Peer {
	return []Peer{
		{
			Name: "ants", Module: antsModule, About: "NewPool, Submit, a WaitGroup",
			Open: func(limit int, work Work) Runner { return &antsPool{newAnts(limit), work.counted()} },
			New:  func(limit int) func() { return newAnts(limit).Release },
		},
		{
			Name: "ants.func", Module: antsModule, About: "NewPoolWithFunc, Invoke with an any, a WaitGroup",
			Open: func(limit int, work Work) Runner { return openAntsFunc(limit, work) },
			New: func(limit int) func() {
				pool, err := ants.NewPoolWithFunc(limit, func(any) {})
				must(err)
				return pool.Release
			},
		},
		{
			Name: "ants.generic", Module: antsModule,
			About: "NewPoolWithFuncGeneric, Invoke with an int, a WaitGroup",
			Open:  func(limit int, work Work) Runner { return openAntsGeneric(limit, work) },
			New: func(limit int) func() {
				pool, err := ants.NewPoolWithFuncGeneric(limit, func(int) {})
				must(err)
				return pool.Release
			},
		},
		{
			Name: "ants.multi", Module: antsModule,
			About: "NewMultiPool of about one pool for each processor, RoundRobin, Submit, a WaitGroup",
			Open: func(limit int, work Work) Runner {
				return &antsMulti{newAntsMulti(limit), work.counted()}
			},
			New: func(limit int) func() { return antsEnd(newAntsMulti(limit)) }, // there is no Release
		},
	}
}

// antsEnd waits until the goroutines of the pool are gone, as ants' Release does
// not. The time is what only a hang would reach.
func antsEnd(pool interface{ ReleaseTimeout(time.Duration) error }) func() {
	return func() { must(pool.ReleaseTimeout(time.Minute)) }
}

func newAnts(limit int) *ants.Pool {
	pool, err := ants.NewPool(limit)
	must(err)
	return pool
}

type antsPool struct {
	pool *ants.Pool
	*counted
}

func (r *antsPool) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		must(r.pool.Submit(r.task(i)))
	}
}

func (r *antsPool) Close() { antsEnd(r.pool)() }

type antsFunc struct {
	pool *ants.PoolWithFunc
	same bool
	live sync.WaitGroup
}

func openAntsFunc(limit int, work Work) Runner {
	r := &antsFunc{same: work.Same != nil}
	run := func(arg any) {
		work.Each(arg.(int))
		r.live.Done()
	}
	if r.same {
		run = func(any) {
			work.Same()
			r.live.Done()
		}
	}
	pool, err := ants.NewPoolWithFunc(limit, run)
	must(err)
	r.pool = pool
	return r
}

// Submit passes an argument that needs no allocation where none is wanted. It must
// not be nil: ants ends a worker by that.
func (r *antsFunc) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	if r.same {
		for range hi - lo {
			must(r.pool.Invoke(struct{}{}))
		}
		return
	}
	for i := lo; i < hi; i++ {
		must(r.pool.Invoke(i))
	}
}

func (r *antsFunc) Wait()  { r.live.Wait() }
func (r *antsFunc) Close() { antsEnd(r.pool)() }

type antsGeneric struct {
	pool *ants.PoolWithFuncGeneric[int]
	live sync.WaitGroup
}

func openAntsGeneric(limit int, work Work) Runner {
	r := new(antsGeneric)
	run := func(i int) {
		work.Each(i)
		r.live.Done()
	}
	if work.Same != nil {
		run = func(int) {
			work.Same()
			r.live.Done()
		}
	}
	pool, err := ants.NewPoolWithFuncGeneric(limit, run)
	must(err)
	r.pool = pool
	return r
}

func (r *antsGeneric) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		must(r.pool.Invoke(i))
	}
}

func (r *antsGeneric) Wait()  { r.live.Wait() }
func (r *antsGeneric) Close() { antsEnd(r.pool)() }

// newAntsMulti shares the limit out to equal pools, as many as there are processors.
// Where that leaves a rest it takes fewer, so that the limits add up.
//
// RoundRobin is what ants' own benchmarks use. LeastTasks compares the workers that
// exist, idle ones too: once all pools have theirs, it sends every task to the
// first pool, and the others stand idle.
func newAntsMulti(limit int) *ants.MultiPool {
	pools := min(runtime.GOMAXPROCS(0), limit)
	for limit%pools != 0 {
		pools--
	}
	pool, err := ants.NewMultiPool(pools, limit/pools, ants.RoundRobin)
	must(err)
	return pool
}

type antsMulti struct {
	pool *ants.MultiPool
	*counted
}

func (r *antsMulti) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		must(r.pool.Submit(r.task(i)))
	}
}

func (r *antsMulti) Close() { antsEnd(r.pool)() }
