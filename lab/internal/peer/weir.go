package peer

import (
	"context"
	"iter"
	"slices"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/par"
)

func weirPeers() []Peer {
	return []Peer{
		{
			Name: "weir.Pool", About: "New, Submit, Wait",
			Open:   func(limit int, task func()) Runner { return openWeir(limit, task) },
			Queued: func(limit, n int, task func()) Runner { return openWeir(limit, task, weir.Queue(n)) },
			New:    func(limit int) func() { return weir.New(limit).Close },
		},
		{
			Name: "weir.FuncPool", About: "NewFunc, Invoke, Wait",
			Open:   func(limit int, task func()) Runner { return openWeirFunc(limit, task) },
			Queued: func(limit, n int, task func()) Runner { return openWeirFunc(limit, task, weir.Queue(n)) },
			New:    func(limit int) func() { return weir.NewFunc(limit, func(int) {}).Close },
		},
		{
			Name: "weir.Group", About: "NewGroup, Go, Wait",
			Open: func(limit int, task func()) Runner {
				return openWeirGroup(context.Background(), limit, GroupWork{Same: member(task)})
			},
			Queued: func(limit, n int, task func()) Runner {
				return openWeirGroup(context.Background(), limit, GroupWork{Same: member(task)}, weir.Queue(n))
			},
			Set: func(limit int, task func()) Runner {
				newGroup := func() *weir.Group { return weir.NewGroup(context.Background(), limit) }
				return openSets(member(task), newGroup, (*weir.Group).Wait)
			},
			Group: func(ctx context.Context, limit int, work GroupWork) Runner {
				return openWeirGroup(ctx, limit, work)
			},
			New: func(limit int) func() {
				g := weir.NewGroup(context.Background(), limit)
				return func() { must(g.Wait()) }
			},
			Fibonacci: fibonacciWeir,
			Sort:      sortWeir,
		},
		{
			Name: "weir.PoolGroup", About: "Pool.Group, Go, Wait",
			Set: func(limit int, task func()) Runner {
				pool := weir.New(limit)
				newGroup := func() *weir.Group { return pool.Group(context.Background()) }
				sets := openSets(member(task), newGroup, (*weir.Group).Wait)
				sets.close = pool.Close
				return sets
			},
		},
		{
			Name: "weir.errgroup", About: "errgroup of Weir's: SetLimit, Go, Wait",
			Set: func(limit int, task func()) Runner {
				newGroup := func() *errgroup.Group {
					group := new(errgroup.Group)
					group.SetLimit(limit)
					return group
				}
				return openSets(failing(task), newGroup, (*errgroup.Group).Wait)
			},
		},
		{
			Name: "weir.Results", About: "NewResults of a NewGroup, Go, Wait", Collect: collectWeir,
		},
		{
			Name: "weir.Range", About: "par.Range, a loop over the items in its body",
			Loop: func(limit int, items []float64, body Body) func() {
				return func() {
					par.Range(len(items), func(lo, hi int) {
						part := items[lo:hi]
						for i := range part {
							body.Item(&part[i])
						}
					}, par.Limit(limit))
				}
			},
		},
		{
			Name: "weir.Each", About: "par.Each over a slice of pointers to the items, made beforehand",
			Loop: func(limit int, items []float64, body Body) func() {
				pointers := make([]*float64, len(items))
				for i := range items {
					pointers[i] = &items[i]
				}
				return func() {
					must(par.Each(context.Background(), pointers, body.Try, par.Limit(limit)))
				}
			},
		},
		{
			Name: "weir.Stream", About: "par.Stream over a sequence", Stream: streamWeir,
		},
		{
			Name: "weir.Sort", About: "par.Sort",
			Sort: func(limit int, items []int) { par.Sort(items, par.Limit(limit)) },
		},
	}
}

func collectWeir(limit, n int, fn func(i int) (int, error)) ([]int, error) {
	results := weir.NewResults[int](weir.NewGroup(context.Background(), limit))
	for i := range n {
		results.Go(func(context.Context) (int, error) { return fn(i) })
	}
	return results.Wait()
}

func streamWeir(limit, n int, fn func(i int) int, consume func(value int)) {
	call := func(_ context.Context, i int) (int, error) { return fn(i), nil }
	for value, err := range par.Stream(context.Background(), upTo(n), call, par.Limit(limit)) {
		must(err)
		consume(value)
	}
}

func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// sortWeir makes a group for every two parts, all on one pool.
func sortWeir(limit int, items []int) {
	p := weir.New(limit)
	defer p.Close()
	var sort func(ctx context.Context, items []int) error
	sort = func(ctx context.Context, items []int) error {
		if len(items) < divisible {
			slices.Sort(items)
			return nil
		}
		low, high := partition(items)
		both := p.Group(ctx)
		both.Go(func(ctx context.Context) error { return sort(ctx, low) })
		both.Go(func(ctx context.Context) error { return sort(ctx, high) })
		return both.Wait()
	}
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error { return sort(ctx, items) })
	must(g.Wait())
}

// fibonacciWeir makes a group for each number, all on one pool.
func fibonacciWeir(limit, n int) (sum int) {
	p := weir.New(limit)
	defer p.Close()
	var fibonacci func(ctx context.Context, n int) (int, error)
	fibonacci = func(ctx context.Context, n int) (int, error) {
		if n < 2 {
			return n, nil
		}
		var x, y int
		both := p.Group(ctx)
		both.Go(func(ctx context.Context) (err error) { x, err = fibonacci(ctx, n-1); return err })
		both.Go(func(ctx context.Context) (err error) { y, err = fibonacci(ctx, n-2); return err })
		err := both.Wait()
		return x + y, err
	}
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) (err error) { sum, err = fibonacci(ctx, n); return err })
	must(g.Wait())
	return sum
}

func openWeir(limit int, task func(), opts ...weir.Option) Runner {
	pool := weir.New(limit, opts...)
	return runner{
		submit: func(lo, hi int) {
			for range hi - lo {
				must(pool.Submit(task))
			}
		},
		wait:  func() error { pool.Wait(); return nil },
		close: pool.Close,
	}
}

func openWeirFunc(limit int, task func(), opts ...weir.Option) Runner {
	pool := weir.NewFunc(limit, func(int) { task() }, opts...)
	return runner{
		submit: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				must(pool.Invoke(i))
			}
		},
		wait:  func() error { pool.Wait(); return nil },
		close: pool.Close,
	}
}

func openWeirGroup(ctx context.Context, limit int, work GroupWork, opts ...weir.Option) Runner {
	g, tasks := weir.NewGroup(ctx, limit, opts...), work.plain()
	return runner{
		submit: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				g.Go(tasks.task(i))
			}
		},
		wait: g.Wait,
	}
}
