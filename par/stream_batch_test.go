package par_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
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

// batchers are both functions, the second as one that waits forever.
var batchers = map[string]func(items iter.Seq2[int, error], size int) *par.Pipeline[[]int]{
	"Batch": func(items iter.Seq2[int, error], size int) *par.Pipeline[[]int] {
		return par.Batch[int](par.Results(items), size)
	},
	"BatchFor": func(items iter.Seq2[int, error], size int) *par.Pipeline[[]int] {
		return par.BatchFor[int](par.Results(items), size, 1000*time.Hour)
	},
}

func show(ctx context.Context, batches *par.Pipeline[[]int]) string {
	var all []string
	for batch, err := range batches.All(ctx) {
		if err != nil {
			all = append(all, err.Error())
		} else {
			all = append(all, fmt.Sprint(batch))
		}
	}
	return strings.Join(all, " ")
}

func TestBatchesHaveTheirSize(t *testing.T) {
	for name, batcher := range batchers {
		check.Bubble(t, name, func(t *testing.T) {
			for n, want := range []string{"", "[0]", "[0 1]", "[0 1 2]", "[0 1 2] [3]", "[0 1 2] [3 4]", "[0 1 2] [3 4 5]"} {
				check.Equal(t, "batches", show(t.Context(), batcher(results(n), 3)), want)
			}
			n := 0
			for batch, err := range batcher(results(100), 1).All(t.Context()) {
				check.OK(t, err)
				check.Equal(t, "batch", batch[0], n)
				if n++; n == 50 {
					break
				}
			}
		})
	}
	check.Equal(t, "of a slice", show(t.Context(), par.Batch[int](upTo(5), 2)), "[0 1] [2 3] [4]")
	check.Equal(t, "of a channel", show(t.Context(), par.Batch[int](channel(5), 2)), "[0 1] [2 3] [4]")
	check.Equal(t, "of a slice", show(t.Context(), par.BatchFor[int](upTo(5), 2, time.Hour)), "[0 1] [2 3] [4]")
	for batch, err := range par.Batch[int](upTo(5), 2).All(t.Context()) {
		check.OK(t, err)
		check.Equal(t, "first", batch[0], 0)
		break
	}
}

func TestErrorsStandBetweenBatches(t *testing.T) {
	failing := func(yield func(int, error) bool) {
		_ = yield(0, nil) && yield(1, nil) && yield(2, nil) && yield(0, errBoom) && yield(3, nil) && yield(4, nil) && yield(0, errBoom) && yield(0, errBoom)
	}
	for name, batcher := range batchers {
		check.Bubble(t, name, func(t *testing.T) {
			check.Equal(t, "batches", show(t.Context(), batcher(failing, 2)), "[0 1] [2] boom [3 4] boom boom")
			stream := par.Stream(t.Context(), batcher(failing, 2), func(_ context.Context, batch []int) (int, error) {
				return len(batch), nil
			}, par.KeepGoing())
			var got []string
			for n, err := range stream {
				got = append(got, fmt.Sprint(n, " ", err))
			}
			check.Equal(t, "stream", strings.Join(got, ", "), "2 <nil>, 1 <nil>, 0 boom, 2 <nil>, 0 boom, 0 boom")
		})
	}
}

func TestBatchesEndWithTheContext(t *testing.T) {
	for name, batcher := range batchers {
		check.Bubble(t, name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second/2)
			defer cancel()
			slow := func(yield func(int, error) bool) {
				for i := 0; yield(i, nil); i++ {
					time.Sleep(time.Second)
				}
			}
			check.Equal(t, "batches", show(ctx, batcher(slow, 3)), "[0 1 2] context deadline exceeded")
		})
	}
	check.Bubble(t, "although the source is silent", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		check.Equal(t, "batches", show(ctx, par.Batch[int](make(chan int), 3)), "context deadline exceeded")
		check.Equal(t, "batches", show(ctx, par.BatchFor[int](make(chan int), 3, time.Hour)), "context deadline exceeded")
	})
}

func TestBatchesEndWithTheCauseAlsoIfTheLastOneIsHandedOver(t *testing.T) {
	for name, batcher := range batchers {
		for n := range 5 {
			check.Bubble(t, fmt.Sprint(name, ", ", n, " items"), func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if n == 0 {
					cancel(errBoom)
				}
				items := 0
				var last error
				for batch, err := range batcher(results(n), 2).All(ctx) {
					if items += len(batch); items == n {
						cancel(errBoom)
					}
					last = err
				}
				check.Equal(t, "items", items, n)
				check.Equal(t, "last error", last, errBoom)
			})
		}
	}
}

// A TaskError in the context must not look like that of an item of the batches.
func TestBatchesMarkATaskErrorOfTheirContext(t *testing.T) {
	for name, batcher := range batchers {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&weir.TaskError{Index: 7, Err: errBoom})
		for _, err := range batcher(results(9), 2).All(ctx) {
			if _, isTask := err.(*weir.TaskError); isTask || !errors.Is(err, errBoom) { //nolint:errorlint // not what it wraps
				t.Errorf("%s: %#v", name, err)
			}
		}
	}
}

