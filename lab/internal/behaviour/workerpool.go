package behaviour

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gammazero/workerpool"
)

// workerpoolPrograms: submitting never waits for room. A pool has neither errors nor
// contexts, and lets a panic end the program, as its documentation says.
func workerpoolPrograms() programs {
	waitFor := func(p *workerpool.WorkerPool) func() error {
		return func() error { p.StopWait(); return nil }
	}
	return programs{
		"01": func(env Env) error {
			p := workerpool.New(1)
			return goexits(env, p.Do, p.StopWait)
		},
		"03": func(env Env) error {
			p := workerpool.New(2)
			return nilTask(env,
				func() error { return p.Do(nil) },
				func(task func()) error {
					for range 4 {
						if err := p.Do(task); err != nil {
							return err
						}
					}
					p.StopWait()
					return nil
				})
		},
		"04": func(Env) error {
			p := workerpool.New(1)
			var g gauge
			if err := p.Do(g.task(settled)); err != nil {
				return err
			}
			p.StopWait()
			p.StopWait()
			return count("tasks ended", g.ended.Load(), 1)
		},
		"05": func(Env) error {
			p := workerpool.New(huge())
			return runAll(p.Do, waitFor(p))
		},
		"06": func(env Env) error {
			p := workerpool.New(2)
			var ended atomic.Int32
			for _, task := range []func(){runtime.Goexit, runtime.Goexit, func() { ended.Add(1) }, func() { ended.Add(1) }} {
				if err := p.Do(task); err != nil {
					return err
				}
			}
			env.Step("StopWait")
			p.StopWait()
			return count("other tasks run", ended.Load(), 2)
		},
		"09": func(env Env) error {
			p := workerpool.New(2)
			return nested(env, p.Do, func(task func()) error {
				for range 2 {
					if err := p.DoWait(task); err != nil {
						return err
					}
				}
				return nil
			})
		},
		"13": func(Env) error {
			return stopped(workerpool.ErrStopped, func() error {
				p := workerpool.New(2)
				p.Stop()
				return p.Do(func() {})
			})
		},
		"19": func(env Env) error {
			return bubbles(env, func(func(string)) error {
				p := workerpool.New(2)
				return inBubble(p.Do, waitFor(p))
			})
		},
		"20": func(env Env) error {
			for _, limit := range []int{0, -1} {
				p := workerpool.New(limit)
				if err := runAll(p.Do, waitFor(p)); err != nil {
					return fmt.Errorf("limit %d: %w", limit, err)
				}
				env.Note("%d means %d", limit, p.Size())
			}
			return nil
		},
		"21": func(Env) error {
			return goroutines(func() { workerpool.New(4) }, "github.com/gammazero/")
		},
		"23": func(Env) error {
			p := workerpool.New(1)
			return labels(p.Submit)
		},
		"24": func(env Env) error {
			p := workerpool.New(1)
			return together(env, p.Do)
		},

		"reuse": func(env Env) error {
			p := workerpool.New(4)
			return reuse(env, p.Do, waitFor(p))
		},
		"wait": func(env Env) error {
			p := workerpool.New(4)
			env.Note("by stopping the pool for good")
			return waits(p.Do, waitFor(p))
		},
	}
}
