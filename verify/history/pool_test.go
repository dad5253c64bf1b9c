package history_test

import (
	"context"

	"github.com/64ed045f/weir"
)

// pool is what a [weir.Pool] and a [weir.FuncPool] have in common, for tasks that are numbers.
type pool interface {
	TrySubmit(task int) error
	Submit(task int) error
	SubmitContext(ctx context.Context, task int) error
	// Shutdown returns a function for the numbers of the tasks that it hands back. The test calls it when
	// no task runs any more.
	Shutdown(ctx context.Context) (unrun func() []int, err error)
	Resize(limit int)
	Pause()
	Resume()
	Wait()
	Close()
	Stats() weir.Stats
	// Group returns a group on the pool. A FuncPool has none.
	Group(ctx context.Context, opts ...weir.GroupOption) *weir.Group
}

func newPool(s *script, run func(task int)) pool {
	if s.function {
		return argumentPool{weir.NewFunc(s.limit, run, s.options()...)}
	}
	return &closurePool{Pool: weir.New(s.limit, s.options()...), run: run}
}

type argumentPool struct{ *weir.FuncPool[int] }

func (p argumentPool) TrySubmit(task int) error { return p.TryInvoke(task) }
func (p argumentPool) Submit(task int) error    { return p.Invoke(task) }

func (p argumentPool) SubmitContext(ctx context.Context, task int) error {
	return p.InvokeContext(ctx, task)
}

func (p argumentPool) Shutdown(ctx context.Context) (func() []int, error) {
	unrun, err := p.FuncPool.Shutdown(ctx)
	return func() []int { return unrun }, err
}

func (p argumentPool) Group(context.Context, ...weir.GroupOption) *weir.Group {
	panic("a FuncPool has no groups")
}

// closurePool makes a function of each number.
type closurePool struct {
	*weir.Pool
	run    func(task int)
	asking bool // a function that is called only tells its number
	told   int
}

func (p *closurePool) closure(task int) func() {
	return func() {
		if p.asking {
			p.told = task
			return
		}
		p.run(task)
	}
}

func (p *closurePool) TrySubmit(task int) error { return p.Pool.TrySubmit(p.closure(task)) }
func (p *closurePool) Submit(task int) error    { return p.Pool.Submit(p.closure(task)) }

func (p *closurePool) SubmitContext(ctx context.Context, task int) error {
	return p.Pool.SubmitContext(ctx, p.closure(task))
}

func (p *closurePool) Shutdown(ctx context.Context) (func() []int, error) {
	unrun, err := p.Pool.Shutdown(ctx)
	return func() []int {
		p.asking = true
		defer func() { p.asking = false }()
		var numbers []int
		for _, f := range unrun {
			p.told = -1
			f()
			numbers = append(numbers, p.told)
		}
		return numbers
	}, err
}
