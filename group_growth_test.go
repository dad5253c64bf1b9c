package weir_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// backlog returns a pool whose only worker is held, and before which n tasks of as many groups are queued.
func backlog(t *testing.T, n int, opts ...weir.Option) (p *weir.Pool, groups []*weir.Group, release func()) {
	t.Helper()
	p = weir.New(1, opts...)
	begun, held := make(chan struct{}), make(chan struct{})
	check.OK(t, p.Submit(func() { close(begun); <-held }))
	<-begun
	for range n {
		g := p.Group(t.Context())
		g.Go(succeed)
		groups = append(groups, g)
	}
	return p, groups, func() {
		close(held)
		for _, g := range groups {
			check.OK(t, g.Wait())
		}
		p.Close()
	}
}

func TestACancelledGroupCostsTheSameHoweverManyTasksAreQueued(t *testing.T) {
	check.Flat(t, 1000, func(n int) (f, end func()) {
		p, _, end := backlog(t, n, weir.Queue(weir.Unbounded))
		return func() {
			for range 100 {
				g := p.Group(t.Context())
				for range 3 {
					g.Go(succeed)
				}
				g.Cancel(errBoom)
				check.Error(t, g.Wait(), errBoom)
			}
		}, end
	})
}

// Also if their tasks are queued among others, and leave the queue with them.
func TestGroupsThatEndTogetherCostTheSameEach(t *testing.T) {
	const some = 20
	check.Flat(t, 1000, func(n int) (f, end func()) {
		p, _, end := backlog(t, n, weir.Queue(weir.Unbounded))
		ctx, cancel := context.WithCancel(t.Context())
		var groups []*weir.Group
		for range 3 {
			for i := range some * 30 {
				if len(groups) == i {
					groups = append(groups, p.Group(ctx))
				}
				groups[i].Go(succeed)
			}
		}
		cancel()
		return func() {
			for _, g := range groups[:some] {
				check.Error(t, g.Wait(), context.Canceled)
			}
			groups = groups[some:]
		}, end
	})
}

func TestACancelledDoCostsTheSameHoweverManyTasksAreQueued(t *testing.T) {
	check.Flat(t, 1000, func(n int) (f, end func()) {
		p, _, end := backlog(t, n, weir.Queue(weir.Unbounded))
		return func() {
			for range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan error)
				queued := p.Stats().Queued
				go func() { over <- p.Do(ctx, succeed) }()
				for p.Stats().Queued == queued {
					runtime.Gosched()
				}
				cancel()
				check.Error(t, <-over, context.Canceled)
			}
		}, end
	})
}

func TestAWaitCostsTheSameHoweverManyGoroutinesOfItsTaskWait(t *testing.T) {
	check.Flat(t, 1000, func(n int) (f, end func()) {
		p := weir.New(2)
		inside, stop, over := make(chan context.Context), make(chan struct{}), make(chan error)
		go func() {
			over <- run(p, func(ctx context.Context) error {
				inside <- ctx
				<-stop
				return nil
			})
		}()
		ctx := <-inside
		begun, held := make(chan struct{}), make(chan struct{})
		long := weir.Async(ctx, p, func(context.Context) (int, error) { close(begun); <-held; return 0, nil })
		<-begun
		var waiting sync.WaitGroup
		var about atomic.Int64
		for range n {
			waiting.Go(func() {
				about.Add(1)
				_, _ = long.Get(ctx)
			})
		}
		for int(about.Load()) < n {
			runtime.Gosched()
		}
		return func() {
				for range 200 {
					_, err := weir.Async(ctx, p, func(context.Context) (int, error) { return 0, nil }).Get(ctx)
					check.OK(t, err)
				}
			}, func() {
				close(held)
				waiting.Wait()
				close(stop)
				check.OK(t, <-over)
				p.Close()
			}
	})
}

// What waits below many others that wait costs the same at any depth.
func TestALevelCostsTheSameAtAnyDepth(t *testing.T) {
	p, other := weir.New(1, weir.Queue(weir.Unbounded)), weir.New(1)
	defer p.Close()
	defer other.Close()
	group := func(g *weir.Group, task func(ctx context.Context) error) error {
		g.Go(task)
		return g.Wait()
	}
	once := weir.NewOnce[int, int](p)
	for name, level := range map[string]func(ctx context.Context, depth int, task func(ctx context.Context) error) error{
		"groups of a pool": func(ctx context.Context, _ int, task func(ctx context.Context) error) error {
			return group(p.Group(ctx), task)
		},
		"groups of two pools": func(ctx context.Context, depth int, task func(ctx context.Context) error) error {
			return group([]*weir.Pool{p, other}[depth&1].Group(ctx), task)
		},
		"groups with workers of their own": func(ctx context.Context, _ int, task func(ctx context.Context) error) error {
			return group(weir.NewGroup(ctx, 2), task)
		},
		"futures": func(ctx context.Context, _ int, task func(ctx context.Context) error) error {
			_, err := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, task(ctx) }).Get(ctx)
			return err
		},
		"calls of Once": func(ctx context.Context, depth int, task func(ctx context.Context) error) error {
			_, err := once.Do(ctx, depth, func(ctx context.Context) (int, error) { return 0, task(ctx) })
			return err
		},
		"loops": func(ctx context.Context, _ int, task func(ctx context.Context) error) error {
			return par.Each(ctx, []int{1}, func(ctx context.Context, _ int) error { return task(ctx) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			check.Flat(t, 50, func(n int) (f, end func()) { return beneath(t, n, 50, level) })
		})
	}
}

// beneath makes n levels, one in the other. Its results make two more levels in the last one, so many times, and end all.
func beneath(t *testing.T, n, times int, level func(ctx context.Context, depth int, task func(ctx context.Context) error) error) (f, end func()) {
	work, done := make(chan func(ctx context.Context)), make(chan error)
	var down func(ctx context.Context, depth int) error
	down = func(ctx context.Context, depth int) error {
		if depth > 0 {
			return level(ctx, depth, func(ctx context.Context) error { return down(ctx, depth-1) })
		}
		for f := range work {
			f(ctx)
			done <- nil
		}
		return nil
	}
	go func() { done <- down(t.Context(), n) }()
	return func() {
			work <- func(ctx context.Context) {
				for range times {
					check.OK(t, level(ctx, 0, func(ctx context.Context) error { return level(ctx, -1, succeed) }))
				}
			}
			check.OK(t, <-done)
		}, func() {
			close(work)
			check.OK(t, <-done)
		}
}

// A task that begins to wait makes each pool above it look for work. A look takes no longer where many lanes have their tasks on the same place.
func TestALookCostsTheSameHoweverManyLanesWaitOnAPlace(t *testing.T) {
	check.Flat(t, 4, func(n int) (f, end func()) { // so many looks, but each as short
		p := weir.New(1, weir.Queue(weir.Unbounded))
		f, leave := beneath(t, n, 20, func(ctx context.Context, _ int, task func(ctx context.Context) error) error {
			g := p.Lane(1).Group(ctx)
			g.Go(task)
			return g.Wait()
		})
		return f, func() {
			leave()
			p.Close()
		}
	})
}
