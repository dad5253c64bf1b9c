package peer

import (
	"context"

	"github.com/64ed045f/weir"
)

const weirModule = "github.com/64ed045f/weir"

func weirPeers() []Peer {
	return []Peer{
		{
			Name: "weir.Pool", Module: weirModule, About: "New, Submit, Wait",
			Open: func(limit int, work Work) Runner { return &weirPool{weir.New(limit), plain{work}} },
			Queued: func(limit, n int, work Work) Runner {
				return &weirPool{weir.New(limit, weir.Queue(n)), plain{work}}
			},
			New: func(limit int) func() { return weir.New(limit).Close },
		},
		{
			Name: "weir.FuncPool", Module: weirModule, About: "NewFunc, Invoke, Wait",
			Open: func(limit int, work Work) Runner { return openWeirFunc(limit, work) },
			Queued: func(limit, n int, work Work) Runner {
				return openWeirFunc(limit, work, weir.Queue(n))
			},
			New: func(limit int) func() { return weir.NewFunc(limit, func(int) {}).Close },
		},
		{
			Name: "weir.Group", Module: weirModule, About: "NewGroup, Go, Wait",
			Open: func(limit int, work Work) Runner {
				return groupRunner{openWeirGroup(context.Background(), limit, work.forGroup())}
			},
			Queued: func(limit, n int, work Work) Runner {
				return groupRunner{openWeirGroup(context.Background(), limit, work.forGroup(), weir.Queue(n))}
			},
			Group: func(ctx context.Context, limit int, work GroupWork) Group {
				return openWeirGroup(ctx, limit, work)
			},
			New: func(limit int) func() {
				g := weir.NewGroup(context.Background(), limit)
				return func() { must(g.Wait()) }
			},
			Fibonacci: fibonacciWeir,
		},
	}
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

type weirPool struct {
	pool  *weir.Pool
	tasks plain
}

func (r *weirPool) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		must(r.pool.Submit(r.tasks.task(i)))
	}
}

func (r *weirPool) Wait()  { r.pool.Wait() }
func (r *weirPool) Close() { r.pool.Close() }

type weirFunc struct{ pool *weir.FuncPool[int] }

func openWeirFunc(limit int, work Work, opts ...weir.Option) Runner {
	run := work.Each
	if task := work.Same; task != nil {
		run = func(int) { task() }
	}
	return &weirFunc{weir.NewFunc(limit, run, opts...)}
}

func (r *weirFunc) Submit(lo, hi int) {
	for i := lo; i < hi; i++ {
		must(r.pool.Invoke(i))
	}
}

func (r *weirFunc) Wait()  { r.pool.Wait() }
func (r *weirFunc) Close() { r.pool.Close() }

type weirGroup struct {
	group *weir.Group
	work  GroupWork
}

func openWeirGroup(ctx context.Context, limit int, work GroupWork, opts ...weir.Option) Group {
	return &weirGroup{weir.NewGroup(ctx, limit, opts...), work}
}

func (g *weirGroup) Submit(lo, hi int) {
	if task := g.work.Same; task != nil {
		for range hi - lo {
			g.group.Go(task)
		}
		return
	}
	for i := lo; i < hi; i++ {
		g.group.Go(func(ctx context.Context) error { return g.work.Each(ctx, i) })
	}
}

func (g *weirGroup) Wait() error { return g.group.Wait() }
func (g *weirGroup) Close()      {}
