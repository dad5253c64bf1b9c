package leaks_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

// flat fails the test if load leaves more on the heap for n things than it did for the first few. By then
// queues have grown as far as they do.
func flat(t *testing.T, n int, load func(n int)) {
	t.Helper()
	n /= check.Size(100, 20, 1)
	load(20_000)
	before := check.Heap()
	begin := time.Now()
	load(n)
	took := time.Since(begin)
	after := check.Heap()
	objects, bytes := after.Objects-before.Objects, after.Bytes-before.Bytes
	t.Logf("%d in %v: %+d objects, %+d bytes", n, took.Round(time.Millisecond), objects, bytes)
	// The runtime never gives back what it knows of a goroutine, and while it collects garbage it does not reuse that of
	// ended goroutines for new ones. What the library kept for each thing would be a hundred times as much.
	if objects > 500+int64(n/100) || bytes > 256<<10+int64(n/10) {
		t.Errorf("the heap has grown from %+v to %+v", before, after)
	}
}

// onPool runs a subtest that fails if load leaves more on the heap of what it does with a pool.
func onPool(t *testing.T, name string, n int, load func(t *testing.T, p *weir.Pool, n int), opts ...weir.Option) {
	t.Run(name, func(t *testing.T) {
		p := weir.New(2, opts...)
		defer p.Close()
		flat(t, n, func(n int) { load(t, p, n) })
	})
}

// within runs f in a task of a group, and waits for it.
func within(ctx context.Context, t *testing.T, p *weir.Pool, f func(ctx context.Context)) {
	g := p.Group(ctx)
	g.Go(func(ctx context.Context) error {
		f(ctx)
		return nil
	})
	check.OK(t, g.Wait())
}

func TestTheHeapIsFlat(t *testing.T) {
	t.Run("before the first call of Watch", groupsAreFlat) // as far as no other test has called it
	onPool(t, "after 10^8 tasks of a pool", 1e8, func(t *testing.T, p *weir.Pool, n int) {
		for range n {
			check.OK(t, p.Submit(nothing))
		}
		p.Wait()
	})
	onPool(t, "after 10^7 tasks that stood in an unbounded queue", 1e7, func(t *testing.T, p *weir.Pool, n int) {
		for range n / 10_000 {
			p.Pause()
			for range 10_000 {
				check.OK(t, p.Submit(nothing))
			}
			p.Resume()
			p.Wait()
		}
	}, weir.Queue(weir.Unbounded))
	onPool(t, "after 10^6 futures", 1e6, func(t *testing.T, p *weir.Pool, n int) {
		for range n {
			weir.Async(t.Context(), p, func(context.Context) (int, error) { return 1, nil })
		}
		p.Wait()
	})
	t.Run("after 10^5 pools", func(t *testing.T) {
		flat(t, 1e5, func(n int) {
			for range n {
				p := weir.New(2, weir.IdleTimeout(time.Hour)) // a timer that stays is seen, however slow the machine
				check.OK(t, p.Submit(nothing))
				for p.Stats().Idle == 0 {
					runtime.Gosched() // until the pool has a timer for its worker
				}
				p.Close()
			}
		})
	})
	t.Run("after 10^6 refusals and cancelled waits", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		held := make(chan struct{})
		check.OK(t, p.Submit(func() { <-held }))
		defer close(held)
		ctx := ended(t)
		flat(t, 1e6, func(n int) {
			for range n / 2 {
				check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
				check.Error(t, p.SubmitContext(ctx, nothing), context.Canceled)
			}
		})
	})
	t.Run("after 10^5 looks at all pools and groups, while others make, use and close some", func(t *testing.T) {
		flat(t, 1e5, func(n int) {
			var users sync.WaitGroup
			var over atomic.Bool
			var storms atomic.Int64
			for range 2 {
				users.Go(func() {
					for limit := 1; !over.Load(); limit = 1 + limit%4 {
						storm(t, limit)
						storms.Add(1)
					}
				})
			}
			for storms.Load() < 500 { // else the looks may be over before the first
				runtime.Gosched()
			}
			for range n {
				for p := range weir.Pools() {
					_, _, _ = p.Stats(), p.Times(), p.Running(0)
				}
				weir.Groups(0)
			}
			over.Store(true)
			users.Wait()
			t.Logf("%d looks during %d storms", n, storms.Load())
		})
	})
	weir.Watch()
	t.Run("after a call of Watch", groupsAreFlat)
}

// storm does to a pool, and to groups on it and with workers of their own, what looks may come across.
func storm(t *testing.T, limit int) {
	p := weir.New(limit, weir.Name("storm"))
	defer p.Close()
	ctx := weir.Label(t.Context(), "outer")
	for _, g := range []*weir.Group{p.Group(ctx), weir.NewGroup(ctx, limit)} {
		p.Pause()
		for range limit {
			g.Go(func(ctx context.Context) error {
				within(weir.Label(ctx, "inner"), t, p, func(context.Context) { p.Resize(limit + 1) })
				return nil
			})
		}
		p.Resize(1)
		p.Resume()
		check.OK(t, g.Wait())
	}
}

func groupsAreFlat(t *testing.T) {
	t.Run("after 10^7 tasks of a group", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		g := p.Group(t.Context())
		flat(t, 1e7, func(n int) {
			for range n {
				g.Go(succeed)
			}
			check.OK(t, g.Wait())
		})
	})
	t.Run("after 10^6 batches of a group within tasks", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		within(t.Context(), t, p, func(ctx context.Context) {
			within(ctx, t, p, func(ctx context.Context) {
				g := p.Group(ctx)
				flat(t, 1e6, func(n int) { // while the task still runs, in whose context they all are
					for range n {
						g.Go(succeed)
						g.Go(succeed)
						check.OK(t, g.Wait())
					}
				})
			})
		})
	})
	onPool(t, "after 10^5 groups", 1e5, func(t *testing.T, p *weir.Pool, n int) {
		for range n / 2 {
			for _, g := range []*weir.Group{p.Group(t.Context()), weir.NewGroup(t.Context(), 2)} {
				g.Go(succeed)
				g.Go(succeed)
				check.OK(t, g.Wait())
			}
		}
	})
}

func TestEveryPlantedBugIsFound(t *testing.T) {
	plant.Proof{
		Folder: "./leaks",
		Bugs:   append(plant.Read("leaks"), plant.Only(plant.Read("faces_errands"), "go-context-goes-on")...),
		Limit:  time.Minute,
		Args:   []string{"-test.short", "-test.run=Kept|Flat"},
	}.Run(t)
}
