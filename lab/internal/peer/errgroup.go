package peer

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// errgroupPeers make a new group after each Wait: the documentation says not to reuse a group for other tasks.
func errgroupPeers() []Peer {
	plain := remade("errgroup", "SetLimit, Go, Wait; a new group after each Wait", failing, newErrgroup, (*errgroup.Group).Wait)
	plain.Group, plain.Collect = openErrgroupGroup, collectErrgroup
	plain.Fibonacci = func(_, n int) int { return fibonacciErrgroup(n) }
	plain.Sort = func(_ int, items []int) { must(sortErrgroup(items)) }
	return []Peer{
		plain,
		{
			Name: "errgroup.context", About: "WithContext, SetLimit, Go, Wait; a new group after each Wait",
			Set: func(limit int, task func()) Runner {
				newGroup := func() *errgroup.Group {
					group, _ := errgroup.WithContext(context.Background())
					group.SetLimit(limit)
					return group
				}
				return openSets(failing(task), newGroup, (*errgroup.Group).Wait)
			},
		},
		{
			Name:  "errgroup.waitgroup",
			About: "SetLimit, Go of one group for good, and a WaitGroup that waits",
			Open:  openErrgroupCounted,
		},
	}
}

func newErrgroup(limit int) *errgroup.Group {
	group := new(errgroup.Group)
	group.SetLimit(limit)
	return group
}

// fibonacciErrgroup makes a group for each number: a group with a limit that all numbers share would wait for
// itself.
func fibonacciErrgroup(n int) int {
	if n < 2 {
		return n
	}
	var x, y int
	var both errgroup.Group
	both.Go(func() error { x = fibonacciErrgroup(n - 1); return nil })
	both.Go(func() error { y = fibonacciErrgroup(n - 2); return nil })
	must(both.Wait())
	return x + y
}

func sortErrgroup(items []int) error {
	if len(items) < divisible {
		slices.Sort(items)
		return nil
	}
	low, high := partition(items)
	var both errgroup.Group
	both.Go(func() error { return sortErrgroup(low) })
	both.Go(func() error { return sortErrgroup(high) })
	return both.Wait()
}

// collectErrgroup has a slot for each task's value.
func collectErrgroup(limit, n int, fn func(i int) (int, error)) ([]int, error) {
	values := make([]int, n)
	group := newErrgroup(limit)
	for i := range n {
		group.Go(func() (err error) {
			values[i], err = fn(i)
			return err
		})
	}
	err := group.Wait()
	return values, err
}

// openErrgroupGroup makes a new group after each Wait, as the context of the old group is cancelled.
func openErrgroupGroup(parent context.Context, limit int, work GroupWork) Runner {
	return openGroups(func() (*errgroup.Group, tasks[func() error]) {
		g, ctx := errgroup.WithContext(parent)
		g.SetLimit(limit)
		return g, work.bound(ctx)
	}, (*errgroup.Group).Wait)
}

func openErrgroupCounted(limit int, task func()) Runner {
	g := newErrgroup(limit)
	task, live := counted(task)
	failing := failing(task)
	return runner{live: live, submit: func(lo, hi int) {
		for range hi - lo {
			g.Go(failing)
		}
	}, close: func() { must(g.Wait()) }}
}
