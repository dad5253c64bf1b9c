package behaviour

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

// weirPrograms have no program for anything made of several pools, which Weir does not have.
func weirPrograms() programs {
	var open opener = func(limit int) pool {
		p := weir.New(limit)
		return pool{submit: p.Submit, wait: silent(p.Wait), resize: p.Resize, end: p.Close}
	}
	var grouped grouper = func(ctx context.Context, limit int) group {
		g := weir.NewGroup(ctx, limit)
		return group{g.Go, g.Wait}
	}
	var streamed opener = func(limit int) pool {
		var tasks []func()
		return pool{
			submit: func(task func()) error { tasks = append(tasks, task); return nil },
			wait:   func() error { return streamOf(tasks, limit) },
		}
	}
	var keeping opener = func(limit int) pool {
		g := weir.NewGroup(context.Background(), limit, weir.KeepGoing())
		return pool{submit: always(func(task func()) { g.Go(func(context.Context) error { task(); return nil }) }), wait: g.Wait}
	}
	return open.programs("01", "02", "05", "23", "24", "reuse", "wait", "resize").and(grouped.programs()).and(programs{
		"03": open.with(2, nilTask(submitsNil)),
		"04": func(Env) error {
			p := weir.New(1)
			g := newGate()
			if err := p.Submit(g.task); err != nil {
				return err
			}
			late := func() error {
				ctx, cancel := context.WithTimeout(context.Background(), settled)
				defer cancel()
				if err := returned("the first wait", p.WaitContext(ctx), context.DeadlineExceeded); err != nil {
					return err
				}
				_, err := p.Shutdown(ctx)
				return returned("the first shutdown", err, context.DeadlineExceeded)
			}
			if err := late(); err != nil {
				return err
			}
			g.open()
			if err := p.WaitContext(context.Background()); err != nil {
				return fmt.Errorf("the second wait: %w", err)
			}
			if _, err := p.Shutdown(context.Background()); err != nil {
				return fmt.Errorf("the second shutdown: %w", err)
			}
			return nil
		},
		"06": func(env Env) error {
			return errors.Join(keeping.with(2, exits(true, "Wait of the group"))(env), streamed.with(2, exits(true, "the end of a stream"))(env))
		},
		"07": func(Env) error {
			g := weir.NewGroup(context.Background(), 2)
			return panics(func(task func()) error {
				g.Go(func(context.Context) error { task(); return nil })
				return g.Wait()
			})
		},
		"08": grouped.again(""),
		"09": func(env Env) error {
			p := weir.New(2)
			outer := p.Group(context.Background())
			contexts := make(chan context.Context, 2) // of the waiting tasks
			begin := func(task func()) error {
				outer.Go(func(ctx context.Context) error { contexts <- ctx; task(); return nil })
				return nil
			}
			return nested(env, begin, func(task func()) error {
				g := p.Group(<-contexts)
				for range 2 {
					g.Go(func(context.Context) error { task(); return nil })
				}
				return g.Wait()
			})
		},
		"10": func(Env) error {
			g := weir.NewGroup(context.Background(), 4, weir.KeepGoing())
			results := weir.NewResults[int](g)
			for i := range 10 {
				results.Go(func(context.Context) (int, error) { return numbered(i) })
			}
			return inOrder(results.Wait())
		},
		"11": noting("under Limit(1000); the default is GOMAXPROCS", allAtOnce(wideStream)),
		"12": manyResults(func(tasks int) ([]int, error) {
			results := weir.NewResults[int](weir.NewGroup(context.Background(), 1))
			for i := range tasks {
				results.Go(func(context.Context) (int, error) { return i, nil })
			}
			return results.Wait()
		}),
		"13": stopped(weir.ErrClosed, func() error {
			p := weir.New(2)
			p.Close()
			return p.Submit(func() {})
		}),
		"14": func(env Env) error {
			p := weir.New(4)
			defer p.Close()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			g := p.Group(ctx, weir.Limit(2))
			var live sync.WaitGroup
			for range 8 {
				live.Go(func() { // tasks beyond the limit wait in Go
					g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil })
				})
			}
			time.Sleep(settled)
			cancel()
			env.Step("Wait of the group")
			err := g.Wait()
			live.Wait()
			return returned("Wait", err, context.Canceled)
		},
		"15": func(env Env) error {
			p := weir.New(1, weir.Queue(0))
			defer p.Close()
			busy := newGate()
			if err := p.Submit(busy.task); err != nil {
				return err
			}
			<-busy.started
			g := p.Group(context.Background(), weir.Limit(1))
			ran := false
			accepted := g.TryGo(func(context.Context) error { ran = true; return nil })
			busy.open()
			env.Step("accepted: %t; Wait of the group", accepted)
			if err := g.Wait(); err != nil {
				return err
			}
			if accepted != ran {
				return fmt.Errorf("accepted: %t, ran: %t", accepted, ran)
			}
			return nil
		},
		"16": func(env Env) error {
			p := weir.New(4)
			g := p.Group(context.Background(), weir.Limit(1), weir.KeepGoing())
			first := newGate()
			g.Go(func(context.Context) error { first.task(); return nil })
			var ran atomic.Int32
			var live sync.WaitGroup
			for range 4 {
				live.Go(func() { // waits for its turn in Go
					g.Go(func(context.Context) error { ran.Add(1); return nil })
				})
			}
			time.Sleep(settled)
			time.AfterFunc(settled, first.open)
			env.Step("Close of the pool")
			p.Close()
			live.Wait()
			env.Step("Wait of the group")
			refused := 0
			if err, ok := g.Wait().(interface{ Unwrap() []error }); ok {
				for _, err := range err.Unwrap() {
					if !errors.Is(err, weir.ErrClosed) {
						return err
					}
					refused++
				}
			}
			return accounted(env, ran.Load(), refused)
		},
		"17": func(Env) error {
			p := weir.New(1, weir.Queue(0))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var occupied, refused error
			err := leave(
				func(task func()) { occupied = p.Submit(task) },
				func() { refused = p.SubmitContext(ctx, func() {}) },
				cancel)
			if err := errors.Join(occupied, err); err != nil {
				return err
			}
			return returned("the submission", refused, context.Canceled)
		},
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
				err := told(func() error { return open.with(limit, runAll)(env) })
				env.Note("%d: %v", limit, err)
				if err == nil {
					return fmt.Errorf("%d is not refused", limit)
				}
				if told(func() error { return streamed.with(limit, runAll)(env) }) == nil {
					return fmt.Errorf("a stream does not refuse %d", limit)
				}
			}
			return nil
		},
		"21": goroutines(open, "github.com/64ed045f/weir.", "github.com/64ed045f/weir/internal/", "github.com/64ed045f/weir/par."),
	})
}

// numbers is a stream of Weir that calls task with each number below n, and passes the number on.
func numbers(n int, task func(i int), opts ...par.StreamOption) iter.Seq2[int, error] {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return par.Stream(context.Background(), all, func(_ context.Context, i int) (int, error) { task(i); return i, nil }, opts...)
}

// wideStream is a stream of Weir for scenario 11. A stream always has a limit; this limit is far above the
// number of tasks.
func wideStream(tasks int, task, consume func(i int)) error {
	for i, err := range numbers(tasks, task, par.Limit(1000)) {
		if err != nil {
			return err
		}
		consume(i)
	}
	return nil
}

// streamOf runs tasks in a stream, and waits for its end.
func streamOf(tasks []func(), limit int) (failures error) {
	for _, err := range numbers(len(tasks), func(i int) { tasks[i]() }, par.Limit(limit), par.KeepGoing()) {
		failures = errors.Join(failures, err)
	}
	return failures
}
