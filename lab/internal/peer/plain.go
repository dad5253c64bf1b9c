package peer

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// plainPeers are the ways that need no library.
func plainPeers() []Peer {
	open := func(_ int, work Work) Runner { return goroutines{work.counted()} }
	return []Peer{
		{
			Name: Go, About: "a go statement for each task, and a WaitGroup", Unlimited: true,
			Open: open, Queued: unbounded(open),
			Loop:      handSplit,
			Collect:   func(_, n int, fn func(int) (int, error)) ([]int, error) { return collectGo(n, fn) },
			Stream:    streamGo,
			Fibonacci: func(_, n int) int { return fibonacciGo(n) },
			Sort:      func(_ int, items []int) { sortGo(items) },
		},
		{
			Name: "semaphore", About: "a go statement for each task, below a limit kept by a buffered channel",
			Open: openSemaphore,
			Group: func(ctx context.Context, limit int, work GroupWork) Group {
				g := &semaphoreGroup{parent: ctx, slots: make(chan struct{}, limit), work: work}
				g.renew()
				return g
			},
			Collect: collectSemaphore,
		},
		{
			Name: InPlace, About: "no concurrency: what the work itself takes",
			Open: func(_ int, work Work) Runner { return inPlace{work} },
			Loop: func(_ int, items []float64, body Body) func() {
				return func() {
					for i := range items {
						body.Item(&items[i])
					}
				}
			},
			Fibonacci: func(_, n int) int { return fibonacci(n) },
			Sort:      func(_ int, items []int) { slices.Sort(items) },
		},
	}
}

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func fibonacciGo(n int) int {
	if n < 2 {
		return n
	}
	var x, y int
	var both sync.WaitGroup
	both.Go(func() { x = fibonacciGo(n - 1) })
	both.Go(func() { y = fibonacciGo(n - 2) })
	both.Wait()
	return x + y
}

func sortGo(items []int) {
	if len(items) < divisible {
		slices.Sort(items)
		return
	}
	low, high := partition(items)
	var both sync.WaitGroup
	both.Go(func() { sortGo(low) })
	both.Go(func() { sortGo(high) })
	both.Wait()
}

// collectGo has a place for each task's value and error.
func collectGo(n int, fn func(i int) (int, error)) ([]int, error) {
	values, errs := make([]int, n), make([]error, n)
	var live sync.WaitGroup
	for i := range n {
		live.Go(func() { values[i], errs[i] = fn(i) })
	}
	live.Wait()
	return values, errors.Join(errs...)
}

func collectSemaphore(limit, n int, fn func(i int) (int, error)) ([]int, error) {
	values, errs := make([]int, n), make([]error, n)
	slots := make(chan struct{}, limit)
	var live sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		live.Go(func() {
			values[i], errs[i] = fn(i)
			<-slots
		})
	}
	live.Wait()
	return values, errors.Join(errs...)
}

// streamGo is the ordered stream that is written by hand: a channel of channels, each
// for one value. It holds one task less than the limit, as one more is waited for.
func streamGo(limit, n int, fn func(i int) int, consume func(value int)) {
	inOrder := make(chan chan int, limit-1)
	go func() {
		defer close(inOrder)
		for i := range n {
			value := make(chan int, 1)
			inOrder <- value
			go func() { value <- fn(i) }()
		}
	}()
	for value := range inOrder {
		consume(<-value)
	}
}

type goroutines struct{ *counted }

func (r goroutines) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		go r.task(i)()
	}
}

func (goroutines) Close() {}

type semaphore struct {
	work  Work
	same  func()
	slots chan struct{}
	live  sync.WaitGroup
}

func openSemaphore(limit int, work Work) Runner {
	r := &semaphore{work: work, slots: make(chan struct{}, limit)}
	r.same = func() {
		work.Same()
		r.end()
	}
	return r
}

func (r *semaphore) Submit(lo, hi int) {
	r.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		r.slots <- struct{}{}
		go r.task(i)()
	}
}

func (r *semaphore) task(i int) func() {
	if r.work.Same != nil {
		return r.same
	}
	return func() {
		r.work.Each(i)
		r.end()
	}
}

func (r *semaphore) end() {
	<-r.slots
	r.live.Done()
}

func (r *semaphore) Wait() { r.live.Wait() }
func (*semaphore) Close()  {}

// semaphoreGroup is what a group is when written by hand: the first error is the
// cause that cancels the context of all.
type semaphoreGroup struct {
	parent context.Context
	slots  chan struct{}
	live   sync.WaitGroup
	cancel context.CancelCauseFunc
	work   GroupWork
	tasks  *bound
}

func (g *semaphoreGroup) renew() {
	ctx, cancel := context.WithCancelCause(g.parent)
	g.cancel, g.tasks = cancel, g.work.bound(ctx)
}

func (g *semaphoreGroup) Submit(lo, hi int) {
	g.live.Add(hi - lo)
	for i := lo; i < hi; i++ {
		task := g.tasks.task(i)
		g.slots <- struct{}{}
		go func() {
			if err := task(); err != nil {
				g.cancel(err)
			}
			<-g.slots
			g.live.Done()
		}()
	}
}

func (g *semaphoreGroup) Wait() error {
	g.live.Wait()
	err := context.Cause(g.tasks.ctx)
	g.cancel(nil)
	g.renew()
	return err
}

func (g *semaphoreGroup) Close() { g.cancel(nil) }

type inPlace struct{ work Work }

func (r inPlace) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		if r.work.Same != nil {
			r.work.Same()
		} else {
			r.work.Each(i)
		}
	}
}

func (inPlace) Wait()  {}
func (inPlace) Close() {}

// handSplit is the loop as programmers write it by hand: one goroutine for each
// worker, with an equal share of the items.
func handSplit(limit int, items []float64, body Body) func() {
	limit = min(limit, len(items))
	return func() {
		var live sync.WaitGroup
		for k := range limit {
			part := items[k*len(items)/limit : (k+1)*len(items)/limit]
			live.Go(func() {
				for i := range part {
					body.Item(&part[i])
				}
			})
		}
		live.Wait()
	}
}
