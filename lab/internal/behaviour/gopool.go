package behaviour

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bytedance/gopkg/util/gopool"
)

// gopoolPool is what a user of gopool writes to wait for tasks: a pool and a
// WaitGroup.
type gopoolPool struct {
	gopool.Pool
	tasks sync.WaitGroup
}

func newGopool(limit int32) *gopoolPool {
	return &gopoolPool{Pool: gopool.NewPool("lab", limit, gopool.NewConfig())}
}

func (p *gopoolPool) submit(task func()) error {
	p.tasks.Add(1)
	p.Go(func() {
		defer p.tasks.Done()
		task()
	})
	return nil
}

func (p *gopoolPool) wait() error {
	p.tasks.Wait()
	return nil
}

// gopoolPrograms: submitting never waits for room. A pool has no errors, no wait
// and no end; a context goes to the panic handler alone.
func gopoolPrograms() programs {
	return programs{
		"01": func(env Env) error {
			p := newGopool(1)
			return goexits(env, p.submit, p.tasks.Wait)
		},
		"02": func(Env) error {
			p := newGopool(4)
			return shrink(p.submit, func(limit int) { p.SetCap(int32(limit)) })
		},
		"03": func(env Env) error {
			p := newGopool(2)
			panicked := make(chan any, 10)
			p.SetPanicHandler(func(_ context.Context, value any) { panicked <- value })
			return nilTask(env,
				func() error {
					p.Go(nil)
					select {
					case value := <-panicked:
						return fmt.Errorf("the panic handler gets: %v", value)
					case <-time.After(time.Second):
						return nil
					}
				},
				func(task func()) error {
					for range 4 {
						if err := p.submit(task); err != nil {
							return err
						}
					}
					return p.wait()
				})
		},
		"06": func(env Env) error {
			p := newGopool(2)
			var ended atomic.Int32
			for _, task := range []func(){runtime.Goexit, runtime.Goexit, func() { ended.Add(1) }, func() { ended.Add(1) }} {
				if err := p.submit(task); err != nil {
					return err
				}
			}
			env.Step("Wait of a WaitGroup whose Done is deferred in each task")
			p.tasks.Wait()
			return count("other tasks run", ended.Load(), 2)
		},
		"07": func(Env) error {
			p := newGopool(2)
			panicked := make(chan any, 10)
			p.SetPanicHandler(func(_ context.Context, value any) { panicked <- value })
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
			p := newGopool(2)
			return nested(env, p.submit, func(task func()) error {
				var inner sync.WaitGroup
				for range 2 {
					inner.Add(1)
					p.Go(func() { defer inner.Done(); task() })
				}
				inner.Wait()
				return nil
			})
		},
		"19": func(env Env) error {
			return bubbles(env, func(func(string)) error {
				p := newGopool(2)
				return inBubble(p.submit, p.wait)
			})
		},
		"20": func(env Env) error {
			for _, limit := range []int32{0, -1} {
				p := newGopool(limit)
				if err := runAll(p.submit, p.wait); err != nil {
					return fmt.Errorf("limit %d: %w", limit, err)
				}
			}
			env.Note("both run one task at a time")
			return nil
		},
		"21": func(Env) error {
			return goroutines(func() { newGopool(4) }, "github.com/bytedance/gopkg/")
		},
		"23": func(Env) error {
			p := newGopool(1)
			return labels(p.Go)
		},
		"24": func(env Env) error {
			p := newGopool(1)
			return together(env, func(task func()) error { p.Go(task); return nil })
		},

		"reuse": func(env Env) error {
			p := newGopool(4)
			return reuse(env, p.submit, p.wait)
		},
		"resize": func(Env) error {
			p := newGopool(2)
			return resize(p.submit, func(limit int) { p.SetCap(int32(limit)) })
		},
	}
}
