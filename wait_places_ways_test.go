package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

// waitTask is what a task does, one step after the other.
type waitTask []waitStep

// waitStep is a step of a task: most of the ways wait for tasks.
type waitStep struct {
	way   waitWay
	on    int           // the index of a pool
	n     int           // a limit less one, a key, or a queue
	cut   time.Duration // after which the wait is over; 0 for never
	rest  time.Duration // of a task in Blocking, and the like
	tasks []waitTask
}

type waitWay string

const (
	bySleep    waitWay = "sleep"
	byBlocking waitWay = "Blocking"
	byCall     waitWay = "Stateful.Call"
	byEmpty    waitWay = "future and Once without tasks in them"
	byGroup    waitWay = "group"
	byLimit    waitWay = "group with a limit"
	byDo       waitWay = "Do"
	byNewGroup waitWay = "NewGroup"
	byStream   waitWay = "stream"
	bySequence waitWay = "Each of a sequence"
	bySlice    waitWay = "Each of a slice"
	byResults  waitWay = "All"
	byFirst    waitWay = "First"
	byLeaving  waitWay = "All, left at once"
	byKeyed    waitWay = "group of a key"
	byForking  waitWay = "goroutines of its own"
	byPlain    waitWay = "goroutines of its own, and Blocking until a task has run that none waits for"
	byFunction waitWay = "FuncContext.Go"
	byFuture   waitWay = "future"
	byHedge    waitWay = "Hedge"
	byOnce     waitWay = "Once"
	byRetry    waitWay = "Retry"
	byGo       waitWay = "Go"
	byKeyedGo  waitWay = "Keyed.Go"
)

var (
	waysOfNone = []waitWay{byBlocking, byBlocking, byBlocking, byBlocking, bySleep, byCall, byEmpty}
	waysOfOne  = []waitWay{byDo, byFuture, byHedge, byOnce, byRetry, byGo, byKeyedGo}
	waysOfSome = []waitWay{byGroup, byLimit, byNewGroup, byStream, bySequence, bySlice, byResults, byFirst, byLeaving, byKeyed, byForking, byPlain, byFunction}
	waysOfBoth = slices.Concat(waysOfOne, waysOfSome)
)

// waitRole is what the task of a tree may not do.
type waitRole struct {
	holds bool // it has a lock
	held  bool // it or a task that waits for it has a lock
	inner bool // a task may wait for it
}

// may reports whether the task may do what the way says.
func (r waitRole) may(way waitWay) bool {
	switch way {
	case byBlocking:
		return !r.holds // tasks that want the lock may take all places
	case byForking:
		return !r.held // while a goroutine waits, the task may have no place
	case byPlain:
		return !r.inner // its waiter may have the place that the plain task needs
	}
	return true
}

// under returns the role of what the task waits for in that way.
func (r waitRole) under(way waitWay) waitRole {
	return waitRole{holds: r.holds && way == byDo, held: r.held, inner: true}
}

// drawTask draws a task and what it waits for.
func (f *waitForest) drawTask(r *rand.Rand, depth int, role waitRole) (t waitTask) {
	for range 1 + r.IntN(2) {
		family := len(f.pools) - 2
		s := waitStep{on: r.IntN(family), n: r.IntN(3), rest: time.Duration(r.IntN(20)) * time.Second}
		if f.cuts && r.IntN(4) == 0 {
			s.cut = time.Duration(1+r.IntN(30)) * time.Second
		}
		ways, n := f.ways, 1
		if depth == 0 || r.IntN(4) == 0 || !role.holds && r.IntN(2) == 0 {
			ways, n = waysOfNone, 0
		}
		for s.way == "" || !role.may(s.way) {
			s.way = ways[r.IntN(len(ways))]
		}
		if slices.Contains([]waitWay{byGroup, byLimit, byDo}, s.way) && r.IntN(6) == 0 {
			s.on = family + r.IntN(2)
		}
		if slices.Contains(waysOfSome, s.way) && r.IntN(3) == 0 {
			n = 2
		}
		for range n {
			s.tasks = append(s.tasks, f.drawTask(r, depth-1, role.under(s.way)))
		}
		t = append(t, s)
	}
	return t
}

