package errgroup

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/race"
)

// Group runs functions that belong together, each as if on a goroutine of its own,
// and keeps the first error of them. The zero Group can be used: it has no limit,
// and cancels nothing. A Group must not be copied once it is used.
//
// Any number of goroutines may call Go, TryGo and Wait at once, functions of the
// group among them, which must not call Wait. Nothing else may be called during
// SetLimit. A call that comes while no function of the group is active
// must not be concurrent with Wait.
//
// A Group is better not used again after Wait: an error, and a context that is
// cancelled, stay.
type Group struct {
	cancel     context.CancelCauseFunc // nil for a group that cancels nothing
	goroutines sync.WaitGroup
	failed     sync.Once
	begun      atomic.Int32 // functions that came before there was a ring
	turns      race.Turns
	err        error
	lane       atomic.Pointer[lane] // nil as long as there is neither a limit nor a ring
}

// WithContext returns a new group, and a context derived from ctx that is cancelled
// when a function of the group returns an error, or when Wait returns, whatever
// comes first. The cause is the error, or else [context.Canceled].
func WithContext(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{cancel: cancel}, ctx
}

// Go runs f as if on a new goroutine. If there is a limit, Go blocks until f is one
// of at most that many active functions; those that wait are let in in
// order. A function that calls Go of its own group, under a limit, can wait for
// itself.
//
// The first error that a function returns cancels the group's context, if it has
// one, and is what Wait returns. A function that panics ends the program. One
// that calls [runtime.Goexit] ends without an error.
//
// The call synchronizes before the start of f. As long as the limit is 1, the end of a function synchronizes before the start
// of the next.
func (g *Group) Go(f func() error) {
	mustFunction(f)
	if race.Enabled {
		g.apart(f, func(f func() error) bool { g.letIn(f); return true })
		return
	}
	g.letIn(f)
}

// letIn is Go.
func (g *Group) letIn(f func() error) {
	l := g.lane.Load()
	if l != nil && l.limit != nil && !l.limit.tryEnter() && !l.limit.enter(f) {
		return // whoever made room runs f
	}
	g.add(l, f)
}

// TryGo is [Group.Go] that never blocks. It reports whether f was let in; if the
// limit is reached, or another Go waits for room, it was not and will not run.
func (g *Group) TryGo(f func() error) bool {
	mustFunction(f)
	if race.Enabled {
		return g.apart(f, g.tryLetIn)
	}
	return g.tryLetIn(f)
}

// apart lets f in for the race detector: f knows only what the caller has done until now, and the caller is not ordered after
// what others have done.
func (g *Group) apart(f func() error, letIn func(f func() error) bool) bool {
	if l := g.lane.Load(); l == nil || l.limit == nil || l.limit.most > 0 {
		g.goroutines.Add(1) // the caller's own: another goroutine's might be taken for one that is concurrent with Wait
		defer g.goroutines.Done()
	}
	start := race.Here().Start(&g.turns)
	return race.Apart(func() bool {
		return letIn(func() error { return race.Run(start, nil, f) })
	})
}

// tryLetIn is TryGo.
func (g *Group) tryLetIn(f func() error) bool {
	l := g.lane.Load()
	if l != nil && l.limit != nil && !l.limit.tryEnter() {
		return false
	}
	g.add(l, f)
	return true
}

// Wait blocks until all functions given to the group have ended, cancels the
// group's context, and returns the first error that a function returned, if
// any did since the group was made.
//
// The end of each function synchronizes before the return of Wait.
func (g *Group) Wait() error {
	g.goroutines.Wait()
	if g.cancel != nil {
		g.cancel(g.err)
	}
	return g.err
}

// SetLimit sets how many functions are active at once, at most: those that Go
// and TryGo have let in and that have not ended. A negative n means no limit, as it
// is at first; with 0 no function is let in, and Go blocks for ever.
//
// It must be called while no function is active, and nobody else uses the group. It
// panics, with an error, if functions are active under an earlier limit and n is not
// negative.
func (g *Group) SetLimit(n int) {
	if n < 0 {
		g.turns.Limit(0)
		g.lane.Store(nil)
		return
	}
	if l := g.lane.Load(); l != nil && l.limit != nil {
		if active := l.limit.active(); active > 0 {
			panic(fmt.Errorf("errgroup: limit must be set while no function is active, got %d active ones", active))
		}
	}
	g.turns.Limit(n)
	g.lane.Store(newLimited(n))
}

func (g *Group) fail(err error) {
	g.failed.Do(func() {
		g.err = err
		if g.cancel != nil {
			g.cancel(err)
		}
	})
}

func mustFunction(f func() error) {
	if f == nil {
		panic("errgroup: function must not be nil, got nil")
	}
}
