package behaviour

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

// concPrograms use the package of conc that fits: pools for tasks, iter for
// results in order, stream for ordered callbacks. A pool lasts until its Wait.
func concPrograms() programs {
	limited := func(limit int) *pool.Pool { return pool.New().WithMaxGoroutines(limit) }
	submitTo := func(p *pool.Pool) func(func()) error {
		return func(task func()) error { p.Go(task); return nil }
	}
	waitFor := func(p *pool.Pool) func() error {
		return func() error { p.Wait(); return nil }
	}
	return programs{
		"01": func(env Env) error {
			p := limited(1)
			return goexits(env, submitTo(p), p.Wait)
		},
		"03": func(env Env) error {
			return nilTask(env,
				func() error {
					p := limited(2)
					p.Go(nil)
					p.Wait()
					return nil
				},
				func(task func()) error {
					p := limited(2)
					for range 4 {
						p.Go(task)
					}
					p.Wait()
					return nil
				})
		},
		"04": func(env Env) error {
			p := limited(2)
			var g gauge
			p.Go(g.task(settled))
			p.Wait()
			env.Step("second Wait")
			p.Wait()
			return count("tasks ended", g.ended.Load(), 1)
		},
		"05": func(Env) error {
			p := limited(huge())
			return runAll(submitTo(p), waitFor(p))
		},
		"06": func(env Env) error {
			p := limited(2).WithErrors()
			s := stream.New().WithMaxGoroutines(2)
			var ended atomic.Int32
			for range 2 {
				p.Go(func() error { runtime.Goexit(); return nil })
				s.Go(func() stream.Callback { runtime.Goexit(); return nil })
			}
			for range 2 {
				p.Go(func() error { ended.Add(1); return nil })
			}
			err := p.Wait()
			env.Step("the pool's Wait has returned %v; now the stream's", err)
			s.Wait()
			if err := count("other tasks run", ended.Load(), 2); err != nil {
				return err
			}
			if err == nil {
				return errNotTold
			}
			return nil
		},
		"07": func(Env) error {
			// No pool can be used again: this is about what can be.
			var g conc.WaitGroup
			wait := func() error { g.Wait(); return nil }
			g.Go(func() { panic("boom") })
			if err := told(wait); err == nil {
				return errors.New("nothing is told of the panic")
			}
			for range 2 {
				g.Go(func() {})
				if told(wait) != nil {
					return errors.New("conc.WaitGroup: a later Wait panics again, with the old value (a pool ends with its Wait)")
				}
			}
			return nil
		},
		"08": func(env Env) error {
			p := limited(2).WithContext(context.Background()).WithCancelOnError().WithFirstError()
			p.Go(func(context.Context) error { return errBoom })
			if err := returned("the first Wait", p.Wait(), errBoom); err != nil {
				return err
			}
			env.Step("Go after Wait, which the documentation does not offer")
			p.Go(func(ctx context.Context) error { return ctx.Err() })
			if err := p.Wait(); err != nil {
				return fmt.Errorf("the second Wait returned the error %w (the documentation does not offer reuse)", err)
			}
			return nil
		},
		"09": func(env Env) error {
			p := limited(2)
			return nested(env, submitTo(p), func(task func()) error {
				done := make(chan struct{}, 2)
				for range 2 {
					p.Go(func() { task(); done <- struct{}{} })
				}
				for range 2 {
					<-done
				}
				return nil
			})
		},
		"10": func(env Env) error {
			// A pool's results come in no order, as its documentation says; it sends
			// users that want an order here.
			env.Note("with iter.Mapper; a result pool keeps no order")
			items := make([]int, 10)
			for i := range items {
				items[i] = i
			}
			return inOrder(iter.Mapper[int, int]{MaxGoroutines: 4}.MapErr(items,
				func(item *int) (int, error) { return numbered(*item) }))
		},
		"11": func(Env) error {
			return allAtOnce(func(tasks int, task, consume func(i int)) error {
				s := stream.New()
				for i := range tasks {
					s.Go(func() stream.Callback {
						task(i)
						return func() { consume(i) }
					})
				}
				s.Wait()
				return nil
			})
		},
		"12": func(env Env) error {
			return manyResults(env, func(tasks int) ([]int, error) {
				p := pool.NewWithResults[int]().WithMaxGoroutines(1)
				for i := range tasks {
					p.Go(func() int { return i })
				}
				return p.Wait(), nil
			})
		},
		"17": func(Env) error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			p := limited(1).WithContext(ctx)
			submit := func(task func()) { p.Go(func(context.Context) error { task(); return nil }) }
			return leave(submit, func() { submit(func() {}) }, cancel)
		},
		"18": func(Env) error {
			p := limited(2).WithContext(context.Background()).WithCancelOnError().WithFirstError()
			seen := make(chan context.Context, 1)
			p.Go(func(ctx context.Context) error { seen <- ctx; return errBoom })
			<-(<-seen).Done()
			var ran atomic.Int32
			for range 10 {
				p.Go(func(context.Context) error { ran.Add(1); return nil })
			}
			if err := returned("Wait", p.Wait(), errBoom); err != nil {
				return err
			}
			return count("tasks started", ran.Load(), 0)
		},
		"19": func(env Env) error {
			return bubbles(env, func(part func(string)) error {
				part("a pool")
				p := limited(2)
				if err := inBubble(submitTo(p), waitFor(p)); err != nil {
					return err
				}
				part("a stream")
				s := stream.New().WithMaxGoroutines(2)
				return inBubble(
					func(task func()) error {
						s.Go(func() stream.Callback { task(); return func() {} })
						return nil
					},
					func() error { s.Wait(); return nil })
			})
		},
		"20": func(Env) error {
			for _, limit := range []int{0, -1} {
				err := told(func() error {
					p := limited(limit)
					return runAll(submitTo(p), waitFor(p))
				})
				if err == nil {
					return fmt.Errorf("a pool does not refuse %d", limit)
				}
			}
			// 0 stands for GOMAXPROCS here.
			for _, limit := range []int{0, -1} {
				var visited atomic.Int32
				items := make([]int, 10)
				err := told(func() error {
					iter.Iterator[int]{MaxGoroutines: limit}.ForEach(items, func(*int) { visited.Add(1) })
					return nil
				})
				if n := visited.Load(); err == nil && n != 10 {
					return fmt.Errorf("with %d an iterator visits %d of 10 items, and nothing is told (a pool refuses it)", limit, n)
				}
			}
			return nil
		},
		"21": func(Env) error {
			return goroutines(func() { limited(4) }, "github.com/sourcegraph/conc")
		},
		"23": func(Env) error {
			p := limited(1)
			return labels(p.Go)
		},
		"24": func(env Env) error {
			return together(env, submitTo(limited(1)))
		},

		"reuse": func(env Env) error {
			p := limited(4)
			return reuse(env, submitTo(p), waitFor(p))
		},
		"context": func(Env) error {
			p := limited(2).WithContext(context.Background()).WithCancelOnError().WithFirstError()
			p.Go(func(ctx context.Context) error { <-ctx.Done(); return nil })
			p.Go(func(context.Context) error { return errBoom })
			return returned("Wait", p.Wait(), errBoom)
		},
		"wait": func(Env) error {
			p := limited(4)
			return waits(submitTo(p), waitFor(p))
		},
		"errors": func(Env) error {
			p := limited(2).WithErrors()
			p.Go(func() error { return errBoom })
			return returned("Wait", p.Wait(), errBoom)
		},
	}
}
