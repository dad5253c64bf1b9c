package leaks_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// payload is what a task refers to, large enough to be an object of its own for the collector.
type payload [1 << 10]byte

// watch tells which of the payloads it has made can still be reached.
type watch []weak.Pointer[payload]

func (w *watch) payload() *payload {
	p := new(payload)
	*w = append(*w, weak.Make(p))
	return p
}

// task returns a task that refers to a payload, and then does more.
func (w *watch) task(more func()) func() {
	p := w.payload()
	return func() {
		more()
		runtime.KeepAlive(p)
	}
}

// submit submits n tasks that do nothing.
func (w *watch) submit(t *testing.T, p *weir.Pool, n int) {
	t.Helper()
	for range n {
		check.OK(t, p.Submit(w.task(nothing)))
	}
}

func (w *watch) member(more func(context.Context) error) func(context.Context) error {
	p := w.payload()
	return func(ctx context.Context) error {
		err := more(ctx)
		runtime.KeepAlive(p)
		return err
	}
}

// value returns the task of a result or future that is a payload.
func (w *watch) value() func(context.Context) (*payload, error) {
	p := w.payload()
	return func(context.Context) (*payload, error) { return p, nil }
}

// kept counts the payloads that the collector leaves after some rounds.
func (w *watch) kept() (n int) {
	for range 5 {
		runtime.GC()
		if n = w.reachable(); n == 0 {
			return 0
		}
	}
	return n
}

