package weir_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// treeOf prints groups and their tasks.
func treeOf(list []weir.GroupInfo) string {
	labels := map[uint64]string{}
	for _, g := range list {
		labels[g.ID] = g.Label
	}
	var lines []string
	for _, g := range list {
		line := fmt.Sprintf("%s in %q of worker %d: %d tasks", g.Label, labels[g.Parent], g.ParentWorker, g.Tasks)
		for _, r := range g.Running {
			line += fmt.Sprintf("; waits for %q", r.Waits)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestGroupsAreATreeOfWhatWaitsForWhat(t *testing.T) {
	weir.Watch()
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Name("tree"))
		release := make(chan struct{})
		outer := weir.NewGroup(weir.Label(t.Context(), "outer"), 4)
		outer.Go(func(ctx context.Context) error {
			middle := p.Group(weir.Label(ctx, "middle"))
			middle.Go(func(ctx context.Context) error {
				inner := p.Group(weir.Label(ctx, "inner"))
				inner.Go(func(context.Context) error {
					stuckInOne(release)
					return nil
				})
				return inner.Wait()
			})
			return middle.Wait()
		})
		synctest.Wait()
		outer.Go(func(context.Context) error {
			stuckInOther(release)
			return nil
		})
		done := make(chan error)
		go func() { done <- outer.Wait() }()
		synctest.Wait()
		time.Sleep(time.Minute)
		_ = weir.Groups(0) // from then on it is known what runs, measured or not
		time.Sleep(time.Minute)
		list := weir.Groups(time.Minute)
		check.Equal(t, "groups", treeOf(list), strings.Join([]string{
			`inner in "middle" of worker 1: 1 tasks; waits for ""`,
			`middle in "outer" of worker 1: 1 tasks; waits for "group"`,
			`outer in "" of worker 0: 2 tasks; waits for "other"; waits for ""`,
		}, "\n"))
		for _, g := range list {
			for name, at := range map[string]string{"made": g.Made, "waits": g.Waits} {
				if !strings.Contains(at, "/pools_groups_test.go:") {
					t.Errorf("%s: %s at %q", g.Label, name, at)
				}
			}
			if check.Race {
				continue // each task has a goroutine of its own then
			}
			for _, r := range g.Running {
				check.Equal(t, "its group", r.Group, g.ID)
				want := map[string]string{"inner": "stuckInOne", "outer": "stuckInOther"}[g.Label]
				if r.Waits != "" {
					want = ").Wait\n"
				}
				if stack := r.Stack(); !strings.Contains(stack, want) || strings.Contains(stack, "\n\n") {
					t.Errorf("%s: a stack of\n%s", g.Label, stack)
				}
			}
		}
		close(release)
		check.OK(t, <-done)
		check.Equal(t, "groups afterwards", len(weir.Groups(0)), 0)
		p.Close()
	})
}

func TestAGroupIsListedWhileItsTasksRunThoughNoGoroutineWaits(t *testing.T) {
	weir.Watch()
	synctest.Test(t, func(t *testing.T) {
		for _, tasks := range []int{1, 100} { // the first ones run on plain goroutines
			g := weir.NewGroup(weir.Label(t.Context(), "open"), 200)
			v := check.NewValve()
			for range tasks {
				g.Go(v.Member)
			}
			synctest.Wait()
			_ = weir.Groups(0)
			time.Sleep(time.Second)
			list := weir.Groups(time.Second)
			check.Equal(t, "groups", len(list), 1)
			check.Equal(t, "tasks", list[0].Tasks, tasks)
			check.Equal(t, "tasks that run", len(list[0].Running), tasks)
			check.Equal(t, "place of a wait", list[0].Waits, "")
			v.Open()
			check.OK(t, g.Wait())
			check.Equal(t, "groups afterwards", len(weir.Groups(0)), 0)
		}
	})
}

func TestTasksOfAGroupThatHaveEndedDoNotCount(t *testing.T) {
	weir.Watch()
	for name, inTask := range map[string]bool{"outside": false, "in a task": true} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(1, weir.Measure(1), weir.Queue(weir.Unbounded))
			v := check.NewValve()
			run := func(ctx context.Context) error {
				g := p.Group(ctx)
				for range 1000 {
					g.Go(succeed)
				}
				g.Go(v.Member)
				return g.Wait()
			}
			done := make(chan error)
			go func() {
				if inTask {
					done <- p.Do(t.Context(), run)
				} else {
					done <- run(t.Context())
				}
			}()
			synctest.Wait()
			list := weir.Groups(0)
			check.Equal(t, "groups", len(list), 1)
			check.Equal(t, "tasks", list[0].Tasks, 1)
			v.Open()
			check.OK(t, <-done)
			p.Close()
		})
	}
}

func TestATaskOnAPlainGoroutineIsListedAsWaitingForAGroupOnOthers(t *testing.T) {
	weir.Watch()
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		outer := weir.NewGroup(weir.Label(t.Context(), "outer"), 1)
		outer.Go(func(ctx context.Context) error {
			inner := weir.NewGroup(weir.Label(ctx, "inner"), 1)
			inner.Go(v.Member)
			return inner.Wait()
		})
		synctest.Wait()
		check.Equal(t, "groups", treeOf(weir.Groups(0)), strings.Join([]string{
			`inner in "outer" of worker 1: 1 tasks; waits for ""`,
			`outer in "" of worker 0: 1 tasks; waits for "other"`,
		}, "\n"))
		v.Open()
		check.OK(t, outer.Wait())
	})
}

