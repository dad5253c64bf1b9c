package par

import (
	"context"
	"log/slog"
	"sync"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// crew runs helpers. On a pool it is a [weir.Group], else a team.
type crew interface {
	Go(task func(ctx context.Context) error)
	TryGo(task func(ctx context.Context) error) bool
	Cancel(cause error) // only when none runs: those that have not begun never do
	Wait() error        // panics if one of them did
}

// crew returns a crew for helpers, of which there are never more than the limit. The
// context is theirs. A team calls cancel when one of them panics; a group cancels its own
// context then. On a pool lost is called for each helper that the pool has refused or handed
// back, instead of having it run.
func (o *options) crew(ctx context.Context, cancel context.CancelCauseFunc, lost func()) crew {
	if o.pool != nil {
		return o.pool.Group(listening{ctx, lost}, weir.KeepGoing()) // what fails is known to the loop
	}
	return &team{ctx: ctx, cancel: cancel}
}

// listening is a context for helpers of which some may be lost.
type listening struct {
	context.Context
	lost func()
}

// Refused implements [inside.Refusals].
func (l listening) Refused(inside.Mark) { l.lost() }

// feeder returns a crew for the goroutine that reads a source.
func (o *options) feeder(ctx context.Context, cancel context.CancelCauseFunc) crew {
	if o.pool != nil {
		return weir.NewGroup(ctx, 1) // a task may wait for it
	}
	return &team{ctx: ctx, cancel: cancel}
}

// team is goroutines that are started as they are wanted, as helpers are few. A group
// with workers of its own could do all that, for some µs more.
type team struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	members sync.WaitGroup

	mu       sync.Mutex
	panicked *weir.Panic
}

func (t *team) Go(task func(context.Context) error) {
	t.members.Add(1)
	go t.run(task)
}

func (t *team) TryGo(task func(context.Context) error) bool {
	t.Go(task)
	return true
}

// Cancel has nothing to do: all tasks have begun.
func (t *team) Cancel(error) {}

func (t *team) Wait() error {
	t.members.Wait()
	if t.panicked != nil {
		panic(t.panicked)
	}
	return nil
}

func (t *team) run(task func(context.Context) error) {
	defer t.members.Done()
	defer func() {
		if value := recover(); value != nil {
			t.note(caught(value))
		}
	}()
	_ = task(t.ctx) // a helper returns no error
}

// note keeps the first panic for Wait. As in a group, later ones are logged.
func (t *team) note(p *weir.Panic) {
	t.mu.Lock()
	first := t.panicked == nil
	if first {
		t.panicked = p
	}
	t.mu.Unlock()
	if first {
		t.cancel(p)
	} else {
		slog.Error("par: function panicked", "panic", p.Value, "stack", string(p.Stack))
	}
}
