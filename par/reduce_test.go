package par_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestReduceKeepsTheOrder(t *testing.T) {
	r := random(t)
	words := make([]string, 3000)
	for i := range words {
		words[i] = fmt.Sprint(i, " ")
	}
	concatenate := func(_ context.Context, a, b string) (string, error) {
		if len(b)%7 == 0 {
			runtime.Gosched()
		}
		return a + b, nil
	}
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			for range check.Scale(30, 5) {
				n := r.IntN(len(words))
				got, err := par.Reduce(t.Context(), words[:n], concatenate, append(where, par.Limit(1+r.IntN(9)))...)
				check.OK(t, err)
				if want := strings.Join(words[:n], ""); got != want {
					t.Fatalf("%d words: got %q", n, got)
				}
			}
		})
	}
	got, err := par.Reduce(t.Context(), slices.Values(words), concatenate)
	check.OK(t, err)
	check.Equal(t, "from a sequence", got, strings.Join(words, ""))
	got, err = par.Reduce(t.Context(), words[:1], concatenate)
	check.OK(t, err)
	check.Equal(t, "one", got, words[0])
	got, err = par.Reduce(t.Context(), words[:0], concatenate)
	check.OK(t, err)
	check.Equal(t, "none", got, "")
}

func TestReduceEndsEarly(t *testing.T) {
	fail := func(end func() error) func(context.Context, int, int) (int, error) {
		return func(_ context.Context, a, b int) (int, error) {
			if b == 70 {
				return 0, end()
			}
			return b, nil
		}
	}
	for name, opts := range map[string][]par.Option{"": nil, "KeepGoing has no meaning": {par.KeepGoing()}} {
		check.Bubble(t, "at an error "+name, func(t *testing.T) {
			got, err := par.Reduce(t.Context(), upTo(100), fail(func() error { return errBoom }), append(opts, par.Limit(1))...)
			check.Equal(t, "message", err.Error(), "task 70: boom")
			check.Equal(t, "result", got, 0)
			_, err = par.Reduce(t.Context(), upTo(100), fail(func() error { runtime.Goexit(); return nil }), append(opts, par.Limit(1))...)
			check.Error(t, err, weir.ErrGoexit)
		})
	}
	check.Bubble(t, "at an error of its last part", func(t *testing.T) {
		// One worker for each half: the halves meet at the end.
		_, err := par.Reduce(t.Context(), []int{1, 2, 3, 4}, func(_ context.Context, a, b int) (int, error) {
			time.Sleep(time.Second)
			if a+b == 10 || a == 1 && b == 9 || a == 3 && b == 7 {
				return 0, errBoom
			}
			return a + b, nil
		}, par.Limit(2))
		check.Error(t, err, errBoom)
	})
	check.Bubble(t, "at a panic", func(t *testing.T) {
		wantPanic(t, func() {
			_, _ = par.Reduce(t.Context(), upTo(100), fail(func() error { explode(); return nil }), par.Limit(1))
		})
	})
	check.Bubble(t, "at the end of the context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second/2)
		defer cancel()
		calls := 0
		_, err := par.Reduce(ctx, upTo(100), func(context.Context, int, int) (int, error) {
			calls++
			time.Sleep(time.Second)
			return 0, nil
		}, par.Limit(1))
		check.Error(t, err, context.DeadlineExceeded)
		check.Equal(t, "calls", calls, 3)
		_, err = par.Reduce(ctx, slices.Values(upTo(3)), add)
		check.Error(t, err, context.DeadlineExceeded)
		_, err = par.Reduce(ctx, upTo(0), add)
		check.Error(t, err, context.DeadlineExceeded)
	})
	t.Run("at an error of the source", func(t *testing.T) {
		_, err := par.Reduce(t.Context(), par.Results(func(yield func(int, error) bool) {
			_ = yield(1, nil) && yield(0, errBoom) && yield(2, nil)
		}), add)
		check.Equal(t, "error", err, errBoom)
	})
}
