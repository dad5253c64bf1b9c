package weir_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// rules names the rules by which lints were found.
func rules(list []weir.Lint) string {
	var names []string
	for _, l := range list {
		names = append(names, l.Rule)
	}
	return strings.Join(names, ", ")
}

func TestLints(t *testing.T) {
	const d = time.Minute
	for _, test := range []struct {
		name, want string
		run        func(t *testing.T, p *weir.Pool, v *check.Valve) // of limit 2 and a queue of 2
	}{
		{"tasks run for long, and none is queued", "", func(t *testing.T, p *weir.Pool, v *check.Valve) {
			check.OK(t, p.Submit(v.Hold))
		}},
		{"tasks run for long, and one is queued", "slow, same line", func(t *testing.T, p *weir.Pool, v *check.Valve) {
			for range 3 {
				check.OK(t, p.Submit(func() { v.Hold() })) // a line of the program
			}
		}},
		{"tasks at different lines", "slow", func(t *testing.T, p *weir.Pool, v *check.Valve) {
			check.OK(t, p.Submit(v.Hold))
			check.OK(t, p.Submit(func() { time.Sleep(time.Hour) }))
			check.OK(t, p.Submit(v.Hold))
		}},
		{"all wait for a lock", "same line", func(t *testing.T, p *weir.Pool, v *check.Valve) {
			lock := make(chan struct{}, 1) // a bubble does not see a goroutine wait for a Mutex
			lock <- struct{}{}
			locked := func() {
				lock <- struct{}{}
				<-lock
			}
			check.OK(t, p.Submit(locked))
			check.OK(t, p.Submit(locked))
			go func() {
				v.Hold()
				<-lock
			}()
		}},
		{"paused with a task", "stuck", func(t *testing.T, p *weir.Pool, v *check.Valve) {
			p.Pause()
			check.OK(t, p.Submit(v.Hold))
		}},
		{"paused without a task", "", func(_ *testing.T, p *weir.Pool, _ *check.Valve) { p.Pause() }},
		{"all wait for another pool", "stuck", func(t *testing.T, p *weir.Pool, v *check.Valve) {
			for range 3 {
				go func() {
					check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
						g := weir.NewGroup(ctx, 1)
						g.Go(v.Member)
						return g.Wait()
					}))
				}()
			}
		}},
		{"tasks submit to their own full pool", "slow, same line, own queue", func(t *testing.T, p *weir.Pool, v *check.Valve) {
			for range 2 {
				check.OK(t, p.Submit(func() {
					time.Sleep(time.Second)
					check.OK(t, p.Submit(v.Hold))
				}))
			}
			for range 2 {
				check.OK(t, p.Submit(v.Hold))
			}
			time.Sleep(2 * time.Second)
			go func() {
				v.Hold()
				p.Resize(8)
			}()
		}},
	} {
		check.Bubble(t, test.name, func(t *testing.T) {
			if check.Race && strings.Contains(test.want, ",") || check.Race && test.want == "same line" {
				return // each task has a goroutine of its own, whose stack is not its worker's
			}
			p := weir.New(2, weir.Queue(2), weir.Name("lints"))
			check.OK(t, p.Submit(nothing)) // so that it is listed
			synctest.Wait()
			info := listed(t, "lints")
			check.Equal(t, "of a pool without tasks", rules(info.Lints(d)), "")
			v := check.NewValve()
			test.run(t, p, v)
			synctest.Wait()
			time.Sleep(3 * time.Second)
			_ = info.Lints(d) // it knows from now on what runs
			time.Sleep(2 * d)
			list := info.Lints(d)
			check.Equal(t, fmt.Sprint(list), rules(list), test.want)
			p.Resume()
			v.Open()
			synctest.Wait() // the tasks that submit have done so
			p.Close()
			check.Equal(t, "of a closed pool", rules(info.Lints(d)), "")
		})
	}
}

// submitting is a pool of limit 1 and with a queue of 1, and one way to hand it a task.
type submitting struct {
	start  func(key string, task func()) // on a worker; the key is for a Keyed
	submit func(key string, task func())
	resize func(limit int)
	close  func()
}

