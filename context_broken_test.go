package weir_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// brokenContext is a context of the program's own whose methods panic: Done and Err at one call of the two, or Err from one call on.
type brokenContext struct {
	context.Context
	forGood bool

	mu    sync.Mutex
	after int // so many calls
}

func (c *brokenContext) Done() <-chan struct{} {
	if !c.forGood {
		c.called()
	}
	return c.Context.Done()
}

func (c *brokenContext) Err() error {
	c.called()
	return c.Context.Err()
}

func (c *brokenContext) called() {
	stack := make([]byte, 1<<14)
	stack = stack[:runtime.Stack(stack, false)]
	// What the standard library calls on a goroutine of its own ends the program, and what it calls as it cancels a context cannot be mended.
	if bytes.Contains(stack, []byte("created by context.")) || bytes.Contains(stack, []byte("context.removeChild(")) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.after--; c.after == 0 || c.forGood && c.after < 0 {
		panic(errBoom)
	}
}

// A context that panics may spoil the call that it was given to, and nothing else.
func TestAContextThatPanicsLosesNoPlaceAndNoCaller(t *testing.T) {
	for seed := range uint64(check.Size(100, 500, 30000)) {
		check.Bubble(t, fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 11))
			aside := []weir.Option{weir.OnPanic(func(*weir.Panic) {}), weir.OnError(func(error) {})}
			p := weir.New(1+r.IntN(2), append(aside, weir.Queue(r.IntN(3)))...)
			for range r.IntN(3) {
				go func() { check.OK(t, p.Submit(func() { time.Sleep(2 * time.Second) })) }()
			}
			synctest.Wait()
			call := callsWithContext[r.IntN(len(callsWithContext))]
			after, forGood, wrapped, ends := 1+r.IntN(14), r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
			calls := func(ctx context.Context) error {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if ends {
					time.AfterFunc(1500*time.Millisecond, cancel)
				}
				var broken context.Context = &brokenContext{Context: ctx, after: after, forGood: forGood}
				if wrapped {
					broken = context.WithValue(broken, p, 1)
				}
				check.Caught(func() { call(broken, p) })
				return nil
			}
			if r.IntN(2) == 0 {
				check.OK(t, runIn(t.Context(), p, calls))
			} else {
				check.OK(t, calls(t.Context()))
			}
			time.Sleep(time.Hour)
			hasItsPlaces(t, p, p.Stats().Limit)
			p.Close()
		})
	}
}

// The standard library panics where it makes a context from one whose Done is closed before its Err says so. A task does that when it asks
// its own context for Done.
func TestATaskWhoseContextPanicsLosesNoPlace(t *testing.T) {
	type looks = func(ctx context.Context) error
	none := weir.OnPanic(func(*weir.Panic) {})
	for name, call := range map[string]func(ctx context.Context, p *weir.Pool, task looks) error{
		"Pool.Go": func(ctx context.Context, p *weir.Pool, task looks) error { return p.Go(ctx, task) },
		"Keyed.Go": func(ctx context.Context, p *weir.Pool, task looks) error {
			return weir.NewKeyed[int](p, 1).Go(ctx, 1, task)
		},
		"FuncContext.Go": func(ctx context.Context, p *weir.Pool, task looks) error {
			return weir.NewFuncContext(1, func(ctx context.Context, task looks) error { return task(ctx) }, weir.On(p), none).Go(ctx, task)
		},
	} {
		t.Log(name)
		p, done := weir.New(1, none), make(chan struct{})
		check.OK(t, call(earlyContext{t.Context(), done}, p, func(ctx context.Context) error {
			close(done)
			<-ctx.Done()
			return nil
		}))
		check.Within(time.Minute, p.Close)
	}
}

func TestCancelOfAGroupWhoseContextPanicsTakesEffect(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		ctx := &brokenContext{Context: t.Context()}
		for _, g := range []*weir.Group{p.Group(ctx), weir.NewGroup(ctx, 1)} {
			ctx.after = 1
			g.Cancel(errBoom)
			check.Equal(t, "calls of the context's methods until it panics", ctx.after, 0)
			g.Go(func(context.Context) error { t.Error("a task of a cancelled group begins"); return nil })
			check.Error(t, g.Wait(), errBoom)
		}
	})
}

