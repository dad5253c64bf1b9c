package peers_test

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/face"
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
				check.OK(t, p.Invoke(func() { nap(&inside); sum.Add(int64(i)) }))
			}
			p.Close()
			check.Equal(t, "sum", sum.Load(), 499_500)
			check.Equal(t, "tasks that ran at once", inside.Peak.Load(), workers)
			check.Equal(t, "time", time.Since(start), tasks/workers*time.Millisecond)
		}
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
	"ATaskThatIsNilIsAMistakeAlsoWhenClosed": func(t *testing.T) {
		p := weir.New(1)
		p.Close()
		check.Panics(t, "weir: task must not be nil, got nil", func() { check.OK(t, p.Submit(nil)) })
	},
}

// antsMade makes a Pool or a FuncPool. The tasks of both are functions here: for the FuncPool they are the arguments.
type antsMade func(limit int, opts ...weir.Option) face.Pool[func()]

// antsBoth is a case that holds for both kinds of pool.
func antsBoth(test func(t *testing.T, made antsMade)) func(t *testing.T) {
	run := func(task func()) { task() }
	return func(t *testing.T) {
		t.Log("with a Pool")
		test(t, func(limit int, opts ...weir.Option) face.Pool[func()] { return face.New(limit, run, opts...) })
		t.Log("with a FuncPool")
		test(t, func(limit int, opts ...weir.Option) face.Pool[func()] { return face.NewFunc(limit, run, opts...) })
	}
}

// keepsWorkers is a case with idle workers that are there after a thousand hours without a task.
func keepsWorkers(opts ...weir.Option) func(t *testing.T) {
	return antsBoth(func(t *testing.T, made antsMade) {
		p := made(10, opts...)
		hold(t, p.Invoke, 10).Open()
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		check.Equal(t, "idle workers", p.Stats().Idle, 10)
		p.Close()
		check.Equal(t, "workers after the end", p.Stats().Workers, 0)
	})
}