// submitters are all ways to hand over a task in which the caller waits for room. In Once.Do another goroutine does.
func submitters(t *testing.T) map[string]func(name string) submitting {
	ctx := context.Background() // and not that of a task, whose place would be lent
	member := func(task func()) func(context.Context) error {
		return func(context.Context) error {
			task()
			return nil
		}
	}
	all := map[string]func(name string) submitting{
		"FuncPool.Invoke": func(name string) submitting {
			p := weir.NewFunc(1, func(task func()) { task() }, weir.Queue(1), weir.Name(name))
			submit := func(_ string, task func()) { check.OK(t, p.Invoke(task)) }
			return submitting{submit, submit, p.Resize, p.Close}
		},
		"FuncPool.InvokeContext": func(name string) submitting {
			p := weir.NewFunc(1, func(task func()) { task() }, weir.Queue(1), weir.Name(name))
			submit := func(_ string, task func()) { check.OK(t, p.InvokeContext(ctx, task)) }
			return submitting{submit, submit, p.Resize, p.Close}
		},
		"FuncContext.Go": func(name string) submitting {
			p := weir.NewFuncContext(1, func(_ context.Context, task func()) error { task(); return nil }, weir.Queue(1), weir.Name(name))
			submit := func(_ string, task func()) { check.OK(t, p.Go(ctx, task)) }
			return submitting{submit, submit, p.Resize, p.Close}
		},
	}
	for name, submit := range map[string]func(p *weir.Pool, task func()){
		"Pool.Submit":        func(p *weir.Pool, task func()) { check.OK(t, p.Submit(task)) },
		"Pool.SubmitContext": func(p *weir.Pool, task func()) { check.OK(t, p.SubmitContext(ctx, task)) },
		"Pool.Go":            func(p *weir.Pool, task func()) { check.OK(t, p.Go(ctx, member(task))) },
		"Pool.Do":            func(p *weir.Pool, task func()) { check.OK(t, p.Do(ctx, member(task))) },
		"Async": func(p *weir.Pool, task func()) {
			weir.Async(ctx, p, func(context.Context) (int, error) { task(); return 0, nil })
		},
		"Group.Go": func(p *weir.Pool, task func()) {
			g := p.Group(ctx)
			g.Go(member(task))
			check.OK(t, g.Wait())
		},
		"Results.Go": func(p *weir.Pool, task func()) {
			r := weir.NewResults[int](p.Group(ctx))
			r.Go(func(context.Context) (int, error) { task(); return 0, nil })
			_, err := r.Wait()
			check.OK(t, err)
		},
	} {
		all[name] = func(name string) submitting {
			p := weir.New(1, weir.Queue(1), weir.Name(name))
			start := func(_ string, task func()) { check.OK(t, p.Submit(task)) } // Do would run it on another goroutine than its worker's
			return submitting{start, func(_ string, task func()) { submit(p, task) }, p.Resize, p.Close}
		}
	}
	for name, submit := range map[string]func(p *weir.Stateful[int, func()], task func()){
		"Stateful.Invoke":        func(p *weir.Stateful[int, func()], task func()) { check.OK(t, p.Invoke(task)) },
		"Stateful.InvokeContext": func(p *weir.Stateful[int, func()], task func()) { check.OK(t, p.InvokeContext(ctx, task)) },
		"Stateful.Call":          func(p *weir.Stateful[int, func()], task func()) { check.OK(t, p.Call(ctx, task)) },
	} {
		all[name] = func(name string) submitting {
			open := func() (int, error) { return 0, nil }
			p := weir.NewStateful(1, open, func(_ int, task func()) { task() }, nil, weir.Queue(1), weir.Name(name))
			by := func(_ string, task func()) { submit(p, task) }
			return submitting{by, by, p.Resize, p.Close}
		}
	}
	for name, submit := range map[string]func(k *weir.Keyed[string], key string, task func()){
		"Keyed.Submit":        func(k *weir.Keyed[string], key string, task func()) { check.OK(t, k.Submit(key, task)) },
		"Keyed.SubmitContext": func(k *weir.Keyed[string], key string, task func()) { check.OK(t, k.SubmitContext(ctx, key, task)) },
		"Keyed.Go":            func(k *weir.Keyed[string], key string, task func()) { check.OK(t, k.Go(ctx, key, member(task))) },
		"Keyed.Group": func(k *weir.Keyed[string], key string, task func()) {
			g := k.Group(ctx, key)
			g.Go(member(task))
			check.OK(t, g.Wait())
		},
	} {
		all[name] = func(name string) submitting {
			p := weir.New(1, weir.Name(name))
			k := weir.NewKeyed[string](p, 1, weir.KeyQueue(1))
			by := func(key string, task func()) { submit(k, key, task) }
			return submitting{by, by, p.Resize, p.Close}
		}
	}
	return all
}

func TestATaskThatWaitsForRoomInItsOwnPoolIsFoundHoweverItSubmits(t *testing.T) {
	if check.Race {
		t.Skip("each task has a goroutine of its own, whose stack is not its worker's")
	}
	const d = time.Minute
	for name, with := range submitters(t) {
		check.Bubble(t, name, func(t *testing.T) {
			p := with(name)
			v := check.NewValve()
			go p.submit("a", v.Hold) // so that it is listed, with its key
			synctest.Wait()
			var info weir.PoolInfo
			for i := range weir.Pools() {
				if i.Name == name && strings.HasPrefix(i.Kind, strings.Split(name, ".")[0]) || i.Name == name && info.ID == 0 {
					info = i
				}
			}
			_ = info.Lints(d) // from now on it tells tasks apart
			v.Open()
			full := make(chan struct{})
			synctest.Wait()
			go p.start("a", func() {
				<-full
				p.submit("b", nothing)
			})
			synctest.Wait()
			go p.submit("b", nothing)
			synctest.Wait()
			close(full)
			time.Sleep(time.Second)
			_ = info.Lints(d)
			time.Sleep(2 * d)
			list := info.Lints(d)
			check.Equal(t, fmt.Sprint(list), rules(list), "slow, own queue")
			p.resize(2)
			synctest.Wait()
			p.close()
		})
	}
}