func TestAGroupIsListedWithTheLinesOfTheProgramThatMadeItAndWait(t *testing.T) {
	weir.Watch()
	p := weir.New(2)
	defer p.Close()
	for name, run := range map[string]func(v *check.Valve){
		"own workers": func(v *check.Valve) {
			g := weir.NewGroup(t.Context(), 1)
			g.Go(v.Member)
			check.OK(t, g.Wait())
		},
		"results": func(v *check.Valve) {
			r := weir.NewResults[int](p.Group(t.Context()))
			r.Go(func(context.Context) (int, error) { return 0, v.Try() })
			_, err := r.Wait()
			check.OK(t, err)
		},
		"range": func(v *check.Valve) {
			r := weir.NewResults[int](p.Group(t.Context()))
			r.Go(func(context.Context) (int, error) { return 0, v.Try() })
			for _, err := range r.All() {
				check.OK(t, err)
			}
		},
		"loop": func(v *check.Valve) { // the library makes the group, and waits
			check.OK(t, par.Each(t.Context(), []int{1, 2}, func(context.Context, int) error { return v.Try() }, par.On(p)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := check.NewValve()
			var done sync.WaitGroup
			done.Go(func() { run(v) })
			var list []weir.GroupInfo
			check.Until(t, "a wait for one group", func() bool {
				list = weir.Groups(0)
				return len(list) == 1 && list[0].Waits != ""
			})
			for what, at := range map[string]string{"made": list[0].Made, "waits": list[0].Waits} {
				if !strings.Contains(at, "/pools_groups_test.go:") {
					t.Errorf("%s at %q", what, at)
				}
			}
			v.Open()
			done.Wait()
		})
	}
}

// The first tasks of a group with workers of its own have none, until they wait.
func TestTasksOnPlainGoroutinesAreListedWithWhatTheyWaitFor(t *testing.T) {
	weir.Watch()
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		v := check.NewValve()
		g := weir.NewGroup(t.Context(), 4)
		g.Go(v.Member)
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			inner.Go(v.Member)
			return inner.Wait()
		})
		synctest.Wait()
		numbers := func() (list []int) {
			for _, info := range weir.Groups(0) {
				if info.Parent != 0 {
					check.Equal(t, "worker of the task that made the inner group", info.ParentWorker, 2)
					continue
				}
				for _, r := range info.Running {
					list = append(list, r.Worker)
				}
			}
			slices.Sort(list)
			return list
		}
		equalSlices(t, "workers", numbers(), []int{1, 2})
		g.Go(func(ctx context.Context) error { // on a worker from its start
			weir.Blocking(ctx, v.Hold)
			return nil
		})
		synctest.Wait()
		time.Sleep(time.Second)
		_ = weir.Groups(0)
		list := numbers()
		check.Equal(t, "tasks that run", len(list), 3)
		check.Equal(t, "workers that have the same number", len(slices.Compact(list)), 3)
		v.Open()
		check.OK(t, g.Wait())
		p.Close()
	})
}

func TestAGroupWhoseNextBatchBeginsDuringWaitIsListed(t *testing.T) {
	weir.Watch()
	for range check.Scale(300, 30) {
		g := weir.NewGroup(t.Context(), 8, weir.Measure(1))
		for range 8 {
			g.Go(untilCancelled)
		}
		v := check.NewValve()
		var next sync.WaitGroup
		g.Cancel(nil)
		next.Go(func() {
			for !g.TryGo(v.Member) {
				runtime.Gosched()
			}
		})
		_ = g.Wait()
		next.Wait()
		check.Until(t, "the task runs", func() bool { return v.Running() == 1 })
		check.Until(t, "it is listed", func() bool {
			return slices.ContainsFunc(weir.Groups(0), func(g weir.GroupInfo) bool { return len(g.Running) == 1 })
		})
		v.Open()
		_ = g.Wait()
	}
}

func TestAGroupWhoseParentsTaskIsOverNamesNoWorker(t *testing.T) {
	weir.Watch()
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		v := check.NewValve()
		outer := p.Group(t.Context())
		var inner *weir.Group
		outer.Go(func(ctx context.Context) error {
			inner = p.Group(ctx)
			inner.Go(v.Member)
			return nil
		})
		synctest.Wait()
		check.OK(t, p.Submit(v.Hold)) // on the worker of the outer task, perhaps
		synctest.Wait()
		check.Equal(t, "tasks that run", v.Running(), 2)
		time.Sleep(time.Second)
		_ = weir.Groups(0)
		time.Sleep(time.Second)
		list := weir.Groups(0)
		check.Equal(t, "groups", len(list), 1)
		check.Equal(t, "worker of the parent", list[0].ParentWorker, 0)
		v.Open()
		check.OK(t, inner.Wait())
		check.OK(t, outer.Wait())
		p.Close()
	})
}

// A plain task on a worker whose last task was a group's is not one of that group.
func TestATaskOfNoGroupIsListedInNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Measure(1))
		g := p.Group(t.Context())
		g.Go(func(context.Context) error { return nil })
		synctest.Wait()
		v := block(t, p, 1)
		time.Sleep(time.Second)
		check.Equal(t, "group", p.Running(0)[0].Group, 0)
		v.Open()
		check.OK(t, g.Wait())
		p.Close()
	})
}
