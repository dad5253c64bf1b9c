package peer

import (
	"context"
	"slices"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

const concModule = "github.com/sourcegraph/conc"

// None of conc's pools can be used after its Wait: each Wait here makes a new one,
// which starts nothing before its first task.
func concPeers() []Peer {
	return []Peer{
		{
			Name: "conc", Module: concModule, About: "pool.New, Go, Wait; a new pool after each Wait",
			Open: func(limit int, work Work) Runner {
				return &concPool{newConc(limit), limit, plain{work}}
			},
			New: func(limit int) func() { return newConc(limit).Wait },
		},
		{
			Name: "conc.error", Module: concModule, About: "WithErrors; a new pool after each Wait",
			Open: func(limit int, work Work) Runner {
				return &concError{newConcError(limit), limit, work.failing()}
			},
			New: func(limit int) func() {
				errors := newConcError(limit)
				return func() { must(errors.Wait()) }
			},
		},
		{
			Name: "conc.context", Module: concModule,
			About: "WithContext, WithCancelOnError, WithFirstError; a new pool after each Wait",
			Open: func(limit int, work Work) Runner {
				return groupRunner{openConcContext(context.Background(), limit, work.forGroup())}
			},
			Group: openConcContext,
			Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
				results := newConcResults().WithContext(context.Background()).WithCancelOnError().WithFirstError().WithMaxGoroutines(limit)
				for i := range n {
					results.Go(func(context.Context) (numbered, error) { return number(i, fn) })
				}
				found, err := results.Wait()
				return inOrder(n, found), err
			},
			New: func(limit int) func() {
				group := newConcContext(context.Background(), limit)
				return func() { must(group.Wait()) }
			},
		},
		{
			Name: "conc.stream", Module: concModule,
			About: "stream.New, callbacks that do nothing but consume; a new stream after each Wait",
			Open: func(limit int, work Work) Runner {
				return &concStream{newConcStream(limit), limit, work, func() stream.Callback {
					work.Same()
					return nothing
				}}
			},
			New:    func(limit int) func() { return newConcStream(limit).Wait },
			Stream: streamConc,
		},
		{
			Name: "conc.result", Module: concModule,
			About: "pool.NewWithResults, a number from each task; a new pool after each Wait",
			Open: func(limit int, work Work) Runner {
				return &concResult{newConcResult(limit), limit, work.valued()}
			},
			New: func(limit int) func() {
				results := newConcResult(limit)
				return func() { results.Wait() }
			},
			Collect: func(limit, n int, fn func(int) (int, error)) ([]int, error) {
				results := newConcResults().WithErrors().WithFirstError().WithMaxGoroutines(limit)
				for i := range n {
					results.Go(func() (numbered, error) { return number(i, fn) })
				}
				found, err := results.Wait()
				return inOrder(n, found), err
			},
		},
		{
			Name: "conc.waitgroup", Module: concModule, About: "WaitGroup, Go, Wait",
			Fibonacci: func(_, n int) int { return fibonacciConc(n) },
			Sort:      func(_ int, items []int) { sortConc(items) },
		},
		{
			Name: "conc.iter", Module: concModule, About: "iter.Iterator, ForEach",
			Loop: func(limit int, items []float64, body Body) func() {
				return func() { iter.Iterator[float64]{MaxGoroutines: limit}.ForEach(items, body.Item) }
			},
		},
	}
}

// fibonacciConc makes a WaitGroup for each number: a pool that all share would wait
// for itself.
func fibonacciConc(n int) int {
	if n < 2 {
		return n
	}
	var x, y int
	var both conc.WaitGroup
	both.Go(func() { x = fibonacciConc(n - 1) })
	both.Go(func() { y = fibonacciConc(n - 2) })
	both.Wait()
	return x + y
}

func sortConc(items []int) {
	if len(items) < divisible {
		slices.Sort(items)
		return
	}
	low, high := partition(items)
	var both conc.WaitGroup
	both.Go(func() { sortConc(low) })
	both.Go(func() { sortConc(high) })
	both.Wait()
}

