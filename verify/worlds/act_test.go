package worlds_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

// send hands something over from outside.
func (w *world) send(d dice) {
	p := w.any(d)
	inner := newDice(d.Uint64())
	plain := func() {
		w.enter(p)
		defer leave(p)
		toil(inner)
	}
	task := func(ctx context.Context) error {
		w.enter(p)
		defer leave(p)
		return w.task(ctx, inner, 0)
	}
	w.mu.Lock()
	known := len(w.futures)
	w.mu.Unlock()
	ctx := context.WithValue(context.Background(), knownKey{}, known)
	if d.one(4) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.micros(2000))
		defer cancel()
	}
	switch d.IntN(12) {
	case 0:
		_ = p.TrySubmit(plain)
	case 1:
		_ = p.Submit(plain)
	case 2:
		_ = p.SubmitContext(ctx, plain)
	case 3, 4, 5:
		_ = p.Go(w.foreign(ctx, d), task)
	case 6:
		x := p.After(d.micros(500), func(ctx context.Context) { _ = task(ctx) })
		for range d.IntN(3) {
			x.Reset(d.micros(500))
		}
		if d.one(3) {
			x.Stop()
		}
	case 7:
		if w.keyed != nil {
			_ = w.keyed.Go(ctx, d.IntN(3), func(ctx context.Context) error { return w.task(ctx, inner, 0) })
		}
	case 8:
		if w.calls != nil {
			_ = w.calls.Call(ctx, new(atomic.Int32))
		}
		if w.funcs != nil {
			_ = w.funcs.Go(ctx, d.Uint64())
		}
	case 9:
		if !w.calm {
			_ = p.Do(ctx, task)
		}
	case 10:
		if !w.calm {
			f := weir.Async(ctx, p.Pool, func(ctx context.Context) (int, error) { return 1, task(ctx) })
			w.mu.Lock()
			w.futures = append(w.futures, f)
			w.mu.Unlock()
			if d.one(2) {
				_, _ = f.Get(ctx)
			}
		}
	default:
		if !w.calm {
			w.act(ctx, d, 0)
		}
	}
}

// knownKey is the key of how many of the world's futures there were before a task was handed over from outside: it and its subtasks may wait for those.
type knownKey struct{}

// task is what every task does.
func (w *world) task(ctx context.Context, d dice, depth int) error {
	toil(d)
	if !w.calm {
		for range d.IntN(3) {
			caught(func() { w.act(ctx, d, depth) })
		}
	}
	if w.failures > 0 && d.one(w.failures) {
		switch d.IntN(3) {
		case 0:
			panic(errFailed)
		case 1:
			runtime.Goexit()
		}
		return errFailed
	}
	return nil
}

// body returns a task that must not run twice. ran counts how often it does.
func (w *world) body(d dice, depth int) (task func(context.Context) error, ran *atomic.Int32) {
	inner, ran := newDice(d.Uint64()), new(atomic.Int32)
	return func(ctx context.Context) error {
		w.check(ran.Add(1) == 1 || w.again, "a task has run twice")
		return w.task(ctx, inner, depth+1)
	}, ran
}

// leaves starts a goroutine that nothing waits for.
func (w *world) leaves(f func()) {
	w.late.Add(1)
	go func() {
		defer w.late.Add(-1)
		caught(f)
	}()
}

