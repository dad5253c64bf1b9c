package par_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestAMeterMeasuresEachCall(t *testing.T) {
	const n, took = 10, 100 * time.Millisecond
	pause := func(ctx context.Context, _ int) error {
		time.Sleep(took)
		return ctx.Err()
	}
	value := func(ctx context.Context, i int) (int, error) { return i, pause(ctx, i) }
	channel := func() chan int {
		c := make(chan int, n)
		for i := range n {
			c <- i
		}
		close(c)
		return c
	}
	for _, test := range []struct {
		name  string
		calls uint64
		run   func(t *testing.T, m par.Option) error
	}{
		{"Each", n, func(t *testing.T, m par.Option) error { return par.Each(t.Context(), upTo(n), pause, m) }},
		{"Each of a channel", n, func(t *testing.T, m par.Option) error { return par.Each(t.Context(), channel(), pause, m) }},
		{"Map", n, func(t *testing.T, m par.Option) error {
			_, err := par.Map(t.Context(), upTo(n), value, m)
			return err
		}},
		{"Filter", n, func(t *testing.T, m par.Option) error {
			_, err := par.Filter(t.Context(), upTo(n), func(ctx context.Context, i int) (bool, error) { return true, pause(ctx, i) }, m)
			return err
		}},
		{"Reduce", n - 1, func(t *testing.T, m par.Option) error {
			_, err := par.Reduce(t.Context(), upTo(n), func(ctx context.Context, _, _ int) (int, error) { return value(ctx, 0) }, m)
			return err
		}},
		{"Range", 2, func(_ *testing.T, m par.Option) error {
			par.Range(2, func(int, int) { time.Sleep(took) }, m, par.Limit(2))
			return nil
		}},
		{"Stream", n, func(t *testing.T, m par.Option) (err error) {
			for _, failed := range par.Stream(t.Context(), upTo(n), value, m) {
				err = errors.Join(err, failed)
			}
			return err
		}},
		{"Stream on a pool", n, func(t *testing.T, m par.Option) (err error) {
			p := weir.New(3)
			defer p.Close()
			for _, failed := range par.Stream(t.Context(), upTo(n), value, m, par.On(p)) {
				err = errors.Join(err, failed)
			}
			return err
		}},
	} {
		check.Bubble(t, test.name, func(t *testing.T) {
			var m par.Meter
			check.OK(t, test.run(t, par.Measure(&m)))
			run := m.Times().Run
			check.Equal(t, "calls", run.Count(), test.calls)
			if got, want := run.Sum(), (time.Duration(test.calls) * took).Seconds(); got < want-1e-6 || got > want+1e-6 {
				t.Errorf("they took %v s in all, not %v", got, want)
			}
		})
	}
}

func TestAMeterMeasuresCallsThatFailOrPanic(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		var m par.Meter
		broken := errors.New("broken")
		check.Error(t, par.Each(t.Context(), upTo(1), func(context.Context, int) error {
			time.Sleep(time.Second)
			return broken
		}, par.Measure(&m)), broken)
		_ = check.Caught(func() { par.Range(1, func(int, int) { panic("body") }, par.Measure(&m)) })
		check.Equal(t, "calls", m.Times().Run.Count(), 2)
	})
}

func TestANilMeterIsRefused(t *testing.T) {
	check.Panics(t, "par: meter must not be nil, got nil", func() { par.Measure(nil) })
}

func ExampleMeasure() {
	var m par.Meter
	_ = par.Each(context.Background(), []string{"ant", "bee", "cat"}, func(context.Context, string) error { return nil }, par.Measure(&m))
	fmt.Println(m.Times().Run.Count(), "calls, the longest of them below a second:", m.Times().Run.Quantile(1) < time.Second)
	// Output: 3 calls, the longest of them below a second: true
}
