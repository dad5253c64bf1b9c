// Package face gives a pool of functions the methods of a pool of one function, for tasks of any type.
package face

import (
	"context"
	"sync/atomic"

	"github.com/64ed045f/weir"
)

// Pool is what [weir.Pool] and [weir.FuncPool] have in common, by the names of the latter.
type Pool[T any] interface {
	Invoke(task T) error
	InvokeContext(ctx context.Context, task T) error
	TryInvoke(task T) error
	// Shutdown returns what tells the tasks that it hands back. The caller calls that while no task starts.
	Shutdown(ctx context.Context) (unrun func() []T, err error)

	Wait()
	WaitContext(ctx context.Context) error
	Resize(limit int)
	Pause()
	Resume()
	Close()
	Stats() weir.Stats
}

// Closures makes a function of each task.
type Closures[T any] struct {
	*weir.Pool
	run    func(task T)
	asking *atomic.Pointer[[]T] // that of the lanes, too: while it is set, a function adds its task and does not run it: functions cannot be compared
}

// New returns a pool that calls run for each task.
func New[T any](limit int, run func(task T), opts ...weir.Option) *Closures[T] {
	return &Closures[T]{Pool: weir.New(limit, opts...), run: run, asking: new(atomic.Pointer[[]T])}
}

// Lane returns a lane.
func (p *Closures[T]) Lane(limit int, opts ...weir.Option) *Closures[T] {
	return &Closures[T]{Pool: p.Pool.Lane(limit, opts...), run: p.run, asking: p.asking}
}

// Run runs a task, or only adds it, if it is one that Shutdown has handed back.
func (p *Closures[T]) Run(task T) {
	if unrun := p.asking.Load(); unrun != nil {
		*unrun = append(*unrun, task)
		return
	}
	p.run(task)
}

// Closure returns the function that runs a task.
func (p *Closures[T]) Closure(task T) func() { return func() { p.Run(task) } }

// Invoke implements [Pool], as the others do.
func (p *Closures[T]) Invoke(task T) error { return p.Submit(p.Closure(task)) }

// TryInvoke is TrySubmit.
func (p *Closures[T]) TryInvoke(task T) error { return p.TrySubmit(p.Closure(task)) }

// InvokeContext is SubmitContext.
func (p *Closures[T]) InvokeContext(ctx context.Context, task T) error {
	return p.SubmitContext(ctx, p.Closure(task))
}

// Shutdown is that of the pool.
func (p *Closures[T]) Shutdown(ctx context.Context) (func() []T, error) {
	functions, err := p.Pool.Shutdown(ctx)
	return func() (unrun []T) {
		p.asking.Store(&unrun)
		defer p.asking.Store(nil)
		for _, f := range functions {
			f()
		}
		return unrun
	}, err
}

// Arguments has the tasks as they are.
type Arguments[T any] struct{ *weir.FuncPool[T] }

// NewFunc returns a pool that calls run for each task.
func NewFunc[T any](limit int, run func(task T), opts ...weir.Option) Arguments[T] {
	return Arguments[T]{weir.NewFunc(limit, run, opts...)}
}

// Shutdown is that of the pool.
func (p Arguments[T]) Shutdown(ctx context.Context) (func() []T, error) {
	unrun, err := p.FuncPool.Shutdown(ctx)
	return func() []T { return unrun }, err
}

// Counts is what every pool can report.
type Counts interface{ Stats() weir.Stats }

// Fit reports whether a pool has as many places as tasks run. Those beyond the limit are for tasks that went on while their place was in use, or
// are left from a higher limit. Such a place may go between the two questions, also if all counts are then as they were before: a task that ranges
// over a stream waits again. So Fit asks ten times before it says no.
func Fit(running *atomic.Int64, p Counts) bool {
	for range 10 {
		n := running.Load()
		if s := p.Stats(); n <= int64(s.Limit+s.Extra) {
			return true
		}
	}
	return false
}
