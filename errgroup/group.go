package errgroup

import (
	"context"
	"fmt"

	"github.com/64ed045f/weir/internal/lane"
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
	turns race.Turns
	run   lane.Group
}

// WithContext returns a new group, and a context derived from ctx that is cancelled
// when a function of the group returns an error, or when Wait returns, whichever
// comes first. The cause is the error, or else [context.Canceled].
func WithContext(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := new(Group)
	g.run.Cancel = cancel
	return g, ctx
}

// Go runs f as if on a new goroutine. If there is a limit, Go blocks until f is one
// of at most that many active functions; waiting functions are let in in
// order. A function that calls Go of its own group, under a limit, can wait for
// itself.
//
// The first error that a function returns cancels the group's context, if it has
// one, and is what Wait returns. A function that panics ends the program. One
// that calls [runtime.Goexit] ends without an error.
//
// The call synchronizes before the start of f. As long as the limit is 1, the end of a function synchronizes before the start
// of the next, and before the return of the Go that lets that in.
func (g *Group) Go(f func() error) {
	mustFunction(f)
	if race.Enabled {
		g.apart(f, func(f func() error) bool { g.run.Go(f); return true })
		return
	}
	g.run.Go(f)
}

// TryGo is [Group.Go] that never blocks. It reports whether f was let in; if the
// limit is reached, or another Go waits for room, it was not and will not run.
func (g *Group) TryGo(f func() error) bool {
	mustFunction(f)
	if race.Enabled {
		return g.apart(f, g.run.TryGo)
	}
	return g.run.TryGo(f)
}

// apart lets f in for the race detector: f knows only what the caller has done until now, and the caller is not ordered after
// what others have done.
func (g *Group) apart(f func() error, letIn func(f func() error) bool) bool {
	if !g.run.Shut() {
		g.run.Hold() // by the caller: another goroutine's might be taken for one that is concurrent with Wait
		defer g.run.Unhold()
	}
	tag := race.Here()
	start := tag.Start(&g.turns)
	in := race.Apart(func() bool {
		return letIn(func() error { return race.Run(start, nil, f) })
	})
	if in {
		tag.Admitted(&g.turns) // as with the channel of x/sync
	}
	return in
}

// Wait blocks until all functions given to the group have ended, cancels the
// group's context, and returns the first error that a function returned, if
// any did since the group was made.
//
// The end of each function synchronizes before the return of Wait.
func (g *Group) Wait() error {
	err := g.run.Wait()
	if g.run.Cancel != nil {
		g.run.Cancel(err)
	}
	return err
}

// SetLimit sets how many functions are active at once, at most: those that Go
// and TryGo have let in and that have not ended. A negative n means no limit, as it
// is at first; with 0 no function is let in, and Go blocks forever.
//
// It must be called while no function is active, and no other goroutine uses the
// group. It panics, with an error, if functions are active under an earlier limit and n is not
// negative.
func (g *Group) SetLimit(n int) {
	if active := g.run.Active(); n >= 0 && active > 0 {
		panic(fmt.Errorf("errgroup: limit must be set while no function is active, got %d active ones", active))
	}
	g.turns.Limit(max(n, 0))
	g.run.SetLimit(n)
}

func mustFunction(f func() error) {
	if f == nil {
		panic("errgroup: function must not be nil, got nil")
	}
}
