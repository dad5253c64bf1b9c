package par

import (
	"context"

	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// The rest of this file runs only under the race detector. See package race: each call of a function sees
// only what its caller did before the loop, or before it offered the item. Helpers see nothing of the calls
// that they make, until one fails.

// racedCalls is the state of the calls of one loop.
type racedCalls struct {
	start race.Start
	turns race.Turns
	ended race.Past
}

// newRacedCalls returns the state for the calls of a loop that begins now.
func newRacedCalls(o *options) *racedCalls {
	c := new(racedCalls)
	c.turns.Limit(o.limit)
	c.start = race.Here().Start(&c.turns)
	if pool, ok := any(o.pool).(interface{ Turns(inside.Mark) *race.Turns }); ok && o.pool != nil {
		c.start.Turns[1] = pool.Turns(inside.Mark{})
	}
	return c
}

// raced returns fn wrapped for the items of l, and a function to call when the loop ends.
func raced[T any](l *loop, fn func(context.Context, T) error) (racedFn func(context.Context, T) error, over func()) {
	calls := newRacedCalls(l.options)
	return func(ctx context.Context, item T) error {
		c := &racedCall[T]{fn, ctx, item}
		err := race.Run(calls.start, &calls.ended, c.call)
		if err != nil {
			calls.ended.Acquire()
		}
		return err
	}, calls.ended.Acquire
}

type racedCall[T any] struct {
	fn   func(context.Context, T) error
	ctx  context.Context
	item T
}

// call is norace because it reads what the helper has written, which the call must not see.
//
//go:norace
func (c *racedCall[T]) call() error { return c.fn(c.ctx, c.item) }

// racedCombine is a call of Reduce. It sees the calls that made its arguments; chain holds these.
type racedCombine[T any] struct {
	fn    func(ctx context.Context, a, b T) (T, error)
	ctx   context.Context
	chain *race.Past
	a, b  T
}

func (c *racedCombine[T]) in(calls *racedCalls) (T, error) {
	start := calls.start
	start.Pasts[1] = c.chain
	o := race.Run(start, &calls.ended, c.call)
	if o.err != nil {
		calls.ended.Acquire()
	}
	return o.value, o.err
}

//go:norace
func (c *racedCombine[T]) call() (o outcome[T]) {
	defer c.chain.Release()
	o.value, o.err = c.fn(c.ctx, c.a, c.b)
	return o
}

// racedItem is a call of a stream.
type racedItem[T, R any] struct {
	fn   func(context.Context, T) (R, error)
	ctx  context.Context
	item T
}

//go:norace
func (c *racedItem[T, R]) call() (o outcome[R]) {
	o.value, o.err = c.fn(c.ctx, c.item)
	return o
}