// act is something that a task does, or a goroutine with the context of one.
func (w *world) act(ctx context.Context, d dice, depth int) {
	if depth > w.deepest || w.left.Add(-1) < 0 {
		return
	}
	ctx = w.foreign(ctx, d)
	p := w.any(d)
	inner := newDice(d.Uint64())
	more := func(ctx context.Context) { w.act(ctx, d, depth+1) }
	brief, cancel := context.WithTimeout(ctx, d.micros(300))
	defer cancel()
	switch d.IntN(22) {
	case 0:
		w.leaves(func() {
			toil(inner)
			w.act(ctx, inner, depth+1)
		})
	case 1:
		ctx := w.keeps(ctx, d)
		w.leaves(func() { w.act(ctx, inner, depth+1) })
	case 2:
		weir.Blocking(ctx, func() { more(ctx) })
	case 3, 4:
		w.forks(ctx, d, depth)
	case 5:
		r := w.rates[d.IntN(len(w.rates))]
		weir.Blocking(ctx, func() { _ = r.Wait(brief) })
	case 6:
		_ = p.WaitContext(brief)
	case 7:
		weir.Blocking(ctx, func() { _ = p.SubmitContext(brief, func() { toil(inner) }) })
	case 8:
		_ = p.TrySubmit(func() { toil(inner) })
	case 9:
		_ = weir.Retry(weir.RetryPolicy{Tries: 2, Wait: 20 * time.Microsecond}).Do(ctx, func(ctx context.Context) error {
			more(ctx)
			return oneOf(d, nil, errFailed)
		})
	case 10:
		if w.funcs != nil {
			weir.Blocking(ctx, func() { _ = w.funcs.Go(brief, d.Uint64()) })
		}
	case 11:
		known, _ := ctx.Value(knownKey{}).(int)
		w.mu.Lock()
		futures := w.futures[:known:known]
		w.mu.Unlock()
		if known > 0 {
			_, _ = futures[d.IntN(known)].Get(ctx)
		}
	case 12:
		_ = p.Do(ctx, func(ctx context.Context) error { more(ctx); return nil })
	case 13:
		task, ran := w.body(d, depth)
		f := weir.Async(oneOf(d, ctx, ctx, brief), p.Pool, func(ctx context.Context) (int, error) { return 1, task(ctx) })
		if d.one(2) {
			more(ctx)
		}
		value, err := f.Get(ctx)
		w.check(err != nil || value == 1 && ran.Load() > 0, "a future has returned %d, and its task ran %d times", value, ran.Load())
	case 14:
		// The key says how deep it is, so that no task waits for itself. Nor may it by way of a future, of a task that waits for the same key.
		_, _ = w.once.Do(ctx, 2*depth+d.IntN(2), func(ctx context.Context) (int, error) {
			return 1, w.task(context.WithValue(ctx, knownKey{}, 0), inner, depth+1)
		})
	case 15:
		w.results(ctx, d, p, depth)
	case 16:
		par.Range(1+d.IntN(20), func(lo, hi int) { toil(newDice(uint64(lo))) }, par.On(p.Pool))
	case 17, 18:
		w.loops(oneOf(d, ctx, ctx, brief), d, p, depth)
	default:
		w.gathers(oneOf(d, ctx, ctx, brief), d, p, depth)
	}
}

// forks acts on several goroutines at once.
func (w *world) forks(ctx context.Context, d dice, depth int) {
	var branches sync.WaitGroup
	for range 1 + d.IntN(3) {
		inner := newDice(d.Uint64())
		branches.Go(func() { caught(func() { w.act(ctx, inner, depth+1) }) })
	}
	if d.one(2) {
		caught(func() { w.act(ctx, d, depth+1) })
	}
	weir.Blocking(ctx, branches.Wait)
}

func (w *world) group(ctx context.Context, d dice, p *pool) *weir.Group {
	var opts []weir.GroupOption
	if d.one(3) {
		opts = append(opts, weir.Limit(1+d.IntN(3)))
	}
	if d.one(3) {
		opts = append(opts, weir.KeepGoing())
	}
	if d.one(4) {
		opts = append(opts, weir.PanicsAsErrors())
	}
	if d.one(8) {
		opts = append(opts, w.rates[d.IntN(len(w.rates))])
	}
	if d.one(7) {
		return weir.NewGroup(ctx, 1+d.IntN(3))
	}
	return p.Group(ctx, opts...)
}

// gathers runs a group, whose tasks may add to it, which other goroutines may wait for, too, and which may be cancelled or resized at any moment.
func (w *world) gathers(ctx context.Context, d dice, p *pool, depth int) {
	cancelled, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := w.group(cancelled, d, p)
	var given, ran atomic.Int32
	counted := func() func(context.Context) error {
		task, _ := w.body(d, depth)
		return func(ctx context.Context) error {
			ran.Add(1)
			return task(ctx)
		}
	}
	adds, others := d.one(3), false // others: another Wait may return the error
	for range 1 + d.IntN(9) {
		task, other := counted(), counted()
		given.Add(1)
		g.Go(func(ctx context.Context) error {
			if adds && g.TryGo(other) {
				given.Add(1)
			}
			return task(ctx)
		})
	}
	inner := newDice(d.Uint64())
	switch d.IntN(6) {
	case 0:
		w.leaves(func() {
			time.Sleep(inner.micros(200))
			cancel(errFailed)
		})
	case 1:
		g.Cancel(nil)
	case 2:
		w.leaves(func() {
			defer func() { _ = recover() }() // without a limit it cannot be resized
			for range 3 {
				toil(inner)
				g.Resize(oneOf(inner, 1, 2, 3, 100, weir.Unbounded))
			}
		})
	case 3:
		others = true
		var waiters sync.WaitGroup
		for range 1 + d.IntN(2) {
			waiters.Go(func() { caught(func() { _ = g.Wait() }) })
		}
		defer weir.Blocking(ctx, waiters.Wait)
	}
	var err error
	caught(func() {
		if err = g.Wait(); err == nil {
			w.check(w.again || others || ran.Load() == given.Load(), "of %d tasks %d have run, and there is no error", given.Load(), ran.Load())
		}
	})
}

