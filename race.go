package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
	"github.com/64ed045f/weir/internal/values"
)

// What follows is used under the race detector alone. See package race.

// submitRaced submits a task that is ordered only after what the caller has done so far. The caller is not
// ordered after what other goroutines have done.
func (p *Pool) submitRaced(task func(), submit func(j job) error) error {
	t := &racedTask{pool: p, task: task}
	j := plainJob(t.run)
	t.job = j.P
	tag := race.Here() // last: the task reads the others
	t.start = tag.Start(&p.core.turns)
	err := race.Apart(func() error {
		p.originals.Store(j.P, task)
		err := submit(j)
		if err != nil {
			p.originals.Delete(j.P)
		}
		return err
	})
	if err == nil {
		tag.Admitted(&p.core.turns)
	}
	return err
}

// invokeRaced hands an argument over as submitRaced does a task.
func (c *core) invokeRaced(tag race.Tag, invoke func() error) error {
	err := race.Apart(invoke)
	if err == nil {
		tag.Admitted(&c.turns)
	}
	return err
}

type racedTask struct {
	start race.Start
	pool  *Pool
	task  func()
	job   any // the key in originals
}

func (t *racedTask) run() {
	t.pool.originals.Delete(t.job)
	race.Run(t.start, nil, func() struct{} { t.task(); return struct{}{} })
}

// original returns the function of the plain job j as it was submitted.
func (p *Pool) original(j job) func() {
	if task, ok := p.originals.LoadAndDelete(j.P); ok {
		return task.(func())
	}
	return j.plain()
}

func (p *FuncPool[T]) runRaced(run func(T), a argument[T]) {
	c := &racedCall[T]{run, a.arg}
	race.Run(a.Tag.Start(&p.core.turns), nil, c.call)
}

type racedCall[T any] struct {
	run func(T)
	arg T
}

// call reads what the worker has written, which the call knows nothing of.
//
//go:norace
func (c *racedCall[T]) call() struct{} {
	c.run(c.arg)
	return struct{}{}
}

// heard returns why a task was not accepted. If the reason is the context's, the caller is ordered after its end.
func heard(ctx context.Context, err error) error {
	if err == nil || err == ErrClosed || err == ErrFull || err == ErrExpired { //nolint:errorlint // a cause may be one that wraps them
		return err
	}
	return causeOf(ctx)
}

// raced returns a task of the group that knows only what the caller has done until now.
func (g *Group) raced(tag race.Tag, task func(ctx context.Context) error) func(ctx context.Context) error {
	start := g.start(tag)
	return func(ctx context.Context) error { return runMember(ctx, start, task) }
}

func (g *Group) start(tag race.Tag) race.Start {
	g.mustBeMade()
	return tag.Start(&g.pool.core.turns, &g.turns)
}

// handRaced hands a task over by give, which reports whether the task was accepted. The caller is not ordered
// after what other goroutines have done.
func (g *Group) handRaced(tag race.Tag, give func() bool) bool {
	in := race.Apart(give)
	if in {
		tag.Admitted(&g.pool.core.turns, &g.turns)
	}
	return in
}

func racedResult[T any](g *Group, tag race.Tag, task func(ctx context.Context) (T, error)) func(ctx context.Context) (T, error) {
	start := g.start(tag)
	return func(ctx context.Context) (T, error) {
		o := runMember(ctx, start, func(ctx context.Context) outcomeOf[T] { return outcome(task(ctx)) })
		return o.value, o.err
	}
}

// runMember runs a task of a group, on its worker, with a new member: the task is not ordered after the
// worker that has made its own.
func runMember[R any](ctx context.Context, start race.Start, task func(ctx context.Context) R) R {
	m := ctx.(*member)
	defer m.actsItself()
	return race.Run(start, nil, func() R { return task(m.newOwn()) })
}

// newOwn is hidden from the race detector, as calls of a loop in the task have its member, and know nothing of the task.
//
//go:norace
func (m *member) newOwn() *member {
	own := &member{scope: m.scope, of: m}
	own.tenant.Self = own
	race.Unseen(m.batch.group.mu.Lock)
	m.acting = own
	var w *engine.Worker
	race.Unseen(func() { w = m.worker.Load() }) // which a worker has stored that knows what it has run before
	if w != nil {
		own.worker.Store(w)
		w.Tenant.Store(&own.tenant)
	}
	race.Unseen(m.batch.group.mu.Unlock)
	return own
}

// actsItself ends what newOwn has begun.
func (m *member) actsItself() {
	mu := &m.batch.group.mu
	mu.Lock()
	defer mu.Unlock()
	m.acting = nil
	if w := m.worker.Load(); w != nil {
		w.Tenant.Store(&m.tenant)
	}
}

func racedFuture[T any](p *Pool, task func(ctx context.Context) (T, error)) func(ctx context.Context) (T, error) {
	start := race.Here().Start(&p.core.turns)
	return func(ctx context.Context) (T, error) {
		o := race.Run(start, nil, func() outcomeOf[T] { return outcome(task(ctx)) })
		return o.value, o.err
	}
}

type outcomeOf[T any] struct {
	value T
	err   error
}

func outcome[T any](value T, err error) outcomeOf[T] { return outcomeOf[T]{value, err} }

// raced is call: the visitor is not ordered after what others have done, except at a limit of 1.
func (v *visit) raced(ctx context.Context, task func(context.Context) error) error {
	if err := heard(ctx, race.Apart(func() error { return v.wait(ctx) })); err != nil {
		return err
	}
	turns := &v.pool.core.turns
	turns.Begin()
	defer func() {
		turns.End()
		race.Apart(func() struct{} { v.finish(); return struct{}{} })
	}()
	if ctx.Err() != nil {
		race.Apart(func() struct{} { v.returnTurn(); return struct{}{} })
		return context.Cause(ctx)
	}
	v.begins(ctx)
	return task(v)
}

// useRaced has the function use a value, after all calls that have used it before.
func (p *Stateful[S, T]) useRaced(own *values.Value[S], c call[T]) {
	values.UseRaced(own, c.Tag.Start(&p.core.turns), p.use, c.arg)
}
