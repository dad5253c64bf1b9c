package par_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestMisusePanicsAtTheCall(t *testing.T) {
	ctx := t.Context()
	var none context.Context
	one := []int{1}
	for want, f := range map[string]func(){
		"par: limit must be at least 1, got 0":              func() { par.Limit(0) },
		"par: limit must be at least 1, got -1":             func() { par.Limit(-1) },
		"par: items ahead must be at least 1, got 0":        func() { par.Ahead(0) },
		"par: pool must not be nil, got nil":                func() { par.On(nil) },
		"par: number of indices must be at least 0, got -1": func() { par.Range(-1, func(int, int) {}) },
		"par: size of a batch must be at least 1, got 0":    func() { par.Batch[int](one, 0) },
		"par: waiting time must be above 0, got 0s":         func() { par.BatchFor[int](one, 1, 0) },
	} {
		check.Panics(t, want, f)
	}
	for _, f := range []func(){func() { par.Rate(nil) }, func() { par.Rate(new(weir.RateLimit)) }} {
		check.Panics(t, "weir: rate must be made by Rate, got nil or the zero value", f)
	}
	for _, f := range []func(){func() { par.Retry(nil) }, func() { par.Retry(new(weir.Retrier)) }} {
		check.Panics(t, "weir: retrier must be made by Retry, got nil or the zero value", f)
	}
	for _, f := range []func(){
		func() { check.OK(t, par.Each(none, one, nothing)) },
		func() { _, _ = par.Map(none, one, same) },
		func() { _, _ = par.Filter(none, one, odd) },
		func() { _, _ = par.Reduce(none, one, add) },
		func() { par.Stream(none, one, same) },
		func() { par.Batch[int](one, 1).All(none) },
	} {
		check.Panics(t, "par: context must not be nil, got nil", f)
	}
	for _, f := range []func(){
		func() { par.Range(1, nil) },
		func() { check.OK(t, par.Each[int](ctx, one, nil)) },
		func() { _, _ = par.Map[int, int](ctx, one, nil) },
		func() { _, _ = par.Filter[int](ctx, one, nil) },
		func() { _, _ = par.Reduce[int](ctx, one, nil) },
		func() { par.SortFunc(one, nil) },
		func() { par.Stream[int, int](ctx, one, nil) },
		func() { par.Pipe[int, int](one, nil) },
	} {
		check.Panics(t, "par: function must not be nil, got nil", f)
	}
	type numbers func(yield func(int) bool)
	for _, f := range []func(){
		func() { check.OK(t, par.Each(ctx, iter.Seq[int](nil), nothing)) },
		func() { par.Results[int](nil) },
		func() { check.OK(t, par.Each(ctx, (*par.Pipeline[int])(nil), nothing)) },
		func() { (*par.Pipeline[int])(nil).All(ctx) },
		func() { check.OK(t, par.Each(ctx, numbers(nil), nothing)) },
		func() { check.OK(t, par.Each(ctx, (chan int)(nil), nothing)) },
		func() { par.Stream(ctx, (<-chan int)(nil), same) },
		func() { par.Batch[int](iter.Seq[int](nil), 1) },
		func() { par.Pairs[int, int](nil) },
	} {
		check.Panics(t, "par: source must not be nil, got nil", f)
	}
	for _, f := range []func(){
		func() { par.Range(1, func(int, int) {}, nil) },
		func() { check.OK(t, par.Each(ctx, one, nothing, nil)) },
		func() { par.Stream(ctx, one, same, nil) },
	} {
		check.Panics(t, "par: option must not be nil, got nil", f)
	}
}

func TestEverySourceGivesItsItems(t *testing.T) {
	type (
		slice    []int
		sequence func(yield func(int) bool)
		pipe     chan int
		outlet   <-chan int
	)
	const n = 20
	want := upTo(n)
	ctx := t.Context()
	verify := func(name string, got []int, err error) {
		t.Helper()
		check.OK(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	got, err := par.Map(ctx, want, same)
	verify("slice", got, err)
	got, err = par.Map(ctx, slice(want), same)
	verify("named slice", got, err)
	got, err = par.Map(ctx, slices.Values(want), same)
	verify("sequence", got, err)
	got, err = par.Map(ctx, sequence(slices.Values(want)), same)
	verify("named sequence", got, err)
	got, err = par.Map(ctx, (func(func(int) bool))(slices.Values(want)), same)
	verify("function", got, err)
	got, err = par.Map(ctx, par.Results(results(n)), same)
	verify("results", got, err)
	got, err = par.Map(ctx, par.Pipe(want, same), same)
	verify("pipeline", got, err)
	got, err = par.Map(ctx, new(par.Pipeline[int]), same)
	check.Equal(t, "items of no pipeline", len(got), 0)
	check.OK(t, err)
	got, err = par.Map(ctx, channel(n), same)
	verify("channel", got, err)
	got, err = par.Map(ctx, (<-chan int)(channel(n)), same)
	verify("receiving channel", got, err)
	got, err = par.Map(ctx, pipe(channel(n)), same)
	verify("named channel", got, err)
	got, err = par.Map(ctx, outlet(channel(n)), same)
	verify("named receiving channel", got, err)

	pairs, err := par.Map(ctx, par.Pairs(slices.All(want)), func(_ context.Context, p par.Pair[int, int]) (int, error) {
		return p.Key + p.Value, nil
	})
	check.OK(t, err)
	for i, sum := range pairs {
		check.Equal(t, "sum", sum, 2*i)
	}
	for range par.Pairs(slices.All(want)) {
		break
	}
}

func same(_ context.Context, i int) (int, error) { return i, nil }

func odd(_ context.Context, i int) (bool, error) { return i%2 == 1, nil }

func add(_ context.Context, a, b int) (int, error) { return a + b, nil }