// loops runs a loop or a stream, and may leave the latter.
func (w *world) loops(ctx context.Context, d dice, p *pool, depth int) {
	items := make([]uint64, 1+d.IntN(9))
	for i := range items {
		items[i] = d.Uint64()
	}
	var ran atomic.Int32
	each := func(ctx context.Context, item uint64) error {
		ran.Add(1)
		return w.task(ctx, newDice(item), depth+1)
	}
	opts := []par.StreamOption{par.On(p.Pool), par.Limit(1 + d.IntN(3))}
	if d.one(3) {
		err := par.Each(ctx, items, each, par.On(p.Pool), par.Limit(1+d.IntN(3)))
		w.check(err != nil || int(ran.Load()) == len(items), "of %d calls of a loop %d have run, and there is no error", len(items), ran.Load())
		return
	}
	if d.one(2) {
		opts = append(opts, par.Unordered())
	}
	if d.one(2) {
		opts = append(opts, par.Ahead(1+d.IntN(2)))
	}
	call := func(ctx context.Context, item uint64) (uint64, error) { return item, each(ctx, item) }
	results := par.Stream(ctx, items, call, opts...)
	if d.one(2) {
		results = par.Stream(ctx, slices.Values(items), call, opts...)
	}
	n := 0
	for value, err := range results {
		w.check(err != nil || slices.Contains(items, value), "a stream has returned %d, which is none of %d", value, items)
		if n++; d.one(6) || err != nil {
			return
		}
		if d.one(4) {
			w.act(ctx, d, depth+1)
		}
	}
	w.check(n == len(items), "a stream of %d items has returned %d", len(items), n)
}

// results ranges over results, with more tasks meanwhile, and may leave the loop.
func (w *world) results(ctx context.Context, d dice, p *pool, depth int) {
	g := w.group(ctx, d, p)
	defer func() { _ = g.Wait() }() // the workers of its own end
	r := weir.NewResults[int](g)
	add := func(i int) {
		task, _ := w.body(d, depth)
		r.Go(func(ctx context.Context) (int, error) { return i, task(ctx) })
	}
	n := 1 + d.IntN(7)
	for i := range n {
		add(i)
	}
	all := r.All()
	if d.one(2) {
		all = r.Ordered()
	}
	for value, err := range all {
		w.check(err != nil || value < n, "a result is %d, and there were %d tasks", value, n)
		if d.one(5) {
			break
		}
		if n < 20 && d.one(3) {
			add(n)
			n++
		}
		if d.one(4) {
			w.act(ctx, d, depth+1)
		}
	}
}

// keeps keeps ctx for later, and returns one that was kept, whose task may be over.
func (w *world) keeps(ctx context.Context, d dice) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept) < 20 {
		w.kept = append(w.kept, ctx)
	} else {
		w.kept[d.IntN(len(w.kept))] = ctx
	}
	return w.kept[d.IntN(len(w.kept))]
}

// foreign returns ctx, or one that is made from it, also of a type of its own.
func (w *world) foreign(ctx context.Context, d dice) context.Context {
	after := d.micros(300)
	switch d.IntN(8) {
	case 0:
		return wrapped{ctx}
	case 1:
		own := ending{ctx, make(chan struct{})}
		w.leaves(func() {
			time.Sleep(after)
			close(own.done)
		})
		return own
	case 2:
		return endless{ctx}
	case 3:
		ctx, cancel := context.WithCancel(ctx)
		w.leaves(func() {
			time.Sleep(after)
			cancel()
		})
		return ctx
	case 4:
		return context.WithoutCancel(ctx)
	default:
		return ctx
	}
}

type (
	wrapped struct{ context.Context }
	ending  struct {
		context.Context
		done chan struct{}
	}
	endless struct{ context.Context }
)

func (e ending) Done() <-chan struct{} { return e.done }

func (e ending) Err() error {
	if isClosed(e.done) {
		return context.Canceled
	}
	return e.Context.Err()
}

func (endless) Done() <-chan struct{}       { return nil }
func (endless) Err() error                  { return nil }
func (endless) Deadline() (time.Time, bool) { return time.Time{}, false }
