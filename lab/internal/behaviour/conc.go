package behaviour

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/iter"
	concpool "github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

// concPrograms use the package of conc that fits: pools for tasks, iter for ordered results, stream for
// ordered callbacks. A pool lasts until its Wait.
func concPrograms() programs {
	limited := func(limit int) *concpool.Pool { return concpool.New().WithMaxGoroutines(limit) }
	var open opener = func(limit int) pool {
		p := limited(limit)
		return pool{submit: always(p.Go), wait: silent(p.Wait)}
	}
	var telling opener = func(limit int) pool {
		p := limited(limit).WithErrors()
		return pool{submit: always(func(task func()) { p.Go(func() error { task(); return nil }) }), wait: p.Wait}
	}
	var streamed opener = func(limit int) pool {
		s := stream.New().WithMaxGoroutines(limit)
		submit := func(task func()) { s.Go(func() stream.Callback { task(); return func() {} }) }
		return pool{submit: always(submit), wait: silent(s.Wait)}
	}
	var grouped grouper = func(ctx context.Context, limit int) group {
		p := limited(limit).WithContext(ctx).WithCancelOnError().WithFirstError()
		return group{p.Go, p.Wait}
	}
	return open.programs("01", "04", "05", "09", "23", "24", "reuse", "wait").and(grouped.programs()).and(programs{
		"03": open.with(2, nilTask(func(pool) error {
			p := limited(2)
			p.Go(nil)
			p.Wait()
			return nil
		})),
		"06": func(env Env) error {
			err := telling.with(2, exits(true, "Wait of the pool"))(env)
			return errors.Join(err, streamed.with(2, exits(false, fmt.Sprintf("Wait of a stream, after that of a pool: %v", err)))(env))
		},
		"07": func(Env) error {
			var g conc.WaitGroup // a pool ends with its Wait
			return panics(func(task func()) error { g.Go(task); g.Wait(); return nil })
		},
		"08": grouped.again(", which the documentation does not offer"),
		"10": func(env Env) error {
			// The results of a pool come in no order, as its documentation says. For ordered results, it
			// refers users to this package.
			env.Note("with iter.Mapper; a result pool keeps no order")
			items := make([]int, 10)
			for i := range items {
				items[i] = i
			}
			return inOrder(iter.Mapper[int, int]{MaxGoroutines: 4}.MapErr(items,
				func(item *int) (int, error) { return numbered(*item) }))
		},
		"11": allAtOnce(func(tasks int, task, consume func(i int)) error {
			s := stream.New()
			for i := range tasks {
				s.Go(func() stream.Callback {
					task(i)
					return func() { consume(i) }
				})
			}
			s.Wait()
			return nil
		}),
		"12": manyResults(func(tasks int) ([]int, error) {
			p := concpool.NewWithResults[int]().WithMaxGoroutines(1)
			for i := range tasks {
				p.Go(func() int { return i })
			}
			return p.Wait(), nil
		}),
		"19": bubbles(func(env Env, part func(string)) error {
			part("a pool")
			if err := open.with(2, inBubble)(env); err != nil {
				return err
			}
			part("a stream")
			return streamed.with(2, inBubble)(env)
		}),
		"20": func(env Env) error {
			for _, limit := range []int{0, -1} {
				if told(func() error { return open.with(limit, runAll)(env) }) == nil {
					return fmt.Errorf("a pool does not refuse %d", limit)
				}
			}
			// conc takes 0 for GOMAXPROCS here.
			for _, limit := range []int{0, -1} {
				var visited atomic.Int32
				items := make([]int, 10)
				err := told(func() error {
					iter.Iterator[int]{MaxGoroutines: limit}.ForEach(items, func(*int) { visited.Add(1) })
					return nil
				})
				if n := visited.Load(); err == nil && n != 10 {
					return fmt.Errorf("with %d an iterator visits %d of 10 items, and reports no mistake (a pool refuses it)", limit, n)
				}
			}
			return nil
		},
		"21": goroutines(open, "github.com/sourcegraph/conc"),
	})
}
