package par_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestLoopsHaveRatesAndRetries(t *testing.T) {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	type call = func(context.Context, int) (int, error)
	for name, run := range map[string]func(ctx context.Context, fn call, opts ...par.Option) error{
		"Each": func(ctx context.Context, fn call, opts ...par.Option) error {
			return par.Each(ctx, items, func(ctx context.Context, i int) error { _, err := fn(ctx, i); return err }, opts...)
		},
		"Each of a sequence": func(ctx context.Context, fn call, opts ...par.Option) error {
			return par.Each(ctx, slices.Values(items), func(ctx context.Context, i int) error { _, err := fn(ctx, i); return err }, opts...)
		},
		"Map": func(ctx context.Context, fn call, opts ...par.Option) error {
			got, err := par.Map(ctx, items, fn, opts...)
			if err == nil && !slices.Equal(got, items) {
				t.Errorf("the results are %v", got)
			}
			return err
		},
		"Filter": func(ctx context.Context, fn call, opts ...par.Option) error {
			_, err := par.Filter(ctx, items, func(ctx context.Context, i int) (bool, error) { _, err := fn(ctx, i); return true, err }, opts...)
			return err
		},
		"Stream": func(ctx context.Context, fn call, opts ...par.Option) error {
			var streamOpts []par.StreamOption
			for _, o := range opts {
				streamOpts = append(streamOpts, o)
			}
			for _, err := range par.Stream(ctx, items, fn, streamOpts...) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := weir.New(4)
				defer p.Close()
				for _, on := range [][]par.Option{nil, {par.On(p)}} {
					var calls atomic.Int32
					begin := time.Now()
					fn := func(_ context.Context, i int) (int, error) {
						if calls.Add(1)%2 == 1 { // so at least every other try succeeds
							return 0, weir.RetryAfter(io.EOF, 0)
						}
						return i, nil
					}
					opts := append([]par.Option{par.Rate(weir.Rate(10, time.Second, 1)), par.Retry(weir.Retry(weir.RetryPolicy{Tries: 100}))}, on...)
					if err := run(t.Context(), fn, opts...); err != nil {
						t.Error(err)
					}
					if d, want := time.Since(begin), time.Duration(calls.Load()-1)*time.Second/10; d != want {
						t.Errorf("%d calls took %v, want %v", calls.Load(), d, want)
					}
					fails := func(context.Context, int) (int, error) { return 0, io.EOF }
					err := run(t.Context(), fails, append(on, par.Retry(weir.Retry(weir.RetryPolicy{Tries: 3})))...)
					if e, ok := errors.AsType[*weir.RetryError](err); !ok || e.Tries != 3 || !errors.Is(err, io.EOF) {
						t.Errorf("what fails for good: %v", err)
					}
				}
			})
		})
	}
}

func TestKeepGoingKeepsTheErrorsOfAllTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		retry := par.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Panics: true}))
		for name, opts := range map[string][]par.Option{"alone": {retry}, "kept": {par.KeepGoing(), retry}, "on a pool": {retry, par.KeepGoing(), par.On(p)}} {
			var calls [3]int
			err := par.Each(t.Context(), []int{0, 1, 2}, func(_ context.Context, i int) error {
				if calls[i]++; i == 1 && calls[i] == 1 {
					panic(io.ErrShortWrite)
				}
				if i == 1 {
					return io.EOF
				}
				return nil
			}, opts...)
			e, ok := errors.AsType[*weir.RetryError](err)
			if !ok || !errors.Is(err, io.EOF) || errors.Is(err, io.ErrShortWrite) != (name != "alone") || len(e.Earlier) == 2 != (name != "alone") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestThePanicOfTheLastTryComesOutAsItIs(t *testing.T) {
	again := weir.Retry(weir.RetryPolicy{Tries: 2, Wait: 1, Panics: true})
	call := func(context.Context, int) (int, error) { panicsHere(); return 0, nil }
	p := weir.New(2)
	defer p.Close()
	for name, run := range map[string]func(){
		"slice":    func() { _, _ = par.Map(t.Context(), []int{1}, call, par.Retry(again)) },
		"sequence": func() { _, _ = par.Map(t.Context(), slices.Values([]int{1}), call, par.Retry(again)) },
		"pool":     func() { _, _ = par.Map(t.Context(), []int{1}, call, par.Retry(again), par.On(p)) },
		"stream": func() {
			for _, err := range par.Stream(t.Context(), []int{1}, call, par.Retry(again)) {
				t.Errorf("there is an item, with error %v", err)
			}
		},
	} {
		panicked, _ := check.Caught(run).(*weir.Panic)
		if panicked == nil || panicked.Value != any("here") || !strings.Contains(string(panicked.Stack), "panicsHere") {
			t.Errorf("%s: panicked with %+v", name, panicked)
		}
	}
}

//go:noinline
func panicsHere() { panic("here") }