func TestNoBatchComesAfterTheEndOfTheContext(t *testing.T) {
	for name, batcher := range batchers {
		for range 200 {
			ctx := &own{Context: t.Context(), done: make(chan struct{})}
			n := 0
			for batch, err := range batcher(func(yield func(int, error) bool) {
				for yield(1, nil) {
				}
			}, 1).All(ctx) {
				switch n++; {
				case n == 5:
					ctx.end()
				case n > 5 && err == nil:
					t.Fatalf("%s: %v comes after the end of the context", name, batch)
				}
			}
		}
	}
}

func TestABatchWaitsForItsTimeOnly(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		events := make(chan int)
		go func() {
			defer close(events)
			// Seconds at which events happen.
			begin := time.Now()
			for i, at := range []int{0, 1, 4, 12, 20, 21, 22, 23, 24, 40} {
				time.Sleep(time.Until(begin.Add(time.Duration(at) * time.Second)))
				events <- i
			}
			time.Sleep(time.Second)
		}()
		begin := time.Now()
		var got []string
		for batch, err := range par.BatchFor[int](events, 4, 5*time.Second).All(t.Context()) {
			check.OK(t, err)
			got = append(got, fmt.Sprint(time.Since(begin))+fmt.Sprint(batch))
		}
		check.Equal(t, "batches", strings.Join(got, " "), "5s[0 1 2] 17s[3] 23s[4 5 6 7] 29s[8] 41s[9]")
	})
	check.Bubble(t, "and reads one item while the consumer is busy", func(t *testing.T) {
		var read atomic.Int32
		seq := func(yield func(int) bool) {
			for range 100 {
				if !yield(int(read.Add(1))) {
					return
				}
			}
		}
		taken := 0
		for batch, err := range par.BatchFor[int](seq, 10, time.Hour).All(t.Context()) {
			check.OK(t, err)
			taken += len(batch)
			time.Sleep(time.Minute)
			check.Equal(t, "read", int(read.Load()), min(100, taken+1))
		}
	})
	check.Bubble(t, "and reads nothing of a channel meanwhile", func(t *testing.T) {
		type events chan int
		all := channel(10)
		for batch, err := range par.BatchFor[int](events(all), 4, time.Hour).All(t.Context()) {
			check.OK(t, err)
			synctest.Wait()
			check.Equal(t, "not read", len(all), max(0, 9-batch[len(batch)-1]))
		}
	})
	check.Bubble(t, "and ends while the channel is empty", func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errBoom)
		defer cancel()
		events := make(chan int, 1)
		events <- 1
		check.Equal(t, "batches", show(ctx, par.BatchFor[int](events, 4, time.Second)), "[1] boom")
	})
	check.Bubble(t, "and can be left", func(t *testing.T) {
		events := make(chan int, 2)
		events <- 1
		for batch, err := range par.BatchFor[int](events, 4, time.Second).All(t.Context()) {
			check.OK(t, err)
			check.Equal(t, "batch", fmt.Sprint(batch), "[1]")
			break
		}
	})
}

func TestASourceThatPanicsOrExitsEndsItsBatches(t *testing.T) {
	broken := func(end func()) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			_ = yield(0, nil) && yield(1, nil) && yield(2, nil)
			end()
		}
	}
	check.Bubble(t, "Batch", func(t *testing.T) {
		check.Equal(t, "panic", check.Caught(func() { show(t.Context(), par.Batch[int](par.Results(broken(explode)), 2)) }), any(errBoom))
		if !check.Exits(func() { show(t.Context(), par.Batch[int](par.Results(broken(runtime.Goexit)), 2)) }) {
			t.Error("did not exit")
		}
	})
	check.Bubble(t, "BatchFor", func(t *testing.T) {
		wantPanic(t, func() { show(t.Context(), par.BatchFor[int](par.Results(broken(explode)), 2, time.Hour)) })
		check.Equal(t, "batches", show(t.Context(), par.BatchFor[int](par.Results(broken(runtime.Goexit)), 2, time.Hour)),
			"[0 1] [2] weir: task called runtime.Goexit")
		for _, err := range par.BatchFor[int](par.Results(broken(func() {})), 2, time.Hour).All(t.Context()) {
			check.OK(t, err)
			break
		}
	})
	for name, batcher := range batchers {
		check.Bubble(t, name+", by its consumer", func(t *testing.T) {
			check.Equal(t, "panic", check.Caught(func() {
				for _, err := range batcher(results(9), 2).All(t.Context()) {
					check.OK(t, err)
					explode()
				}
			}), any(errBoom))
			if !check.Exits(func() {
				for _, err := range batcher(results(9), 2).All(t.Context()) {
					check.OK(t, err)
					runtime.Goexit()
				}
			}) {
				t.Error("did not exit")
			}
		})
	}
}

func TestABatchIsMadeAsLongAsTheLastOne(t *testing.T) {
	const size = 1000
	items := upTo(100 * size)
	got := testing.AllocsPerRun(5, func() {
		for _, err := range par.Batch[int](items, size).All(t.Context()) {
			check.OK(t, err)
		}
	})
	if got > 150 {
		t.Errorf("100 batches take %v allocations", got)
	}
}

func TestBatchesAreSlicesOfTheirOwn(t *testing.T) {
	var batches [][]int
	for batch, err := range par.Batch[int](upTo(10), 4).All(t.Context()) {
		check.OK(t, err)
		batches = append(batches, append(batch, -1))
	}
	check.Equal(t, "all", fmt.Sprint(slices.Concat(batches...)), "[0 1 2 3 -1 4 5 6 7 -1 8 9 -1]")
}
