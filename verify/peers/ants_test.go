package peers_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// antsCases show what no test of the library shows as a whole.
var antsCases = cases{
	"AFastProducerKeepsAllWorkersBusy": antsBoth(func(t *testing.T, made antsMade) {
		const tasks, workers = 1000, 10
		for _, opts := range [][]weir.Option{{weir.Queue(0)}, {weir.Queue(0), weir.Prestart(workers)}, {weir.Queue(weir.Unbounded)}} {
			p := made(workers, opts...)
			var sum atomic.Int64
			var inside check.Gauge
			start := time.Now()
			for i := range tasks {
				check.OK(t, p.give(func() { nap(&inside); sum.Add(int64(i)) }))
			}
			p.Close()
			check.Equal(t, "sum", sum.Load(), 499_500)
			check.Equal(t, "tasks that ran at once", inside.Peak.Load(), workers)
			check.Equal(t, "time", time.Since(start), tasks/workers*time.Millisecond)
		}
	}),
	"AnUnlimitedPoolCanBeGivenALimit": antsBoth(func(t *testing.T, made antsMade) {
		p := made(weir.Unbounded)
		check.Equal(t, "limit", p.Stats().Limit, weir.Unbounded)
		p.Resize(2)
		check.Equal(t, "limit", p.Stats().Limit, 2)
		v := hold(t, p.give, 10)
		check.Equal(t, "tasks that run at once", v.Running(), 2)
		v.Open()
		p.Close()
	}),
	"OnlyWhatExceedsTheLimitCannotBeMadeBeforehand": antsBoth(func(t *testing.T, made antsMade) {
		p := made(weir.Unbounded, weir.Prestart(3))
		synctest.Wait()
		check.Equal(t, "workers", p.Stats().Workers, 3)
		p.Close()
	}),
	"WorkersCanBeKeptForEver": keepsWorkers(weir.IdleTimeout(math.MaxInt64)),
	"TheLastOfTwoIdleTimesCounts": func(t *testing.T) {
		short, ever := weir.IdleTimeout(100*time.Millisecond), weir.IdleTimeout(math.MaxInt64)
		keepsWorkers(short, ever)(t)
		p := weir.New(2, ever, short)
		hold(t, p.Submit, 2).Open()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		check.Equal(t, "workers left by the short time", p.Stats().Workers, 0)
		p.Close()
	},
	"TheLastWorkerToStopIsTheFirstToGoOn":          newestFirst(),
	"WorkersMadeBeforehandAreReusedInTheSameOrder": newestFirst(weir.Prestart(3)),
	"ATaskThatIsNilIsAMistakeAlsoWhenClosed": func(t *testing.T) {
		p := weir.New(1)
		p.Close()
		check.Panics(t, "weir: task must not be nil, got nil", func() { check.OK(t, p.Submit(nil)) })
	},
	"ResizingAClosedPoolDoesNoHarm": antsBoth(func(t *testing.T, made antsMade) {
		p := made(2)
		hold(t, p.give, 2).Open()
		p.Close()
		p.Resize(10)
		synctest.Wait()
		check.Equal(t, "workers", p.Stats().Workers, 0)
		check.Error(t, p.give(func() { t.Error("a refused task ran") }), weir.ErrClosed)
	}),
	"SeveralPoolsCanBeBalancedByTheirCounts": antsBoth(func(t *testing.T, made antsMade) {
		var pools []antsPool
		for range 10 {
			pools = append(pools, made(5, weir.Queue(0)))
		}
		v := check.NewValve()
		for range 50 {
			fewest := slices.MinFunc(pools, func(p, q antsPool) int { return p.Stats().Running - q.Stats().Running })
			check.OK(t, fewest.give(v.Hold))
			synctest.Wait()
		}
		for i, p := range pools {
			if got := p.Stats(); got.Running != 5 || got.Waiting != 0 {
				t.Errorf("pool %d: %+v, want 5 that run and none that waits", i, got)
			}
		}
		v.Open()
		for _, p := range pools {
			p.Close()
		}
	}),
}

// antsPool is what a Pool and a FuncPool have in common. The tasks of both are functions
// here: for the FuncPool they are the arguments.
type antsPool struct {
	antsControls
	give func(task func()) error
}

type antsControls interface {
	Close()
	Resize(limit int)
	Stats() weir.Stats
}

// antsMade is New or NewFunc.
type antsMade func(limit int, opts ...weir.Option) antsPool

// antsBoth is a case that holds for both kinds of pool.
func antsBoth(test func(t *testing.T, made antsMade)) func(t *testing.T) {
	return func(t *testing.T) {
		t.Log("with a Pool")
		test(t, func(limit int, opts ...weir.Option) antsPool {
			p := weir.New(limit, opts...)
			return antsPool{p, p.Submit}
		})
		t.Log("with a FuncPool")
		test(t, func(limit int, opts ...weir.Option) antsPool {
			p := weir.NewFunc(limit, func(task func()) { task() }, opts...)
			return antsPool{p, p.Invoke}
		})
	}
}

// keepsWorkers is a case with idle workers that are there after a thousand hours without a task.
func keepsWorkers(opts ...weir.Option) func(t *testing.T) {
	return antsBoth(func(t *testing.T, made antsMade) {
		p := made(10, opts...)
		hold(t, p.give, 10).Open()
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		check.Equal(t, "idle workers", p.Stats().Idle, 10)
		p.Close()
		check.Equal(t, "workers after the end", p.Stats().Workers, 0)
	})
}

// newestFirst is a case with three workers, which come to rest one after the other.
func newestFirst(opts ...weir.Option) func(t *testing.T) {
	return func(t *testing.T) {
		var mu sync.Mutex
		noteIn := func(list *[]int32) func(worker int32) {
			return func(worker int32) {
				mu.Lock()
				defer mu.Unlock()
				*list = append(*list, worker)
			}
		}
		var opened atomic.Int32
		var rested, used, ended []int32
		p := weir.NewStateful(3, func() (int32, error) { return opened.Add(1), nil },
			func(worker int32, task func(int32)) { task(worker) }, noteIn(&ended), opts...)
		v := check.NewValve()
		for range 3 {
			check.OK(t, p.Invoke(func(worker int32) { v.Hold(); noteIn(&rested)(worker) }))
		}
		synctest.Wait()
		for range 3 {
			v.LetOne()
			time.Sleep(time.Millisecond)
		}
		for range 3 {
			check.OK(t, p.Invoke(noteIn(&used)))
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		check.Equal(t, "workers that were used again", fmt.Sprint(used), fmt.Sprint(slices.Repeat(rested[2:], 3)))
		check.Equal(t, "workers in the order of their ends", fmt.Sprint(ended), fmt.Sprint(rested))
		p.Close()
	}
}
