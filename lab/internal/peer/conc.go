package peer

import (
	"context"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/iter"
	"github.com/sourcegraph/conc/pool"
	"github.com/sourcegraph/conc/stream"
)

const concModule = "github.com/sourcegraph/conc"

// concPeers make a new pool in each Wait, because a pool of conc cannot be used after its Wait. A new pool
// starts nothing before its first task.
func concPeers() []Peer {
	return []Peer{
		{
			Name: "conc", Module: concModule, About: "pool.New, Go, Wait; a new pool after each Wait",
			Open: openConc,
			New:  func(limit int) func() { return newConc(limit).Wait },
		},
		{
			Name: "conc.error", Module: concModule, About: "WithErrors; a new pool after each Wait",
			Open: openConcError,
			New: func(limit int) func() {
				errors := newConcError(limit)
				return func() { must(errors.Wait()) }
			},
		},
		{
			Name: "conc.context", Module: concModule,
			About: "WithContext, WithCancelOnError, WithFirstError; a new pool after each Wait",
			Open: func(limit int, work Work) Runner {
				return openConcContext(context.Background(), limit, work.forGroup())
			},
			Group: func(ctx context.Context, limit int, work GroupWork) Runner {
				return openConcContext(ctx, limit, work)
			},
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
			About:  "stream.New, callbacks that do nothing but consume; a new stream after each Wait",
			Open:   openConcStream,
			New:    func(limit int) func() { return newConcStream(limit).Wait },
			Stream: streamConc,
		},
		{
			Name: "conc.result", Module: concModule,
			About: "pool.NewWithResults, a number from each task; a new pool after each Wait",
			Open:  openConcResult,
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
			Fibonacci: func(_, n int) int { return bothConc.fibonacci(n) },
			Sort:      func(_ int, items []int) { bothConc.sort(items) },
		},
		{
			Name: "conc.iter", Module: concModule, About: "iter.Iterator, ForEach",
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

func openConc(limit int, work Work) Runner {
	return openSets(work.plain(), func() *pool.Pool { return newConc(limit) }, silent((*pool.Pool).Wait))
}

func openConcError(limit int, work Work) Runner {
	return openSets(work.failing(), func() *pool.ErrorPool { return newConcError(limit) }, (*pool.ErrorPool).Wait)
}

func openConcResult(limit int, work Work) Runner {
	return openSets(work.valued(), func() *pool.ResultPool[int] { return newConcResult(limit) },
		silent(func(p *pool.ResultPool[int]) { p.Wait() }))
}

func openConcContext(ctx context.Context, limit int, work GroupWork) Runner {
	return openSets(work.plain(), func() *pool.ContextPool { return newConcContext(ctx, limit) }, (*pool.ContextPool).Wait)
}

func openConcStream(limit int, work Work) Runner {
	callbacks := formed(work, func(run func()) stream.Task {
		return func() stream.Callback {
			run()
			return func() {}
		}
	})
	return openSets(callbacks, func() *stream.Stream { return newConcStream(limit) }, silent((*stream.Stream).Wait))
}
