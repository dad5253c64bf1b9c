package par

import (
	"context"
	"log/slog"
	"sync"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// taskGroup runs the helpers of a loop or stream. On a pool it is a [weir.Group], else goroutines.
type taskGroup interface {
	Go(task func(ctx context.Context) error)
	TryGo(task func(ctx context.Context) error) bool
	Cancel(cause error) // only when none runs: those that have not begun never do
	Wait() error        // panics if one of them did
}

// newHelpers returns a group for helpers, of which there are never more than the limit. The
// context is theirs. Goroutines call cancel when one of them panics; a weir.Group cancels its
// own context then. On a pool lost is called for each helper that the pool has refused or handed
// back, instead of having it run, with the reason, if the helpers' group was not cancelled before.
func (o *options) newHelpers(ctx context.Context, cancel context.CancelCauseFunc, lost func(error)) taskGroup {
	if o.pool != nil {
		return o.pool.Group(listening{ctx, lost}, weir.KeepGoing()) // what fails is known to the loop
	}
	return &goroutines{ctx: ctx, cancel: cancel}
}

// listening is a context for helpers of which some may be lost.
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

// goroutines is a taskGroup that starts a goroutine for each task, as helpers are few. A weir.Group
// with workers of its own could do all that, for some µs more.
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

// note keeps the first panic for Wait. As in a group, later ones are logged.
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
		slog.Error("par: function panicked", "panic", p.Value, "stack", string(p.Stack))
	}
}
