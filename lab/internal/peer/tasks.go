package peer

import (
	"context"
	"sync"
)

// runner is a [Runner] made of functions. Nil functions do nothing. submit contains the loop over the tasks,
// because a function call for each task would take as long as some libraries do.
type runner struct {
	submit func(lo, hi int)
	wait   func() error
	close  func()

	// live counts the tasks of a library that cannot wait for them and go on, in most cases those of [counted]. Submit adds all of its tasks to
	// live at once, and Wait waits for live first.
	live *sync.WaitGroup
}

func (r runner) Submit(lo, hi int) {
	if r.live != nil {
		r.live.Add(hi - lo)
	}
	r.submit(lo, hi)
}

func (r runner) Wait() error {
	if r.live != nil {
		r.live.Wait()
	}
	if r.wait != nil {
		return r.wait()
	}
	return nil
}

func (r runner) Close() {
	if r.close != nil {
		r.close()
	}
}

// openGroups returns a runner for a library whose object is made anew after each Wait. open makes it, and the tasks for it.
func openGroups[F any, G interface{ Go(task F) }](open func() (G, tasks[F]), wait func(G) error) runner {
	return openRemade(open, func(g G, task F) { g.Go(task) }, wait)
}

// openRemade is like openGroups, with another method in place of Go.
func openRemade[F, G any](open func() (G, tasks[F]), run func(G, F), wait func(G) error) runner {
	g, list := open()
	return runner{
		submit: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				run(g, list.task(i))
			}
		},
		wait: func() error {
			err := wait(g)
			g, list = open()
			return err
		},
		close: func() { must(wait(g)) }, // cancels the context of an empty group
	}
}

// openSets is like openGroups, for tasks that are all the same.
func openSets[F any, G interface{ Go(task F) }](task F, open func() G, wait func(G) error) runner {
	return openGroups(func() (G, tasks[F]) { return open(), tasks[F]{same: task} }, wait)
}

// remade returns a peer of a library whose object is made anew after each Wait. form makes its tasks.
func remade[F any, G interface{ Go(task F) }](name, about string, form func(task func()) F, open func(limit int) G, wait func(G) error) Peer {
	return Peer{
		Name: name, About: about,
		Open: func(limit int, task func()) Runner {
			return openSets(form(task), func() G { return open(limit) }, wait)
		},
		New: func(limit int) func() {
			g := open(limit)
			return func() { must(wait(g)) }
		},
	}
}

// silent returns the wait function of an object that reports nothing.
func silent[G any](wait func(G)) func(G) error {
	return func(g G) error { wait(g); return nil }
}

// tasks are the tasks of some work, in the form T that a library takes. If the work is the same for all
// tasks, they share one task value. Otherwise each needs a closure.
type tasks[T any] struct {
	same T
	each func(i int) T // nil if all tasks are the same
}

func (t tasks[T]) task(i int) T {
	if t.each == nil {
		return t.same
	}
	return t.each(i)
}

// plain returns the task for a library that waits for its tasks itself.
func plain(task func()) func() { return task }

// counted returns a task that an additional WaitGroup counts, as [runner] says.
func counted(task func()) (func(), *sync.WaitGroup) {
	live := new(sync.WaitGroup)
	return func() {
		task()
		live.Done()
	}, live
}

// failing returns a task that returns an error, for a library that takes no others.
func failing(task func()) func() error { return func() error { task(); return nil } }

// valued returns a task that returns a value, for a library that collects values.
func valued(task func()) func() int { return func() int { task(); return 1 } }

// member returns a task of a group, which passes it a context.
func member(task func()) func(context.Context) error {
	return func(context.Context) error { task(); return nil }
}

// plain returns tasks for a library that passes them the context of their group.
func (w GroupWork) plain() tasks[func(context.Context) error] {
	if w.Same != nil {
		return tasks[func(context.Context) error]{same: w.Same}
	}
	return tasks[func(context.Context) error]{each: func(i int) func(context.Context) error {
		return func(ctx context.Context) error { return w.Each(ctx, i) }
	}}
}

// bound returns tasks for a library whose groups have a context but do not pass it to their tasks: the
// closure of each task holds it.
func (w GroupWork) bound(ctx context.Context) tasks[func() error] {
	if w.Same != nil {
		return tasks[func() error]{same: func() error { return w.Same(ctx) }}
	}
	return tasks[func() error]{each: func(i int) func() error {
		return func() error { return w.Each(ctx, i) }
	}}
}
