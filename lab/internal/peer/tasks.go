package peer

import (
	"context"
	"sync"
)

// The types below turn work into tasks of the form that a library takes. Work that
// is the same for all is made a task once; any other needs a closure for each.

// plain makes tasks for a library that waits for them itself.
type plain struct{ work Work }

func (p *plain) task(i int) func() {
	if p.work.Same != nil {
		return p.work.Same
	}
	return func() { p.work.Each(i) }
}

// counted makes tasks for a library that cannot wait for them and go on: an
// additional WaitGroup counts them. Submit adds all of its tasks to it at once.
type counted struct {
	work Work
	same func()
	live sync.WaitGroup
}

func (w Work) counted() *counted {
	c := &counted{work: w}
	c.same = func() {
		w.Same()
		c.live.Done()
	}
	return c
}

func (c *counted) task(i int) func() {
	if c.work.Same != nil {
		return c.same
	}
	return func() {
		c.work.Each(i)
		c.live.Done()
	}
}

func (c *counted) Wait() { c.live.Wait() }

// failing makes tasks that return an error, for a library that takes no others.
type failing struct {
	work Work
	same func() error
}

func (w Work) failing() *failing {
	return &failing{w, func() error {
		w.Same()
		return nil
	}}
}

func (f *failing) task(i int) func() error {
	if f.work.Same != nil {
		return f.same
	}
	return func() error {
		f.work.Each(i)
		return nil
	}
}

// valued makes tasks that return a value, for a library that collects them.
type valued struct {
	work Work
	same func() int
}

func (w Work) valued() *valued {
	return &valued{w, func() int {
		w.Same()
		return 0
	}}
}

func (v *valued) task(i int) func() int {
	if v.work.Same != nil {
		return v.same
	}
	return func() int {
		v.work.Each(i)
		return i
	}
}

// bound makes tasks for a library whose groups have a context but do not pass it
// to their tasks: each has it by closure.
type bound struct {
	ctx  context.Context
	work GroupWork
	same func() error
}

func (w GroupWork) bound(ctx context.Context) *bound {
	return &bound{ctx, w, func() error { return w.Same(ctx) }}
}

func (b *bound) task(i int) func() error {
	if b.work.Same != nil {
		return b.same
	}
	return func() error { return b.work.Each(b.ctx, i) }
}

// forGroup is the work as tasks of a group, for a library whose groups are all it
// has.
func (w Work) forGroup() GroupWork {
	if task := w.Same; task != nil {
		return GroupWork{Same: func(context.Context) error { task(); return nil }}
	}
	return GroupWork{Each: func(_ context.Context, i int) error { w.Each(i); return nil }}
}

// groupRunner is a [Group] used as a [Runner].
type groupRunner struct{ Group }

func (r groupRunner) Wait() { must(r.Group.Wait()) }