func (w *watch) reachable() (n int) {
	for _, p := range *w {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

func nothing() {}

func succeed(context.Context) error { return nil }

var errBoom = errors.New("boom")

type closer interface{ Close() }

// closes keeps the pool alive, with its workers, until the test ends.
func closes[P closer](t *testing.T, pool P) P {
	t.Cleanup(pool.Close)
	return pool
}

// newPool makes a pool of two workers.
func newPool(t *testing.T, opts ...weir.Option) *weir.Pool {
	return closes(t, weir.New(2, append(opts, weir.IdleTimeout(time.Hour))...))
}

// hold makes a pool whose only worker holds a task until release is called.
func hold(t *testing.T, opts ...weir.Option) (p *weir.Pool, release func()) {
	t.Helper()
	p = closes(t, weir.New(1, append(opts, weir.IdleTimeout(time.Hour))...))
	held := make(chan struct{})
	release = sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	check.OK(t, p.Submit(func() { <-held }))
	synctest.Wait()
	return p, release
}

// keep keeps a value alive until the test ends.
func keep[T any](t *testing.T, value T) T {
	t.Cleanup(func() { runtime.KeepAlive(value) })
	return value
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// newGroup makes a group that stays alive until the test ends.
func newGroup(t *testing.T, p *weir.Pool, opts ...weir.GroupOption) *weir.Group {
	return keep(t, p.Group(t.Context(), opts...))
}

// Each case makes payloads, and returns when the program needs them no more. Its pools, groups and
// results stay alive until the test ends.
var cases = []struct {
	name string
	run  func(t *testing.T, w *watch)
}{
	{"tasks that have run", func(t *testing.T, w *watch) {
		for _, queue := range []int{0, 4} {
			p := newPool(t, weir.Queue(queue))
			w.submit(t, p, 100)
			p.Wait()
		}
	}},
	{"tasks that have run from an unbounded queue", func(t *testing.T, w *watch) {
		p, release := hold(t, weir.Queue(weir.Unbounded))
		w.submit(t, p, 10_000)
		release()
		p.Wait()
	}},
	{"tasks whose submitters stood in line", func(t *testing.T, w *watch) {
		p, release := hold(t, weir.Queue(1))
		for range 10 {
			task := w.task(nothing)
			go func() { check.OK(t, p.Submit(task)) }()
		}
		synctest.Wait()
		release()
		synctest.Wait()
	}},
	{"tasks that panic, and that call Goexit", func(t *testing.T, w *watch) {
		p := newPool(t, weir.OnPanic(func(*weir.Panic) {}))
		for range 10 {
			check.OK(t, p.Submit(w.task(func() { panic(errBoom) })))
			check.OK(t, p.Submit(w.task(runtime.Goexit)))
		}
		p.Wait()
	}},
	{"refused tasks", func(t *testing.T, w *watch) {
		p, release := hold(t, weir.Queue(0))
		check.Error(t, p.TrySubmit(w.task(nothing)), weir.ErrFull)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		task := w.task(nothing)
		go func() { done <- p.SubmitContext(ctx, task) }()
		synctest.Wait()
		cancel()
		check.Error(t, <-done, context.Canceled)
		release()
		p.Wait()
	}},
	{"tasks that Shutdown has handed back", func(t *testing.T, w *watch) {
		p, release := hold(t)
		w.submit(t, p, 10)
		unrun, err := p.Shutdown(ended(t))
		check.Error(t, err, context.Canceled)
		if len(unrun) != 10 {
			t.Fatalf("%d tasks are handed back, not 10", len(unrun))
		}
		clear(unrun)
		release()
		synctest.Wait()
	}},
	{"arguments", func(t *testing.T, w *watch) {
		p := closes(t, weir.NewFunc(2, func(*payload) {}, weir.IdleTimeout(time.Hour)))
		for range 100 {
			check.OK(t, p.Invoke(w.payload()))
		}
		p.Wait()
	}},
	{"arguments and values of a Stateful", func(t *testing.T, w *watch) {
		open := func() (*payload, error) { return w.payload(), nil }
		p := closes(t, weir.NewStateful(1, open, func(*payload, *payload) {}, nil, weir.IdleTimeout(time.Minute)))
		for range 100 {
			check.OK(t, p.Call(t.Context(), w.payload()))
		}
		time.Sleep(time.Hour)
	}},
	{"tasks of a group", func(t *testing.T, w *watch) {
		p := newPool(t)
		g := newGroup(t, p)
		for range 100 {
			g.Go(w.member(succeed))
		}
		check.OK(t, g.Wait())
	}},
	{"tasks of a cancelled group, still in the queue", func(t *testing.T, w *watch) {
		p, _ := hold(t)
		g := newGroup(t, p)
		for range 10 {
			g.Go(w.member(succeed))
		}
		g.Cancel(errBoom)
		check.Error(t, g.Wait(), errBoom)
	}},
	{"tasks of groups within tasks", func(t *testing.T, w *watch) {
		p := newPool(t)
		g := newGroup(t, p)
		for range 4 {
			g.Go(w.member(func(ctx context.Context) error {
				inner := p.Group(ctx)
				for range 100 {
					inner.Go(w.member(succeed))
				}
				return inner.Wait()
			}))
			check.OK(t, g.Wait())
		}
	}},
	{"what tasks have waited for, on another pool", func(t *testing.T, w *watch) {
		p, q := newPool(t), newPool(t, weir.Queue(0))
		g := newGroup(t, p)
		for range 10 {
			g.Go(func(ctx context.Context) error {
				v := w.payload()
				below := q.Group(ctx, weir.Limit(1))
				for range 3 {
					below.Go(func(context.Context) error { runtime.KeepAlive(v); return nil })
				}
				check.OK(t, below.Wait())
				check.OK(t, q.Do(ctx, func(context.Context) error { runtime.KeepAlive(v); return nil }))
				_, err := weir.Async(ctx, q, func(context.Context) (*payload, error) { return v, nil }).Get(ctx)
				return err
			})
		}
		check.OK(t, g.Wait())
	}},
	{"errors and panics of an earlier batch", func(t *testing.T, w *watch) {
		p := newPool(t)
		g := newGroup(t, p, weir.PanicsAsErrors())
		value := w.payload()
		g.Go(func(context.Context) error { panic(value) })
		if g.Wait() == nil {
			t.Fatal("no error")
		}
		g.Go(succeed)
		check.OK(t, g.Wait())
	}},
	{"results", func(t *testing.T, w *watch) {
		r := keep(t, weir.NewResults[*payload](newGroup(t, newPool(t))))
		for range 100 {
			r.Go(w.value())
		}
		all, err := r.Wait()
		check.OK(t, err)
		clear(all)
	}},
	{"results that no goroutine waited for to the end", func(t *testing.T, w *watch) {
		r := keep(t, weir.NewResults[*payload](newGroup(t, newPool(t))))
		for range 100 {
			r.Go(w.value())
		}
		for _, err := range r.Ordered() {
			check.OK(t, err)
			break
		}
	}},
	{"tasks of Go", func(t *testing.T, w *watch) {
		p := newPool(t)
		ctx, cancel := context.WithCancel(t.Context()) // outlives them
		t.Cleanup(cancel)
		for i := range 100 {
			check.OK(t, p.Go(ctx, w.member(func(ctx context.Context) error {
				if i%2 == 0 {
					_ = ctx.Done()
				}
				return nil
			})))
		}
		p.Wait()
	}},
	{"the task of Go whose context is kept", func(t *testing.T, w *watch) {
		p := newPool(t)
		var kept context.Context
		check.OK(t, p.Go(t.Context(), w.member(func(ctx context.Context) error {
			kept = ctx
			return nil
		})))
		p.Wait()
		t.Cleanup(func() { runtime.KeepAlive(kept) })
	}},
	{"a context made in a task of Go", func(t *testing.T, w *watch) {
		p := newPool(t)
		ctx, cancel := context.WithCancel(t.Context()) // outlives it
		t.Cleanup(cancel)
		check.OK(t, p.Go(ctx, func(ctx context.Context) error {
			v := w.payload()
			context.AfterFunc(ctx, func() { runtime.KeepAlive(v) })
			return nil
		}))
		p.Wait()
	}},
	{"a future that was dropped", func(t *testing.T, w *watch) {
		p := newPool(t)
		for range 100 {
			weir.Async(t.Context(), p, w.value())
		}
		p.Wait()
	}},
	{"the task of a future that has run, and is kept", func(t *testing.T, w *watch) {
		p := newPool(t)
		v := w.payload()
		f := keep(t, weir.Async(t.Context(), p, func(context.Context) (bool, error) { return v == nil, nil }))
		_, err := f.Get(t.Context())
		check.OK(t, err)
		p.Wait()
	}},
	{"the task of a future that was cancelled before it started, and is kept", func(t *testing.T, w *watch) {
		p, release := hold(t)
		ctx, cancel := context.WithCancel(t.Context())
		f := keep(t, weir.Async(ctx, p, w.value()))
		cancel()
		_, err := f.Get(t.Context())
		check.Error(t, err, context.Canceled)
		release()
		p.Wait()
	}},
	{"the task of a future that was refused, and is kept", func(t *testing.T, w *watch) {
		p := newPool(t)
		p.Close()
		f := keep(t, weir.Async(t.Context(), p, w.value()))
		_, err := f.Get(t.Context())
		check.Error(t, err, weir.ErrClosed)
	}},
	{"the task of a future that Shutdown has handed back, and that is kept", func(t *testing.T, w *watch) {
		p, release := hold(t)
		f := keep(t, weir.Async(t.Context(), p, w.value()))
		_, err := p.Shutdown(ended(t))
		check.Error(t, err, context.Canceled)
		_, err = f.Get(t.Context())
		check.Error(t, err, weir.ErrClosed)
		release()
	}},
	{"the tasks of results whose group was cancelled", func(t *testing.T, w *watch) {
		p, _ := hold(t)
		g := newGroup(t, p)
		r := keep(t, weir.NewResults[*payload](g))
		for range 10 {
			r.Go(w.value())
		}
		g.Cancel(errBoom)
		_, err := r.Wait()
		check.Error(t, err, errBoom)
	}},
	{"what ran on the caller's goroutine", func(t *testing.T, w *watch) {
		p := newPool(t)
		for range 100 {
			check.OK(t, p.Do(t.Context(), w.member(succeed)))
		}
	}},
	{"a cancelled Do", func(t *testing.T, w *watch) {
		p, _ := hold(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		task := w.member(succeed)
		go func() { done <- p.Do(ctx, task) }()
		synctest.Wait()
		cancel()
		check.Error(t, <-done, context.Canceled)
	}},
	{"items of a loop", func(t *testing.T, w *watch) {
		p := newPool(t)
		items := make([]*payload, 100)
		for i := range items {
			items[i] = w.payload()
		}
		check.OK(t, par.Each(t.Context(), items, func(context.Context, *payload) error { return nil }, par.On(p)))
		clear(items)
	}},
	{"items and results of a stream that was left early", func(t *testing.T, w *watch) {
		p := newPool(t)
		items := func(yield func(*payload) bool) {
			for range 100 {
				if !yield(w.payload()) {
					return
				}
			}
		}
		taken := 0
		for _, err := range par.Stream(t.Context(), iter.Seq[*payload](items), func(_ context.Context, v *payload) (*payload, error) { return v, nil }, par.On(p)) {
			check.OK(t, err)
			if taken++; taken == 10 {
				break
			}
		}
		p.Wait()
	}},
}

func TestNothingIsKeptThatIsNotNeeded(t *testing.T) {
	for _, c := range cases {
		check.Bubble(t, c.name, func(t *testing.T) {
			var w watch
			c.run(t, &w)
			synctest.Wait()
			if len(w) == 0 {
				t.Fatal("nothing was made")
			}
			if n := w.kept(); n > 0 {
				t.Errorf("%d of %d payloads can still be reached", n, len(w))
			}
		})
	}
}
