package behaviour

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// plainPrograms need no library: a goroutine for each task and a WaitGroup. They
// have no limit, no errors and no contexts of their own.
func plainPrograms() programs {
	return programs{
		"03": func(env Env) error {
			return nilTask(env, func() error {
				var tasks sync.WaitGroup
				tasks.Go(nil)
				tasks.Wait()
				return nil
			}, func(task func()) error {
				var tasks sync.WaitGroup
				for range 4 {
					tasks.Go(task)
				}
				tasks.Wait()
				return nil
			})
		},
		"04": func(Env) error {
			var tasks sync.WaitGroup
			var g gauge
			tasks.Go(g.task(settled))
			tasks.Wait()
			tasks.Wait()
			return count("tasks ended", g.ended.Load(), 1)
		},
		"06": func(Env) error {
			var tasks sync.WaitGroup
			var ended atomic.Int32
			for range 2 {
				tasks.Go(runtime.Goexit)
				tasks.Go(func() { ended.Add(1) })
			}
			tasks.Wait()
			return count("other tasks run", ended.Load(), 2)
		},
		"09": func(env Env) error {
			var tasks sync.WaitGroup
			return nested(env,
				func(task func()) error { tasks.Go(task); return nil },
				func(task func()) error {
					var inner sync.WaitGroup
					for range 2 {
						inner.Go(task)
					}
					inner.Wait()
					return nil
				})
		},
		"19": func(env Env) error {
			return bubbles(env, func(func(string)) error {
				var tasks sync.WaitGroup
				begin := time.Now()
				for range 10 {
					tasks.Go(func() { time.Sleep(time.Second) })
				}
				tasks.Wait()
				if time.Since(begin) != time.Second {
					return errors.New("not all at once")
				}
				return nil
			})
		},
		"23": func(Env) error {
			return labels(func(task func()) { go task() })
		},

		"reuse": func(env Env) error {
			var tasks sync.WaitGroup
			return reuse(env,
				func(task func()) error { tasks.Go(task); return nil },
				func() error { tasks.Wait(); return nil })
		},
		"wait": func(Env) error {
			var tasks sync.WaitGroup
			return waits(
				func(task func()) error { tasks.Go(task); return nil },
				func() error { tasks.Wait(); return nil })
		},
	}
}
