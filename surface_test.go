package weir_test

import (
	"context"

	"github.com/64ed045f/weir"
)

// surface is what all kinds of pool have in common, for tasks that are numbers.
type surface interface {
	submit(i int) error
	submitContext(ctx context.Context, i int) error
	trySubmit(i int) error
	shutdown(ctx context.Context) (unrun []int, err error)

	Wait()
	WaitContext(ctx context.Context) error
	Resize(limit int)
	Pause()
	Resume()
	Close()
	Stats() weir.Stats
}

type poolSurface struct {
	*weir.Pool
	run    func(i int)
	asked  bool // tasks only say which they are
	answer int
}

func (s *poolSurface) task(i int) func() {
	return func() {
		if s.asked {
			s.answer = i
			return
		}
		s.run(i)
	}
}

func (s *poolSurface) submit(i int) error    { return s.Submit(s.task(i)) }
func (s *poolSurface) trySubmit(i int) error { return s.TrySubmit(s.task(i)) }

func (s *poolSurface) submitContext(ctx context.Context, i int) error {
	return s.SubmitContext(ctx, s.task(i))
}

func (s *poolSurface) shutdown(ctx context.Context) (unrun []int, err error) {
	tasks, err := s.Shutdown(ctx)
	s.Close() // those that run must not see what follows
	s.asked = true
	for _, task := range tasks {
		task()
		unrun = append(unrun, s.answer)
	}
	return unrun, err
}

type funcSurface struct{ *weir.FuncPool[int] }

func (s funcSurface) submit(i int) error    { return s.Invoke(i) }
func (s funcSurface) trySubmit(i int) error { return s.TryInvoke(i) }

func (s funcSurface) submitContext(ctx context.Context, i int) error {
	return s.InvokeContext(ctx, i)
}

func (s funcSurface) shutdown(ctx context.Context) ([]int, error) { return s.Shutdown(ctx) }

type statefulSurface struct{ *weir.Stateful[int, int] }

func (s statefulSurface) submit(i int) error    { return s.Invoke(i) }
func (s statefulSurface) trySubmit(i int) error { return s.TryInvoke(i) }

func (s statefulSurface) submitContext(ctx context.Context, i int) error {
	return s.InvokeContext(ctx, i)
}

func (s statefulSurface) shutdown(ctx context.Context) ([]int, error) { return s.Shutdown(ctx) }

// surfaces make all kinds of pool.
var surfaces = []struct {
	name string
	make func(limit int, run func(i int), opts ...weir.Option) surface
}{
	{"Pool", func(limit int, run func(i int), opts ...weir.Option) surface {
		return &poolSurface{Pool: weir.New(limit, opts...), run: run}
	}},
	{"FuncPool", func(limit int, run func(i int), opts ...weir.Option) surface {
		return funcSurface{weir.NewFunc(limit, run, opts...)}
	}},
	{"Stateful", func(limit int, run func(i int), opts ...weir.Option) surface {
		open := func() (int, error) { return 0, nil }
		return statefulSurface{weir.NewStateful(limit, open, func(_, i int) { run(i) }, nil, opts...)}
	}},
}
