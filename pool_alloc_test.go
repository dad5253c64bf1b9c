package weir_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// TestAllocationBudgets holds what the docstrings say about allocation. Under the
// race detector, which allocates itself, it only runs the operations.
func TestAllocationBudgets(t *testing.T) {
	ctx := context.Background()
	runs, ops := check.Scale(5, 2), 1000
	if check.Race {
		runs, ops = 1, 10 // nothing is measured
	}
	for _, queue := range []int{0, 1, 64, 1024, weir.Unbounded} {
		for _, limit := range []int{1, 4, 64} {
			p := weir.New(limit, weir.Queue(queue))
			f := weir.NewFunc(limit, func(task func()) { task() }, weir.Queue(queue))
			warm(t, p.Submit, p.Stats, limit, queue)
			warm(t, f.Invoke, f.Stats, limit, queue)
			s := weir.NewStateful(limit, func() (int, error) { return 0, nil }, func(_ int, task func()) { task() }, nil, weir.Queue(queue))
			warm(t, s.Invoke, s.Stats, limit, queue)
			waiting := p.Group(ctx)
			limited := p.Group(ctx, weir.Limit(2))
			greet(t, waiting, limit)
			var g *weir.Group
			for _, budget := range []struct {
				name string
				most float64
				op   func()
			}{
				{"Submit", 0, func() { check.OK(t, p.Submit(nothing)) }},
				{"SubmitContext", 0, func() { check.OK(t, p.SubmitContext(ctx, nothing)) }},
				{"TrySubmit", 0, func() { _ = p.TrySubmit(nothing) }},
				{"Invoke", 0, func() { check.OK(t, f.Invoke(nothing)) }},
				{"InvokeContext", 0, func() { check.OK(t, f.InvokeContext(ctx, nothing)) }},
				{"TryInvoke", 0, func() { _ = f.TryInvoke(nothing) }},
				{"Stateful.Invoke", 0, func() { check.OK(t, s.Invoke(nothing)) }},
				{"Group.Go", 0, func() { g.Go(succeed) }},
				{"Group.TryGo", 0, func() { g.TryGo(succeed) }},
			} {
				for _, group := range []*weir.Group{waiting, limited} {
					g = group
					each := func() {
						for range ops {
							budget.op()
						}
					}
					each()
					got := testing.AllocsPerRun(runs, each) / float64(ops)
					if got > budget.most+slack && !check.Race {
						t.Errorf("%s, limit %d, queue %s: %.3f allocations, not %g", budget.name, limit, queueName(queue), got, budget.most)
					}
					if budget.name != "Group.Go" && budget.name != "Group.TryGo" {
						break
					}
				}
				p.Wait()
				f.Wait()
				s.Wait()
			}
			check.OK(t, waiting.Wait())
			check.OK(t, limited.Wait())
			p.Close()
			f.Close()
			s.Close()
		}
	}
}

// slack is for what comes now and then: a timer for idle workers, a larger ring
// of an unbounded queue.
const slack = 0.02

// warm has a pool start all its workers, fill its queue, and become idle.
func warm(t *testing.T, submit func(func()) error, stats func() weir.Stats, limit, queue int) {
	t.Helper()
	v := check.NewValve()
	for range limit + min(queue, 10_000) {
		check.OK(t, submit(v.Hold))
	}
	eventually(t, "all workers run", func() bool { return v.Running() == limit })
	v.Open()
	eventually(t, "all workers rest", func() bool { return stats().Idle == limit })
}

// greet has each worker run a task of the group: the first on a worker makes its context.
func greet(t *testing.T, g *weir.Group, limit int) {
	t.Helper()
	v := check.NewValve()
	for range limit {
		g.Go(v.Member)
	}
	eventually(t, "all workers run", func() bool { return v.Running() == limit })
	v.Open()
	eventually(t, "all tasks have ended", func() bool { return int(v.Ended.Load()) == limit })
}

// It runs in a process of its own, as a group allocates more once the program has called Watch.
func TestASmallGroupAllocatesLittle(t *testing.T) {
	output, err := check.Child(t, "small groups")
	check.OK(t, err)
	check.Equal(t, "said", output, "")
}

// allocateSmallGroups prints which groups allocate more than they may.
func allocateSmallGroups() {
	p := weir.New(2)
	defer p.Close()
	background := context.Background()
	parent, cancel := context.WithCancel(background)
	defer cancel()
	again := p.Group(background)
	for name, group := range map[string]struct {
		tasks, most int
		make        func() *weir.Group
	}{
		"on a pool":                         {3, 4, func() *weir.Group { return p.Group(background) }},
		"on a pool, and its parent may end": {3, 9, func() *weir.Group { return p.Group(parent) }},
		"used again":                        {10, 3, func() *weir.Group { return again }},
		"of its own workers, for one task":  {1, 4, func() *weir.Group { return weir.NewGroup(background, 2) }},
	} {
		got := testing.AllocsPerRun(200, func() {
			g := group.make()
			for range group.tasks {
				g.Go(succeed)
			}
			must(g.Wait())
		})
		if got > float64(group.most) && !check.Race {
			fmt.Printf("%s: %.1f allocations, more than %d\n", name, got, group.most)
		}
	}
}

func TestStatsAndControlsAllocateNothing(t *testing.T) {
	p := weir.New(4)
	defer p.Close()
	check.OK(t, p.Submit(nothing))
	for name, op := range map[string]func(){
		"Stats":  func() { runtime.KeepAlive(p.Stats()) },
		"Resize": func() { p.Resize(3); p.Resize(4) },
		"Pause":  func() { p.Pause(); p.Resume() },
	} {
		if got := testing.AllocsPerRun(100, op); got >= 1 && !check.Race {
			t.Errorf("%s: %.1f allocations", name, got)
		}
	}
}

func TestShutdownMakesItsListOnce(t *testing.T) {
	const n = 100_000
	over, cancel := context.WithCancel(t.Context())
	cancel()
	p := weir.New(1, weir.Queue(weir.Unbounded))
	f := weir.NewFunc(1, func(func()) {}, weir.Queue(weir.Unbounded))
	p.Pause()
	f.Pause()
	for range n {
		check.OK(t, p.Submit(nothing))
		check.OK(t, f.Invoke(nothing))
	}
	for name, shutdown := range map[string]func(context.Context) ([]func(), error){"Pool": p.Shutdown, "FuncPool": f.Shutdown} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		unrun, _ := shutdown(over)
		runtime.ReadMemStats(&after)
		check.Equal(t, "handed back", len(unrun), n)
		if got := (after.TotalAlloc - before.TotalAlloc) / n; got > 32 && !check.Race { // 24 bytes for a task, and 8 for what is returned
			t.Errorf("%s: %d bytes for each task", name, got)
		}
	}
}
