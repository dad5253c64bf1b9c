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