// A numbered value says whose it is: conc's pools return values in no order.
type numbered struct{ number, value int }

func number(i int, fn func(i int) (int, error)) (numbered, error) {
	value, err := fn(i)
	return numbered{i, value}, err
}

func newConcResults() *pool.ResultPool[numbered] { return pool.NewWithResults[numbered]() }

// inOrder puts the values of n tasks in the order of their numbers.
func inOrder(n int, found []numbered) []int {
	values := make([]int, n)
	for _, f := range found {
		values[f.number] = f.value
	}
	return values
}

func streamConc(limit, n int, fn func(i int) int, consume func(value int)) {
	s := newConcStream(limit)
	for i := range n {
		s.Go(func() stream.Callback {
			value := fn(i)
			return func() { consume(value) }
		})
	}
	s.Wait()
}

func newConc(limit int) *pool.Pool { return pool.New().WithMaxGoroutines(limit) }

func newConcError(limit int) *pool.ErrorPool {
	return pool.New().WithErrors().WithMaxGoroutines(limit)
}

func newConcContext(ctx context.Context, limit int) *pool.ContextPool {
	return pool.New().WithContext(ctx).WithCancelOnError().WithFirstError().WithMaxGoroutines(limit)
}

func newConcStream(limit int) *stream.Stream { return stream.New().WithMaxGoroutines(limit) }

func newConcResult(limit int) *pool.ResultPool[int] {
	return pool.NewWithResults[int]().WithMaxGoroutines(limit)
}

type concPool struct {
	pool  *pool.Pool
	limit int
	tasks plain
}

func (r *concPool) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.pool.Go(r.tasks.task(i))
	}
}

func (r *concPool) Wait() {
	r.pool.Wait()
	r.pool = newConc(r.limit)
}

func (*concPool) Close() {}

type concError struct {
	pool  *pool.ErrorPool
	limit int
	tasks *failing
}

func (r *concError) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.pool.Go(r.tasks.task(i))
	}
}

func (r *concError) Wait() {
	must(r.pool.Wait())
	r.pool = newConcError(r.limit)
}

func (*concError) Close() {}

type concContext struct {
	pool   *pool.ContextPool
	parent context.Context
	limit  int
	work   GroupWork
}

func openConcContext(ctx context.Context, limit int, work GroupWork) Group {
	return &concContext{newConcContext(ctx, limit), ctx, limit, work}
}

func (g *concContext) Submit(lo, hi int) {
	if task := g.work.Same; task != nil {
		for range hi - lo {
			g.pool.Go(task)
		}
		return
	}
	for i := lo; i < hi; i++ {
		g.pool.Go(func(ctx context.Context) error { return g.work.Each(ctx, i) })
	}
}

func (g *concContext) Wait() error {
	err := g.pool.Wait()
	g.pool = newConcContext(g.parent, g.limit)
	return err
}

// Close cancels the context of a pool that has no tasks.
func (g *concContext) Close() { must(g.pool.Wait()) }

type concStream struct {
	stream *stream.Stream
	limit  int
	work   Work
	same   stream.Task
}

func nothing() {}

func (r *concStream) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.stream.Go(r.task(i))
	}
}

func (r *concStream) task(i int) stream.Task {
	if r.work.Same != nil {
		return r.same
	}
	return func() stream.Callback {
		r.work.Each(i)
		return nothing
	}
}

func (r *concStream) Wait() {
	r.stream.Wait()
	r.stream = newConcStream(r.limit)
}

func (*concStream) Close() {}

type concResult struct {
	pool  *pool.ResultPool[int]
	limit int
	tasks *valued
}

func (r *concResult) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.pool.Go(r.tasks.task(i))
	}
}

func (r *concResult) Wait() {
	r.pool.Wait()
	r.pool = newConcResult(r.limit)
}

func (*concResult) Close() {}
