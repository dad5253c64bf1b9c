package weir_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// Goroutines of a few tasks wait in all ways, side by side, one within the other, and in Blocking, on a pool and its lanes, whose places others
// have for long. All that is waited for ends with its context. So each wait must end as soon as its context or its last call does.
func TestPromise08WaitsOfDrawnTasksEndWithTheirContexts(t *testing.T) {
	const first = 20880 // finds a wait whose task lacks a place further up, as one in 15 000 does
	for i := range check.Size(500, 2000, 20_000) {
		seed := uint64(first + i)
		synctest.Test(t, func(t *testing.T) { drawWaits(t, seed).run() })
	}
}

// drawnWaits are tasks that wait. What they do is drawn while they run: in a bubble, on one pool, mostly in the same order each time.
type drawnWaits struct {
	t     *testing.T
	seed  uint64
	mu    sync.Mutex
	rand  *rand.Rand
	pools []*weir.Pool // a pool and lanes of it
	keyed *weir.Keyed[int]
	other *weir.Pool
}

func drawWaits(t *testing.T, seed uint64) *drawnWaits {
	d := &drawnWaits{t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 8))}
	d.pools = []*weir.Pool{weir.New(1+d.n(2), d.queue())}
	for range d.n(4) {
		d.pools = append(d.pools, d.pool().Lane(1+d.n(2), d.queue()))
	}
	d.keyed = weir.NewKeyed[int](d.pool(), 1+d.n(2))
	d.other = weir.New(1)
	return d
}

func (d *drawnWaits) queue() weir.Option { return weir.Queue(d.n(2) * d.n(100)) }

// n returns a number below most.
func (d *drawnWaits) n(most int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.IntN(most)
}

func (d *drawnWaits) pool() *weir.Pool                      { return d.pools[d.n(len(d.pools))] }
func (d *drawnWaits) upTo(most time.Duration) time.Duration { return time.Duration(d.n(int(most))) }

func (d *drawnWaits) run() {
	const begin = 50 * time.Millisecond
	bg := context.Background()
	var outside sync.WaitGroup
	at := func(do func(p *weir.Pool)) {
		p, when := d.pool(), d.upTo(begin)
		outside.Go(func() {
			time.Sleep(when)
			do(p)
		})
	}
	for range d.n(4) {
		at(func(p *weir.Pool) { check.OK(d.t, p.Submit(func() { time.Sleep(20 * begin) })) })
	}
	if d.n(3) == 0 {
		at(func(p *weir.Pool) { p.Resize(1 + d.n(2)) })
	}
	if d.n(4) == 0 {
		at(func(p *weir.Pool) {
			p.Pause()
			time.Sleep(d.upTo(10 * begin))
			p.Resume()
		})
	}
	for range d.n(3) {
		at(func(*weir.Pool) { d.acts(bg) })
	}
	check.OK(d.t, d.other.Submit(func() { time.Sleep(begin) }))
	for range 1 + d.n(2) {
		outside.Add(1) // the pool is closed when no task is left
		check.OK(d.t, d.pool().Go(bg, func(ctx context.Context) error {
			defer outside.Done()
			var all sync.WaitGroup
			for i := range 1 + d.n(3) {
				if i == 0 && d.seed%3 == 1 {
					outside.Go(func() { d.acts(ctx) }) // the task ends, and leaves it behind
				} else {
					all.Go(func() { d.acts(ctx) })
				}
			}
			all.Wait()
			return nil
		}))
	}
	outside.Wait()
	d.pools[0].Close()
	d.other.Close()
}

// acts is what a goroutine of a task does.
func (d *drawnWaits) acts(ctx context.Context) {
	const rest = 30 * time.Millisecond
	for range 1 + d.n(3) {
		switch d.n(4) {
		case 0:
			time.Sleep(d.upTo(rest))
		case 1:
			weir.Blocking(ctx, func() {
				time.Sleep(d.upTo(rest))
				if d.n(2) == 0 {
					d.wait(ctx, 1)
				}
				time.Sleep(d.upTo(rest))
			})
		default:
			d.wait(ctx, 2)
		}
	}
}

