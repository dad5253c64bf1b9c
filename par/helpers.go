package par

import (
	"context"
	"sync"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// taskGroup runs the helpers of a loop or stream: on a pool it is a [weir.Group], otherwise a set of
// goroutines.
type taskGroup interface {
	Go(task func(ctx context.Context) error)
	TryGo(task func(ctx context.Context) error) bool
	Cancel(cause error) // only when no helper runs: helpers that have not begun then never begin
	Wait() error        // panics if a helper did
}

// newHelpers returns a group for helpers, of which there are never more than the limit. The helpers get the
// context ctx. Without a pool, a helper that panics calls cancel; a weir.Group cancels its own context
// instead. On a pool, lost is called with the reason for each helper that the pool refused or handed back,
// unless the helpers' group was cancelled before.
func (o *options) newHelpers(ctx context.Context, cancel context.CancelCauseFunc, lost func(error)) taskGroup {
	if o.pool != nil {
		return o.pool.Group(listening{ctx, lost}, weir.KeepGoing()) // the loop itself records what fails
	}
	return &goroutines{ctx: ctx, cancel: cancel}
}

// listening is a context for helpers that reports helpers which the pool did not run.
type listening struct {
	context.Context
	lost func(error)
}

// Refused implements [inside.Refusals].
func (l listening) Refused(_ inside.Mark, why error) { l.lost(why) }

// newFeeder returns a group for the goroutine that reads a source.
func (o *options) newFeeder(ctx context.Context, cancel context.CancelCauseFunc) taskGroup {
	if o.pool != nil {
		return weir.NewGroup(ctx, 1) // a task may wait for it
	}
	return &goroutines{ctx: ctx, cancel: cancel}
}

// goroutines is a taskGroup that starts one goroutine for each task, since helpers are few. A weir.Group with
// workers of its own could do the same, but costs some µs more.
type goroutines struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	members sync.WaitGroup

	mu       sync.Mutex
	panicked *weir.Panic
}

func (g *goroutines) Go(task func(context.Context) error) {
	g.members.Add(1)
	go g.run(task)
}

func (g *goroutines) TryGo(task func(context.Context) error) bool {
	g.Go(task)
	return true
}

// Cancel has nothing to do: all tasks have begun.
func (g *goroutines) Cancel(error) {}

func (g *goroutines) Wait() error {
	g.members.Wait()
	if g.panicked != nil {
		panic(g.panicked)
	}
	return nil
}

func (g *goroutines) run(task func(context.Context) error) {
	defer g.members.Done()
	defer func() {
		if value := recover(); value != nil {
			g.note(caught(value))
		}
	}()
	_ = task(g.ctx) // a helper returns no error
}

// note keeps the first panic for Wait. It logs later panics, as a group does.
func (g *goroutines) note(p *weir.Panic) {
	g.mu.Lock()
	first := g.panicked == nil
	if first {
		g.panicked = p
	}
	g.mu.Unlock()
	if first {
		g.cancel(p)
	} else {
		logPanic(p)
	}
}