// do does what a task does.
func (w *waitWorld) do(ctx context.Context, t waitTask) error {
	for _, s := range t {
		if err := w.step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// step does a step of a task.
func (w *waitWorld) step(ctx context.Context, s waitStep) error {
	if s.cut > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.cut)
		defer cancel()
	}
	on := w.pools[s.on]
	each := func(ctx context.Context, i int) error { return w.do(ctx, s.tasks[i]) }
	first := func(ctx context.Context) error { return each(ctx, 0) }
	valued := func(ctx context.Context) (int, error) { return 0, first(ctx) }
	wait := func(g *weir.Group) error {
		for i := range s.tasks {
			g.Go(func(ctx context.Context) error { return each(ctx, i) })
		}
		return g.Wait()
	}
	results := func() *weir.Results[int] {
		results := weir.NewResults[int](on.Group(ctx))
		for i := range s.tasks {
			results.Go(func(ctx context.Context) (int, error) { return i, each(ctx, i) })
		}
		return results
	}
	switch s.way {
	case bySleep:
		time.Sleep(s.rest)
	case byBlocking:
		weir.Blocking(ctx, func() { time.Sleep(s.rest) })
	case byCall:
		calls := weir.NewStateful(1+s.n, func() (int, error) { return 0, nil }, func(int, int) { time.Sleep(s.rest) }, nil)
		defer calls.Close()
		return calls.Call(ctx, 1)
	case byEmpty:
		none := func(context.Context) (int, error) { return 0, nil }
		_, once := weir.NewOnce[int, int](on).Do(ctx, 1, none)
		_, future := weir.Async(ctx, on, none).Get(ctx)
		return errors.Join(once, future)
	case byGroup:
		return wait(on.Group(ctx))
	case byLimit:
		return wait(on.Group(ctx, weir.Limit(1+s.n)))
	case byDo:
		return on.Do(ctx, first)
	case byNewGroup:
		return wait(weir.NewGroup(ctx, 1+s.n, weir.Queue(s.n)))
	case byStream:
		same := func(_ context.Context, i int) (int, error) { return i, nil }
		numbers := par.Pipe(par.Pipe([]int{0, 1, 2}, same, par.On(on)), same, par.On(on))
		for _, err := range par.Stream(ctx, numbers, func(ctx context.Context, i int) (int, error) { return i, each(ctx, i%len(s.tasks)) }, par.On(on)) {
			if err != nil {
				return err
			}
		}
	case bySequence:
		return par.Each(ctx, slices.Values(s.tasks), w.do, par.Limit(1+s.n))
	case bySlice:
		return par.Each(ctx, s.tasks, w.do, par.On(on))
	case byResults:
		for _, err := range results().All() {
			if err != nil {
				return err
			}
		}
	case byFirst:
		_, err := results().First()
		return err
	case byLeaving:
		for range results().All() { //nolint:errcheck // left before there is one
			break
		}
	case byKeyed:
		return wait(w.keys[s.on].Group(ctx, s.n%2))
	case byForking, byPlain:
		var group sync.WaitGroup
		var plain error
		errs := make([]error, len(s.tasks))
		for i := range s.tasks {
			group.Go(func() { errs[i] = each(ctx, i) })
		}
		weir.Blocking(ctx, func() {
			if s.way == byPlain {
				ran := make(chan struct{})
				plain = on.Submit(func() { close(ran) })
				<-ran
			}
			group.Wait()
		})
		return errors.Join(append(errs, plain)...)
	case byFunction:
		f := weir.NewFuncContext(1+s.n, each, weir.On(on), weir.Queue(s.n), weir.OnError(func(error) {}))
		for i := range s.tasks {
			if err := f.Go(ctx, i); err != nil {
				return err
			}
		}
	case byFuture:
		_, err := weir.Async(ctx, on, valued).Get(ctx)
		return err
	case byHedge:
		_, err := weir.Hedge(ctx, on, s.rest, valued, valued)
		return err
	case byOnce:
		_, err := weir.NewOnce[int, int](on).Do(ctx, 1, valued)
		return err
	case byRetry:
		g, tries := on.Group(ctx, weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Second})), 0
		g.Go(func(ctx context.Context) error {
			if tries++; tries < 3 {
				return errors.New("again")
			}
			return first(ctx)
		})
		return g.Wait()
	case byGo:
		return on.Go(ctx, first)
	case byKeyedGo:
		return w.keys[s.on].Go(ctx, s.n%2, first)
	}
	return nil
}

// tell returns the task, a line for each step.
func (t waitTask) tell(indent string) string {
	var b strings.Builder
	for _, s := range t {
		fmt.Fprintf(&b, "%s%s, pool %d, n %d, cut %v, rest %v\n", indent, s.way, s.on, s.n, s.cut, s.rest)
		for i, task := range s.tasks {
			if i > 0 {
				fmt.Fprintf(&b, "%s and\n", indent)
			}
			b.WriteString(task.tell(indent + "    "))
		}
	}
	return b.String()
}

// clone returns a deep copy.
func (t waitTask) clone() waitTask {
	c := slices.Clone(t)
	for i := range c {
		c[i].tasks = slices.Clone(c[i].tasks)
		for j := range c[i].tasks {
			c[i].tasks[j] = c[i].tasks[j].clone()
		}
	}
	return c
}

// edits returns functions of which each makes the task smaller.
func (t *waitTask) edits(role waitRole) (edits []func()) {
	for i := range *t {
		s := &(*t)[i]
		edits = append(edits, func() { *t = slices.Delete(*t, i, i+1) })
		for j := range s.tasks {
			if !role.holds || s.way == byDo { // else its Blocking would be that of the task with the lock
				edits = append(edits, func() { *t = slices.Replace(*t, i, i+1, s.tasks[j]...) })
			}
			if len(s.tasks) > 1 {
				edits = append(edits, func() { s.tasks = s.tasks[j : j+1] })
			}
		}
		if s.way != byGroup && len(s.tasks) > 0 {
			edits = append(edits, func() { s.way = byGroup })
		}
		if s.cut > 0 {
			edits = append(edits, func() { s.cut = 0 })
		}
		for j := range s.tasks {
			edits = append(edits, s.tasks[j].edits(role.under(s.way))...)
		}
	}
	return edits
}
