package behaviour

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// errgroupPrograms: a group starts a goroutine for each task. It lets a panic end
// the program, on purpose.
func errgroupPrograms() programs {
	limited := func(limit int) *errgroup.Group {
		g := new(errgroup.Group)
		g.SetLimit(limit)
		return g
	}
	submitTo := func(g *errgroup.Group) func(func()) error {
		return func(task func()) error {
			g.Go(func() error { task(); return nil })
			return nil
		}
	}
	return programs{
		"01": func(env Env) error {
			g := limited(1)
			return goexits(env, submitTo(g), func() {
				if err := g.Wait(); err != nil {
					panic(err) // no task returns one
				}
			})
		},
		"02": func(Env) error {
			g := limited(4)
			resize := func(limit int) {
				if err := g.Wait(); err != nil { // the limit must not be changed while tasks run
					panic(err)
				}
				g.SetLimit(limit)
			}
			return shrink(submitTo(g), resize)
		},
		"03": func(env Env) error {
			return nilTask(env,
				func() error {
					g := limited(2)
					g.Go(nil)
					return g.Wait()
				},
				func(task func()) error {
					g := limited(2)
					for range 4 {
						g.Go(func() error { task(); return nil })
					}
					return g.Wait()
				})
		},
		"04": func(Env) error {
			g := limited(2)
			g.Go(func() error { return errBoom })
			for range 2 {
				if err := returned("Wait", g.Wait(), errBoom); err != nil {
					return err
				}
			}
			return nil
		},
		"05": func(Env) error {
			g := limited(huge())
			return runAll(submitTo(g), g.Wait)
		},
		"06": func(Env) error {
			g := limited(2)
			var ended atomic.Int32
			for range 2 {
				g.Go(func() error { runtime.Goexit(); return nil })
			}
			for range 2 {
				g.Go(func() error { ended.Add(1); return nil })
			}
			err := g.Wait()
			if err := count("other tasks run", ended.Load(), 2); err != nil {
				return err
			}
			if err == nil {
				return errNotTold
			}
			return nil
		},
		"08": func(Env) error {
			g, ctx := errgroup.WithContext(context.Background())
			g.Go(func() error { return errBoom })
			if err := returned("the first Wait", g.Wait(), errBoom); err != nil {
				return err
			}
			g.Go(func() error { return nil })
			if err := errors.Join(g.Wait(), ctx.Err()); err != nil {
				return errors.New("the second batch starts cancelled, and its Wait returns the first one's error (the documentation advises against it)")
			}
			return nil
		},
		"09": func(env Env) error {
			g := limited(2)
			return nested(env, submitTo(g), func(task func()) error {
				done := make(chan struct{}, 2)
				for range 2 {
					g.Go(func() error { task(); done <- struct{}{}; return nil })
				}
				for range 2 {
					<-done
				}
				return nil
			})
		},
		"17": func(Env) error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			g, _ := errgroup.WithContext(ctx)
			g.SetLimit(1)
			submit := func(task func()) { g.Go(func() error { task(); return nil }) }
			return leave(submit, func() { submit(func() {}) }, cancel)
		},
		"18": func(Env) error {
			g, ctx := errgroup.WithContext(context.Background())
			g.SetLimit(2)
			g.Go(func() error { return errBoom })
			<-ctx.Done()
			var ran atomic.Int32
			for range 10 {
				g.Go(func() error { ran.Add(1); return nil })
			}
			if err := returned("Wait", g.Wait(), errBoom); err != nil {
				return err
			}
			return count("tasks started", ran.Load(), 0)
		},
		"19": func(env Env) error {
			return bubbles(env, func(func(string)) error {
				g := limited(2)
				return inBubble(submitTo(g), g.Wait)
			})
		},
		"20": func(env Env) error {
			for _, limit := range []int{-1, 0} {
				env.Step("limit %d", limit)
				g := limited(limit)
				if limit == 0 {
					env.Step("limit 0, documented to let no task in")
				}
				if err := runAll(submitTo(g), g.Wait); err != nil {
					return err
				}
			}
			return nil
		},
		"21": func(Env) error {
			return goroutines(func() { limited(4) }, "golang.org/x/sync/")
		},
		"23": func(Env) error {
			g := limited(1)
			return labels(func(task func()) { g.Go(func() error { task(); return nil }) })
		},
		"24": func(env Env) error {
			return together(env, submitTo(limited(1)))
		},

		"reuse": func(env Env) error {
			g := limited(4)
			return reuse(env, submitTo(g), g.Wait)
		},
		"context": func(Env) error {
			g, ctx := errgroup.WithContext(context.Background())
			g.Go(func() error { <-ctx.Done(); return nil })
			g.Go(func() error { return errBoom })
			return returned("Wait", g.Wait(), errBoom)
		},
		"wait": func(Env) error {
			g := limited(4)
			return waits(submitTo(g), g.Wait)
		},
		"errors": func(Env) error {
			var g errgroup.Group
			g.Go(func() error { return errBoom })
			return returned("Wait", g.Wait(), errBoom)
		},
	}
}