// callsWithContext make all calls that take a context.
var callsWithContext = func() []func(context.Context, *weir.Pool) {
	type pool = *weir.Pool
	task := func(context.Context) error { time.Sleep(time.Second); return nil }
	valued := func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil }
	item := func(context.Context, int) (int, error) { time.Sleep(time.Second); return 1, nil }
	each := func(context.Context, int) error { time.Sleep(time.Second); return nil }
	items := func(yield func(int) bool) { _ = yield(1) && yield(2) && yield(3) }
	// both calls one function after the other, and the second also if the first panics.
	both := func(one, other func()) {
		defer other()
		one()
	}
	group := func(g *weir.Group, task func(context.Context) error) {
		both(func() {
			for range 3 {
				g.Go(task)
			}
		}, func() { _ = g.Wait() })
	}
	return []func(context.Context, pool){
		func(ctx context.Context, p pool) { _ = p.Do(ctx, task) },
		func(ctx context.Context, p pool) { _ = p.Go(ctx, task) },
		func(ctx context.Context, p pool) { _, _ = weir.Async(ctx, p, valued).Get(ctx) },
		func(ctx context.Context, p pool) {
			f := weir.Async(ctx, p, valued)
			both(func() { _, _ = f.Get(ctx) }, func() { _, _ = f.Get(context.WithoutCancel(ctx)) })
		},
		func(ctx context.Context, p pool) { callOnceTwice(ctx, context.WithoutCancel(ctx), p, valued) },
		func(ctx context.Context, p pool) { callOnceTwice(context.WithoutCancel(ctx), ctx, p, valued) },
		func(ctx context.Context, p pool) { _, _ = weir.Hedge(ctx, p, time.Second/2, valued, valued) },
		func(ctx context.Context, p pool) { group(p.Group(ctx), task) },
		func(ctx context.Context, p pool) {
			group(p.Group(ctx), func(context.Context) error { time.Sleep(time.Second); return errBoom })
		},
		func(ctx context.Context, p pool) {
			g := p.Group(ctx)
			both(func() { group(g, task) }, func() { g.Cancel(errBoom) })
		},
		func(ctx context.Context, p pool) {
			g := p.Group(ctx)
			both(func() { g.TryGo(task) }, func() { _ = g.Wait() })
		},
		func(ctx context.Context, p pool) { group(p.Group(ctx, weir.Limit(1)), task) },
		func(ctx context.Context, p pool) { group(p.Group(ctx, weir.Rate(1, time.Second, 1)), task) },
		func(ctx context.Context, _ pool) { group(weir.NewGroup(ctx, 2), task) },
		func(ctx context.Context, _ pool) { group(weir.NewGroup(ctx, 2, weir.Queue(0)), task) },
		func(ctx context.Context, p pool) { group(weir.NewKeyed[int](p, 1).Group(ctx, 1), task) },
		func(ctx context.Context, p pool) { _ = weir.NewKeyed[int](p, 1).Go(ctx, 1, task) },
		func(ctx context.Context, p pool) {
			results := weir.NewResults[int](p.Group(ctx))
			results.Go(valued)
			for _, err := range results.All() {
				if err != nil {
					break
				}
			}
		},
		func(ctx context.Context, p pool) { _ = par.Each(ctx, items, each, par.On(p)) },
		func(ctx context.Context, _ pool) { _ = par.Each(ctx, items, each, par.Limit(2)) },
		func(ctx context.Context, p pool) { _ = par.Each(ctx, []int{1, 2, 3}, each, par.On(p)) },
		func(ctx context.Context, p pool) {
			for _, err := range par.Stream(ctx, par.Pipe(items, item), item, par.On(p)) {
				if err != nil {
					break
				}
			}
		},
		func(ctx context.Context, _ pool) { rateTwice(ctx) },
		func(ctx context.Context, _ pool) {
			f := weir.NewFuncContext(1, func(context.Context, int) error { return nil }, weir.OnPanic(func(*weir.Panic) {}), weir.OnError(func(error) {}))
			both(func() { _ = f.Go(ctx, 1) }, f.Close)
		},
		func(ctx context.Context, _ pool) {
			f := weir.NewStateful(1, func() (int, error) { return 1, nil }, func(int, int) { time.Sleep(time.Second) }, nil)
			both(func() { _ = f.Call(ctx, 1) }, f.Close)
		},
	}
}()

// callOnceTwice makes two calls for the same key at once.
func callOnceTwice(one, other context.Context, p *weir.Pool, task func(context.Context) (int, error)) {
	o := weir.NewOnce[int, int](p)
	var calls sync.WaitGroup
	defer calls.Wait()
	for _, ctx := range []context.Context{one, other} {
		calls.Go(func() { check.Caught(func() { _, _ = o.Do(ctx, 1, task) }) })
	}
}

// rateTwice waits for two turns, and then takes the third.
func rateTwice(ctx context.Context) {
	r := weir.Rate(1, time.Second, 1)
	defer func() { _ = r.Wait(context.WithoutCancel(ctx)) }()
	_ = r.Wait(ctx)
	_ = r.Wait(ctx)
}
