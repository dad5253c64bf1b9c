package weir_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// The race detector fails this test if it reports one of these programs: they are right, by what the library promises.
func TestPromise15RightProgramsAreNotReported(t *testing.T) {
	programs := map[string]func(ctx context.Context){
		"the value and the argument of a Stateful are large": func(context.Context) {
			p := weir.NewStateful(2, func() (large, error) { return large{1}, nil }, func(v, arg large) { v[0] += arg[0] }, nil)
			for i := range 4 {
				_ = p.Invoke(large{i})
			}
			p.Close()
		},
		"the task of a timer asks its context": func(context.Context) {
			p := weir.New(2)
			asked := make(chan struct{})
			p.After(1, func(ctx context.Context) {
				ctx, stop := context.WithTimeout(ctx, time.Hour)
				defer stop()
				check.OK(t, ctx.Err())
				close(asked)
			})
			<-asked
			p.Close()
		},
		"Reduce changes its arguments while a thousand goroutines are in use": func(ctx context.Context) {
			p := weir.New(1100)
			release := make(chan struct{})
			for range 1100 {
				_ = p.Submit(func() { <-release })
			}
			var sets []map[int]int
			for i := range 64 {
				sets = append(sets, map[int]int{i: i})
			}
			_, _ = par.Reduce(ctx, sets, func(_ context.Context, a, b map[int]int) (map[int]int, error) {
				maps.Copy(a, b)
				return a, nil
			}, par.Limit(4))
			close(release)
			p.Close()
		},
		"a loop on a pool of limit 1": func(ctx context.Context) {
			p, n := weir.New(1), 0
			_ = p.Submit(func() { n++ })
			_ = par.Each(ctx, make([]int, 50), func(context.Context, int) error { n++; return nil }, par.On(p), par.Limit(4))
			for _, err := range par.Stream(ctx, make([]int, 50), func(context.Context, int) (int, error) { n++; return 0, nil }, par.On(p), par.Limit(4)) {
				check.OK(t, err)
			}
			p.Close()
		},
		"the handler of panics at a limit of 1": func(ctx context.Context) {
			n := 0
			p := weir.New(1, weir.OnPanic(func(*weir.Panic) { n++ }))
			for range 10 {
				_ = p.Submit(func() { panic("on purpose") })
				_ = p.Submit(func() { n++ })
			}
			g := p.Group(ctx)
			for range 10 {
				g.Go(func(context.Context) error { n++; panic("on purpose") })
			}
			_ = check.Caught(func() { _ = g.Wait() })
			p.Close()
			f := weir.NewFunc(1, func(i int) { n += i; panic("on purpose") }, weir.OnPanic(func(*weir.Panic) { n++ }))
			for i := range 10 {
				_ = f.Invoke(i)
			}
			f.Close()
		},
		"the handler of values that do not open": func(context.Context) {
			n := 0
			p := weir.NewStateful(1, func() (int, error) { n++; return n, errOnPurpose }, func(int, int) {}, nil, weir.OnOpenError(func(*weir.OpenError) { n++ }))
			for i := range 10 {
				_ = p.Invoke(i)
			}
			p.Close()
		},
		"dispose sees what was done before Close and Resize": func(ctx context.Context) {
			var why string
			p := weir.NewStateful(2, func() (int, error) { return 0, nil }, func(int, int) {}, func(int) { runtime.KeepAlive(why) })
			_ = p.Call(ctx, 1)
			why = "it is closed"
			p.Close()
		},
		"a task that is let in at a limit of 1 comes when the one before has ended": func(ctx context.Context) {
			p, one, shared := weir.New(1, weir.Queue(0)), weir.NewGroup(ctx, 1, weir.Queue(0)), weir.New(4)
			limited := shared.Group(ctx, weir.Limit(1))
			f := weir.NewFunc(1, func(f func()) { f() }, weir.Queue(0))
			var g errgroup.Group
			g.SetLimit(1)
			for _, give := range []func(f func()){
				func(f func()) { _ = p.Submit(f) },
				func(task func()) { _ = f.Invoke(task) },
				func(f func()) { one.Go(func(context.Context) error { f(); return nil }) },
				func(f func()) { limited.Go(func(context.Context) error { f(); return nil }) },
				func(f func()) { g.Go(func() error { f(); return nil }) },
			} {
				var buffers [2]int
				sum := 0
				for i := range 50 {
					b := &buffers[i%2]
					*b = i
					give(func() { sum += *b })
				}
			}
			f.Close()
			p.Close()
			_ = one.Wait()
			_ = limited.Wait()
			_ = g.Wait()
			shared.Close()
		},
		"a member asks its context, and a call of a loop its helper's": func(ctx context.Context) {
			p, q := weir.New(3), weir.New(3)
			_ = par.Each(ctx, make([]int, 10), func(ctx context.Context, _ int) error {
				g := q.Group(ctx)
				g.Go(func(ctx context.Context) error {
					h := p.Group(ctx)
					h.Go(func(ctx context.Context) error { return ctx.Err() })
					return h.Wait()
				})
				return g.Wait()
			}, par.On(p))
			p.Close()
			q.Close()
		},
		"what is done in a pause": func(context.Context) {
			p, n := weir.New(2), 0
			p.Pause()
			_ = p.Submit(func() { runtime.KeepAlive(n) })
			n++
			p.Resume()
			p.Close()
		},
		"subtasks at a limit of 1": func(ctx context.Context) {
			p, n := weir.New(1), 0
			f := weir.Async(ctx, p, func(ctx context.Context) (int, error) {
				g := p.Group(ctx)
				g.Go(func(context.Context) error { n++; return nil })
				n++
				err := g.Wait()
				n++
				return n, err
			})
			_, _ = f.Get(ctx)
			p.Close()
		},
		"tasks of a group use the library, and others come when one has made the group's workers": func(ctx context.Context) {
			p := weir.New(4)
			for range 20 {
				g := weir.NewGroup(ctx, 8)
				for range 6 {
					g.Go(func(ctx context.Context) error {
						_, err := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, ctx.Err() }).Get(ctx)
						h := p.Group(ctx, weir.Limit(2))
						for range 3 {
							h.Go(func(ctx context.Context) error {
								return par.Each(ctx, make([]int, 2), func(context.Context, int) error { return nil })
							})
						}
						_ = p.Do(ctx, func(context.Context) error { return nil })
						return errors.Join(err, h.Wait())
					})
					time.Sleep(50 * time.Microsecond) // which orders nothing
				}
				_ = g.Wait()
			}
			p.Close()
		},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			check.Within(time.Minute, func() {
				for range check.Scale(20, 3) {
					program(t.Context())
				}
			})
		})
	}
}

type large [40]int

var errOnPurpose = errors.New("on purpose")

// Under the race detector as well, which needs more of it.
func TestADroppedPoolInAPauseIsCollected(t *testing.T) {
	var collected atomic.Bool
	func() {
		p := weir.New(1)
		p.Pause()
		kept := new([1 << 10]int)
		runtime.AddCleanup(kept, func(*atomic.Bool) { collected.Store(true) }, &collected)
		_ = p.Submit(func() { kept[0]++ })
	}()
	if !check.Tries(1000, func() bool { runtime.GC(); return collected.Load() }) {
		t.Error("the task of a pool that is gone is kept")
	}
}
