package par_test

import (
	"context"
	"errors"
	"io"
	"iter"
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

func TestCallsOnAPoolWithARateTakeTurns(t *testing.T) {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	fn := func(context.Context, int) (int, error) { return 0, nil }
	each := func(context.Context, int) error { return nil }
	pass := func(_ context.Context, i int) (int, error) { return i, nil }
	drain := func(t *testing.T, results iter.Seq2[int, error]) {
		n := 0
		for _, err := range results {
			check.OK(t, err)
			n++
		}
		check.Equal(t, "results", n, len(items))
	}
	for name, run := range map[string]func(t *testing.T, ctx context.Context, on *weir.Pool){
		"Each": func(t *testing.T, ctx context.Context, on *weir.Pool) {
			check.OK(t, par.Each(ctx, items, each, par.On(on)))
		},
		"Each of a sequence": func(t *testing.T, ctx context.Context, on *weir.Pool) {
			check.OK(t, par.Each(ctx, slices.Values(items), each, par.On(on)))
		},
		"Map": func(t *testing.T, ctx context.Context, on *weir.Pool) {
			_, err := par.Map(ctx, items, fn, par.On(on), par.Limit(3))
			check.OK(t, err)
		},
		"Stream": func(t *testing.T, ctx context.Context, on *weir.Pool) {
			drain(t, par.Stream(ctx, items, fn, par.On(on)))
		},
		"Stream of a sequence": func(t *testing.T, ctx context.Context, on *weir.Pool) {
			drain(t, par.Stream(ctx, slices.Values(items), fn, par.On(on), par.Ahead(2), par.Unordered()))
		},
		"Pipe": func(t *testing.T, ctx context.Context, on *weir.Pool) {
			drain(t, par.Pipe(par.Pipe(items, pass), fn, par.On(on)).All(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := weir.New(4, weir.Rate(10, time.Second, 1))
				defer p.Close()
				for _, on := range []*weir.Pool{p, p.Lane(2)} {
					time.Sleep(time.Second)
					begin := time.Now()
					run(t, t.Context(), on)
					if took := time.Since(begin).Round(time.Millisecond); took < 900*time.Millisecond || took > 1300*time.Millisecond { // a helper may come too late for a call
						t.Errorf("%d calls took %v", len(items), took)
					}
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(250*time.Millisecond, cancel)
					begin = time.Now()
					for _, err := range par.Stream(ctx, items, fn, par.On(on)) {
						if err != nil {
							check.Error(t, err, context.Canceled)
						}
					}
					if took := time.Since(begin); took > 251*time.Millisecond {
						t.Errorf("a stream that is cancelled ends after %v", took)
					}
					time.Sleep(time.Second)
					check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
						begin := time.Now()
						run(t, ctx, on) // of subtasks
						if took := time.Since(begin); took >= 900*time.Millisecond {
							t.Errorf("calls of subtasks took %v", took)
						}
						return nil
					}))
				}
			})
		})
	}
}

func TestReduceTakesTurnsForItsHelpersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4, weir.Rate(1, time.Second, 1))
		defer p.Close()
		begin := time.Now()
		sum, err := par.Reduce(t.Context(), upTo(100), add, par.On(p), par.Limit(4))
		check.OK(t, err)
		check.Equal(t, "sum", sum, 4950)
		if took := time.Since(begin); took > 4*time.Second { // a helper for each part, and one for the parts
			t.Errorf("99 calls took %v", took)
		}
	})
}

func TestTriesTakeTurnsOfTheRatesOfLoopAndPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Rate(1, time.Second, 1))
		defer p.Close()
		fails := func(context.Context, int) (int, error) { return 0, weir.RetryAfter(io.EOF, 0) }
		for per, want := range map[time.Duration]time.Duration{time.Millisecond: 3 * time.Second, time.Minute: 3 * time.Minute} {
			time.Sleep(time.Second)
			begin := time.Now()
			_, err := par.Map(t.Context(), []int{1}, fails, par.On(p), par.Rate(weir.Rate(1, per, 1)), par.Retry(weir.Retry(weir.RetryPolicy{Tries: 4})))
			check.Error(t, err, io.EOF)
			check.Equal(t, "time of four tries", time.Since(begin).Round(100*time.Millisecond), want)
		}
	})
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
