package errgroup

import (
	"context"
	"fmt"

	"github.com/64ed045f/weir/internal/lane"
	"github.com/64ed045f/weir/internal/race"
)

// Group runs functions that belong together, each as if on a goroutine of its own, and keeps their first
// error. The zero Group is ready to use: it has no limit, and cancels nothing. A Group must not be copied
// after first use.
//
// Any number of goroutines may call Go, TryGo and Wait at once. Functions of the group may call Go and TryGo,
// but not Wait. No method may be called while SetLimit runs. A call of Go or TryGo while no function of the
// group is active must not be concurrent with Wait.
//
// Prefer not to use a Group again after Wait: its first error and its cancelled context stay.
type Group struct {
	turns race.Turns
	run   lane.Group
}

// WithContext returns a new group, and a context derived from ctx. The context is cancelled when a function
// of the group returns an error, or when Wait returns, whichever comes first. The cause is the error, or else
// [context.Canceled].
func WithContext(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := new(Group)
	g.run.Cancel = cancel
	return g, ctx
}

// Go runs f as if on a new goroutine. If there is a limit, Go blocks until the limit lets f in. It lets in
// waiting functions in order. Under a limit, a function that calls Go of its own group can wait for itself.
//
// The first error that a function returns cancels the group's context, if it has one, and Wait returns it. A
// function that panics ends the program. A function that calls [runtime.Goexit] ends without an error.
//
// The call of Go synchronizes before the start of f. As long as the limit is 1, the end of a function
// synchronizes before the start of the next. It also synchronizes before the return of the Go that lets the
// next one in.
func (g *Group) Go(f func() error) {
	mustFunction(f)
	if race.Enabled {
		g.apart(f, func(f func() error) bool { g.run.Go(f); return true })
		return
	}
	g.run.Go(f)
}

// TryGo is [Group.Go] that never blocks. It reports whether f was let in. If the limit is reached, or another
// Go waits for room, TryGo returns false and f never runs.
func (g *Group) TryGo(f func() error) bool {
	mustFunction(f)
	if race.Enabled {
		return g.apart(f, g.run.TryGo)
	}
	return g.run.TryGo(f)
}

// apart lets f in under the race detector, so that f sees only what the caller has done until now. The caller
// is not ordered after what others have done.
func (g *Group) apart(f func() error, letIn func(f func() error) bool) bool {
	if !g.run.Shut() {
		g.run.Hold() // by the caller: from another goroutine the WaitGroup might take it as concurrent with Wait
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

// Wait blocks until all functions given to the group have ended, and cancels the group's context. It returns
// the first error that a function has returned since the group was made, if any.
//
// The end of each function synchronizes before the return of Wait.
func (g *Group) Wait() error {
	err := g.run.Wait()
	if g.run.Cancel != nil {
		g.run.Cancel(err)
	}
	return err
}

// SetLimit sets how many functions may be active at once: functions that Go and TryGo have let in and that
// have not ended. A negative n means no limit, which is the default. With 0 no function is let in, and Go
// blocks forever.
//
// SetLimit must be called while no function is active, and no other goroutine uses the group. It panics, with
// an error, if functions are active under an earlier limit and n is not negative.
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
