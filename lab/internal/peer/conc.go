package peer

import (
	"context"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

// concPeers make a new pool in each Wait, because a pool of conc cannot be used after its Wait. A new pool
// starts nothing before its first task.
func concPeers() []Peer {
	inContext := remade("conc.context", "WithContext, WithCancelOnError, WithFirstError; a new pool after each Wait",
		member, func(limit int) *pool.ContextPool { return newConcContext(context.Background(), limit) }, (*pool.ContextPool).Wait)
	inContext.Group = func(ctx context.Context, limit int, work GroupWork) Runner {
		return openGroups(func() (*pool.ContextPool, tasks[func(context.Context) error]) {
			return newConcContext(ctx, limit), work.plain()
		}, (*pool.ContextPool).Wait)
	}
	inContext.Collect = func(limit, n int, fn func(int) (int, error)) ([]int, error) {
		results := newConcResults().WithContext(context.Background()).WithCancelOnError().WithFirstError().WithMaxGoroutines(limit)
		for i := range n {
			results.Go(func(context.Context) (numbered, error) { return number(i, fn) })
		}
		found, err := results.Wait()
		return inOrder(n, found), err
	}
	inStream := remade("conc.stream", "stream.New, callbacks that do nothing but consume; a new stream after each Wait",
		func(task func()) stream.Task {
			return func() stream.Callback {
				task()
				return func() {}
			}
		}, newConcStream, silent((*stream.Stream).Wait))
	inStream.Stream = streamConc
	results := remade("conc.result", "pool.NewWithResults, a number from each task; a new pool after each Wait", valued,
		func(limit int) *pool.ResultPool[int] { return pool.NewWithResults[int]().WithMaxGoroutines(limit) },
		silent(func(p *pool.ResultPool[int]) { p.Wait() }))
	results.Collect = func(limit, n int, fn func(int) (int, error)) ([]int, error) {
		results := newConcResults().WithErrors().WithFirstError().WithMaxGoroutines(limit)
		for i := range n {
			results.Go(func() (numbered, error) { return number(i, fn) })
		}
		found, err := results.Wait()
		return inOrder(n, found), err
	}
	return []Peer{
		remade("conc", "pool.New, Go, Wait; a new pool after each Wait", plain,
			func(limit int) *pool.Pool { return pool.New().WithMaxGoroutines(limit) }, silent((*pool.Pool).Wait)),
		remade("conc.error", "WithErrors; a new pool after each Wait", failing,
			func(limit int) *pool.ErrorPool { return pool.New().WithErrors().WithMaxGoroutines(limit) }, (*pool.ErrorPool).Wait),
		inContext, inStream, results,
		{
			Name: "conc.waitgroup", About: "WaitGroup, Go, Wait",
			Fibonacci: func(_, n int) int { return bothConc.fibonacci(n) },
			Sort:      func(_ int, items []int) { bothConc.sort(items) },
		},
		{
			Name: "conc.iter", About: "iter.Iterator, ForEach",
			Loop: func(limit int, items []float64, body Body) func() {
				return func() { iter.Iterator[float64]{MaxGoroutines: limit}.ForEach(items, body.Item) }
			},
		},
	}
}

var bothConc fork = func(f, g func()) {
	var both conc.WaitGroup
	both.Go(f)
	both.Go(g)
	both.Wait()
}

// A numbered value is a value with the number of its task, because conc's pools return values in no order.
type numbered struct{ number, value int }

func number(i int, fn func(i int) (int, error)) (numbered, error) {
	value, err := fn(i)
	return numbered{i, value}, err
}

func newConcResults() *pool.ResultPool[numbered] { return pool.NewWithResults[numbered]() }

// inOrder returns the values of n tasks in the order of their numbers.
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

func newConcContext(ctx context.Context, limit int) *pool.ContextPool {
	return pool.New().WithContext(ctx).WithCancelOnError().WithFirstError().WithMaxGoroutines(limit)
}

func newConcStream(limit int) *stream.Stream { return stream.New().WithMaxGoroutines(limit) }