// wait waits for up to four calls, until a deadline or, with deep, until calls have waited in turn, so many of them one within the other.
func (d *drawnWaits) wait(ctx context.Context, deep int) {
	until := 1 + d.upTo(100*time.Millisecond)
	c, cancel := context.WithTimeout(ctx, until)
	defer cancel()
	var done, ended atomic.Int64 // when c was, and when the last call had
	context.AfterFunc(c, func() { done.Store(time.Now().UnixNano()) })
	p, calls := d.pool(), make([]int, 1+d.n(4))
	call := func(ctx context.Context) error {
		defer func() { ended.Store(time.Now().UnixNano()) }()
		d.call(ctx, deep)
		return nil
	}
	value := func(ctx context.Context) (int, error) { return 0, call(ctx) }
	item := func(ctx context.Context, _ int) (int, error) { return value(ctx) }
	all := func(g *weir.Group) {
		for range calls {
			g.Go(func(ctx context.Context) error {
				if d.n(4) == 0 {
					g.TryGo(call)
				}
				return call(ctx)
			})
		}
		_ = g.Wait()
	}
	ways := []struct {
		name string
		wait func()
	}{
		{"a group", func() { all(p.Group(c)) }},
		{"a group that is cancelled", func() {
			g := p.Group(ctx)
			context.AfterFunc(c, func() { g.Cancel(errBoom) })
			all(g)
		}},
		{"a group with a limit", func() { all(p.Group(c, weir.Limit(1+d.n(2)))) }},
		{"a group with workers of its own", func() { all(weir.NewGroup(c, 1+d.n(3))) }},
		{"results", func() {
			r := weir.NewResults[int](p.Group(c))
			for range calls {
				r.Go(value)
			}
			for _, err := range r.Ordered() {
				_ = err
			}
		}},
		{"a loop", func() {
			_ = par.Each(c, calls, func(ctx context.Context, _ int) error { return call(ctx) }, par.On(p))
		}},
		{"a stream", func() {
			for _, err := range par.Stream(c, calls, item, par.On(p)) {
				_ = err
			}
		}},
		{"a future", func() { _, _ = weir.Async(c, p, value).Get(c) }},
		{"a call that others may share", func() { _, _ = weir.NewOnce[int, int](p).Do(c, 0, value) }},
		{"a visit", func() { _ = p.Do(c, call) }},
		{"room", func() { _ = p.SubmitContext(c, nothing) }},
		{"a pool", func() { _ = d.other.WaitContext(c) }},
		{"a key's group", func() { all(d.keyed.Group(c, d.n(2))) }},
		{"a future whose task goes on", func() {
			_, _ = weir.Async(c, p, func(context.Context) (int, error) {
				time.Sleep(d.upTo(time.Second))
				return 0, nil
			}).Get(c)
		}},
		{"hedged calls", func() { _, _ = weir.Hedge(c, p, time.Millisecond, value, value) }},
	}
	way := ways[d.n(len(ways))]
	way.wait()
	now, last := time.Now().UnixNano(), ended.Load()
	switch end := done.Load(); {
	case end > 0 && end < now:
		d.t.Errorf("%s ends %v after its context, with seed %d", way.name, time.Duration(now-end), d.seed)
	case ctx.Err() == nil && c.Err() == nil && last > 0 && last < now:
		d.t.Errorf("%s ends %v after its last call, with seed %d", way.name, time.Duration(now-last), d.seed)
	}
}

// call is what those that are waited for do until their context ends.
func (d *drawnWaits) call(ctx context.Context, deep int) {
	if deep > 0 && d.n(3) == 0 {
		var all sync.WaitGroup
		for range 1 + d.n(2) {
			all.Go(func() { d.wait(ctx, deep-1) })
		}
		all.Wait()
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d.upTo(50 * time.Millisecond)):
	}
}
