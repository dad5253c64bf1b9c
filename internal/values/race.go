package values

import "github.com/64ed045f/weir/internal/race"

// What follows is used under the race detector alone. See package race.

// openRaced opens a value.
func (v *Set[S]) openRaced(own *Value[S], tag race.Tag) error {
	type opened struct {
		state S
		err   error
	}
	o := race.Run(tag.Start(v.turns), nil, func() opened {
		defer own.past.Release()
		state, err := v.Open()
		return opened{state, err}
	})
	own.State = o.state
	return o.err
}

// disposeRaced closes a value, after all calls that have used it, and after the calls of Close, Resize and Shutdown.
func (v *Set[S]) disposeRaced(own *Value[S]) {
	start := race.Start{Pasts: [2]*race.Past{v.turns.Orders()}, Turns: [2]*race.Turns{v.turns}}
	UseRaced(own, start, func(s S, _ struct{}) { v.Dispose(s) }, struct{}{})
}

// UseRaced calls use with the value and arg, after all calls that have used the value before. The second past of start must be nil.
func UseRaced[S, T any](own *Value[S], start race.Start, use func(S, T), arg T) {
	start.Pasts[1] = &own.past
	u := &racedUse[S, T]{use, own, arg}
	race.Run(start, nil, u.call)
}

type racedUse[S, T any] struct {
	use func(S, T)
	own *Value[S]
	arg T
}

// call reads what the worker has written, which the call knows nothing of.
//
//go:norace
func (u *racedUse[S, T]) call() struct{} {
	defer u.own.past.Release()
	u.use(u.own.State, u.arg)
	return struct{}{}
}
