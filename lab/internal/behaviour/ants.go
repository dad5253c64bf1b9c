package behaviour

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"
)

// antsPool is what a user of ants writes to wait for tasks: a pool and a WaitGroup.
type antsPool struct {
	*ants.Pool
	tasks sync.WaitGroup
}

func newAnts(limit int, options ...ants.Option) *antsPool {
	p, err := ants.NewPool(limit, options...)
	if err != nil {
		panic(err)
	}
	return &antsPool{Pool: p}
}

func (p *antsPool) submit(task func()) error {
	p.tasks.Add(1)
	err := p.Submit(func() {
		defer p.tasks.Done()
		task()
	})
	if err != nil {
		p.tasks.Done()
	}
	return err
}

// endDefaultAnts ends the pool that ants makes when it is imported. The timers of that pool
// would keep the runtime from seeing that the program of another library hangs.
func endDefaultAnts() { ants.Release() }

func (p *antsPool) wait() error {
	p.tasks.Wait()
	return nil
}

// antsPrograms: a pool has neither errors nor contexts, and waits for its tasks
// only when it is released.
func antsPrograms() programs {
	return programs{
		"01": func(env Env) error {
			// The purge of idle workers, once a second, makes up for a lost wake-up.
			// With ants.WithDisablePurge the submission waits for good.
			p := newAnts(1)
			defer p.Release()
			return goexits(env, p.submit, p.tasks.Wait)
		},
		"02": func(Env) error {
			p := newAnts(4)
			defer p.Release()
			return shrink(p.submit, p.Tune)
		},
		"03": func(env Env) error {
			p := newAnts(2)
			defer p.Release()
			return nilTask(env,
				func() error { return p.Submit(nil) },
				func(task func()) error {
					for range 4 {
						if err := p.submit(task); err != nil {
							return err
						}
					}
					return p.wait()
				})
		},
		"04": func(Env) error {
			p := newAnts(1)
			g := newGate()
			if err := p.submit(g.task); err != nil {
				return err
			}
			if err := returned("the first ReleaseTimeout", p.ReleaseTimeout(settled), ants.ErrTimeout); err != nil {
				return err
			}
			g.open()
			if err := p.ReleaseTimeout(time.Second); err != nil {
				return fmt.Errorf("the second ReleaseTimeout: %w", err)
			}
			return nil
		},
		"05": func(env Env) error {
			p := newAnts(huge())
			defer p.Release()
			env.Step("Cap is %d; Submit", p.Cap())
			return runAll(p.submit, p.wait)
		},
		"06": func(Env) error {
			p := newAnts(2)
			defer p.Release()
			var ended atomic.Int32
			for _, task := range []func(){runtime.Goexit, runtime.Goexit, func() { ended.Add(1) }, func() { ended.Add(1) }} {
				if err := p.submit(task); err != nil {
					return err
				}
			}
			p.tasks.Wait()
			return count("other tasks run", ended.Load(), 2)
		},
		"07": func(Env) error {
			panicked := make(chan any, 10)
			p := newAnts(2, ants.WithPanicHandler(func(value any) { panicked <- value }))
			defer p.Release()
			if err := p.submit(func() { panic("boom") }); err != nil {
				return err
			}
			<-panicked
			if err := runAll(p.submit, p.wait); err != nil {
				return err
			}
			return count("further panics told", len(panicked), 0)
		},
		"09": func(env Env) error {
			p := newAnts(2)
			defer p.Release()
			return nested(env, p.submit, func(task func()) error {
				var inner sync.WaitGroup
				for range 2 {
					inner.Add(1)
					if err := p.Submit(func() { defer inner.Done(); task() }); err != nil {
						return err
					}
				}
				inner.Wait()
				return nil
			})
		},
		"13": func(Env) error {
			return stopped(ants.ErrPoolClosed, func() error {
				p := newAnts(2)
				p.Release()
				return p.Submit(func() {})
			})
		},
		"19": func(env Env) error {
			return bubbles(env, func(func(string)) error {
				p := newAnts(2)
				if err := inBubble(p.submit, p.wait); err != nil {
					return err
				}
				return p.ReleaseTimeout(time.Second)
			})
		},
		"20": func(env Env) error {
			for _, limit := range []int{0, -1} {
				p := newAnts(limit)
				defer p.Release()
				if err := runAll(p.submit, p.wait); err != nil {
					return fmt.Errorf("limit %d: %w", limit, err)
				}
			}
			env.Note("both mean no limit")
			return nil
		},
		"21": func(Env) error {
			return goroutines(func() { newAnts(4) }, "github.com/panjf2000/ants/")
		},
		"22": func(Env) error {
			p, err := ants.NewMultiPool(2, 2, ants.RoundRobin)
			if err != nil {
				return err
			}
			g := newGate()
			defer g.open()
			if err := p.Submit(g.task); err != nil {
				return err
			}
			err = p.ReleaseTimeout(settled)
			if !errors.Is(err, ants.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("neither ErrTimeout nor context.DeadlineExceeded: %w", err)
			}
			return nil
		},
		"23": func(Env) error {
			p := newAnts(1)
			return labels(func(task func()) {
				if err := p.submit(task); err != nil {
					panic(err)
				}
			})
		},
		"24": func(env Env) error {
			p := newAnts(1)
			defer p.Release()
			return together(env, p.Submit)
		},

		"reuse": func(env Env) error {
			p := newAnts(4)
			defer p.Release()
			return reuse(env, p.submit, p.wait)
		},
		"wait": func(env Env) error {
			p := newAnts(4)
			env.Note("by releasing the pool for good")
			return waits(p.Submit, func() error { return p.ReleaseContext(context.Background()) })
		},
		"resize": func(Env) error {
			p := newAnts(2)
			defer p.Release()
			return resize(p.submit, p.Tune)
		},
	}
}
