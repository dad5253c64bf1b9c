package par

import (
	"context"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/histogram"
	"github.com/64ed045f/weir/internal/inside"
)

// A Meter measures how long the calls of loops and streams take. Pass it to them with [Measure]. The zero
// Meter is ready to use. One Meter may serve any number of loops and streams, also at the same time.
type Meter struct{ run histogram.Counter }

// Times returns the durations of the calls that have ended, in the field Run. It may be called at any time,
// also while loops run.
func (m *Meter) Times() weir.Times {
	return inside.NewTimes(new(histogram.Counter), &m.run, 0).(weir.Times)
}

// Measure makes a loop or [Stream] measure each call of its function, from its start until it has returned,
// panicked or called [runtime.Goexit]. For [Range], one measured call of the body covers many indices.
// Measuring costs about 100 ns a call. [Sort] and [SortFunc] measure nothing.
func Measure(m *Meter) Option {
	must(m != nil, "meter must not be nil", "nil")
	return option(func(o *options) { o.meter = m })
}

// call starts to measure a call. The caller calls ended when that call is over.
func (m *Meter) call() (ended func()) {
	begun := time.Now()
	return func() { m.run.Add(time.Since(begun), 1) }
}

// measured returns fn wrapped so that m measures it, or fn itself if m is nil. The functions below do the
// same for other signatures.
func measured[T, R any](m *Meter, fn func(context.Context, T) (R, error)) func(context.Context, T) (R, error) {
	if m == nil {
		return fn
	}
	return func(ctx context.Context, item T) (R, error) {
		defer m.call()()
		return fn(ctx, item)
	}
}

func measuredEach[T any](m *Meter, fn func(context.Context, T) error) func(context.Context, T) error {
	if m == nil {
		return fn
	}
	return func(ctx context.Context, item T) error {
		defer m.call()()
		return fn(ctx, item)
	}
}

func measuredReduce[T any](m *Meter, combine func(ctx context.Context, a, b T) (T, error)) func(ctx context.Context, a, b T) (T, error) {
	if m == nil {
		return combine
	}
	return func(ctx context.Context, a, b T) (T, error) {
		defer m.call()()
		return combine(ctx, a, b)
	}
}

func measuredRange(m *Meter, body func(lo, hi int)) func(lo, hi int) {
	if m == nil {
		return body
	}
	return func(lo, hi int) {
		defer m.call()()
		body(lo, hi)
	}
}
