package par_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// stopper is a source that says when it was stopped.
type stopper struct{ stopped atomic.Bool }

func (s *stopper) numbers(yield func(int) bool) {
	defer s.stopped.Store(true)
	for i := 0; yield(i); i++ {
	}
}

func TestLeavingARangeStatementEndsTheStream(t *testing.T) {
	leave := map[string]func(t *testing.T, stream iter.Seq2[int, error]){
		"break": func(t *testing.T, stream iter.Seq2[int, error]) {
			for _, err := range stream {
				check.OK(t, err)
				break
			}
		},
		"panic": func(t *testing.T, stream iter.Seq2[int, error]) {
			check.Equal(t, "panic", check.Caught(func() {
				for _, err := range stream {
					check.OK(t, err)
					explode()
				}
			}), any(errBoom))
		},
		"Goexit": func(t *testing.T, stream iter.Seq2[int, error]) {
			check.Equal(t, "exits", check.Exits(func() {
				for _, err := range stream {
					check.OK(t, err)
					runtime.Goexit()
				}
			}), true)
		},
	}
	for name, leave := range leave {
		for where, opt := range map[string]func() par.StreamOption{
			"own goroutines": func() par.StreamOption { return par.Limit(4) },
			"pool":           func() par.StreamOption { return par.On(weir.New(2, weir.IdleTimeout(0))) },
		} {
			check.Bubble(t, name+", "+where, func(t *testing.T) {
				var source stopper
				var running check.Gauge
				leave(t, par.Stream(t.Context(), source.numbers, func(ctx context.Context, i int) (int, error) {
					running.Enter()
					defer running.Leave()
					if i > 0 {
						<-ctx.Done()
						time.Sleep(time.Second)
					}
					return i, nil
				}, par.Limit(4), opt()))
				check.Equal(t, "source stopped", source.stopped.Load(), true)
				check.Equal(t, "still running", running.Now.Load(), 0)
			})
		}
	}
}

func TestAStreamPanicsAsItsFunctionOrSourceDoes(t *testing.T) {
	for where, opt := range map[string]func() par.StreamOption{
		"own goroutines": func() par.StreamOption { return par.Limit(4) },
		"pool":           func() par.StreamOption { return par.On(weir.New(2, weir.IdleTimeout(0))) },
	} {
		for _, opts := range [][]par.StreamOption{{par.Limit(4)}, {par.Limit(4), par.KeepGoing()}, {par.Limit(1), par.Unordered()}} {
			check.Bubble(t, "with its function, "+where, func(t *testing.T) {
				var source stopper
				var running check.Gauge
				wantPanic(t, func() {
					for _, err := range par.Stream(t.Context(), source.numbers, func(ctx context.Context, i int) (int, error) {
						running.Enter()
						defer running.Leave()
						switch {
						case i == 3:
							time.Sleep(time.Second)
							explode()
						case i > 3:
							<-ctx.Done()
						}
						return i, nil
					}, append(opts, opt())...) {
						check.OK(t, err)
					}
				})
				check.Equal(t, "source stopped", source.stopped.Load(), true)
				check.Equal(t, "still running", running.Now.Load(), 0)
			})
			check.Bubble(t, "with its source, "+where, func(t *testing.T) {
				var running check.Gauge
				wantPanic(t, func() {
					for _, err := range par.Stream(t.Context(), func(yield func(int) bool) {
						_ = yield(0) && yield(1)
						explode()
					}, func(ctx context.Context, i int) (int, error) {
						running.Enter()
						defer running.Leave()
						<-ctx.Done()
						return i, nil
					}, append(opts, opt())...) {
						check.OK(t, err)
					}
				})
				check.Equal(t, "still running", running.Now.Load(), 0)
			})
		}
	}
}

func TestASourceThatExitsHasFailed(t *testing.T) {
	for _, opts := range [][]par.StreamOption{nil, {par.KeepGoing()}, {par.Ahead(1)}} {
		check.Bubble(t, "", func(t *testing.T) {
			var got []string
			for value, err := range par.Stream(t.Context(), func(yield func(int) bool) {
				_ = yield(0) && yield(1)
				runtime.Goexit()
			}, same, opts...) {
				got = append(got, fmt.Sprint(value, err))
			}
			check.Equal(t, "results", fmt.Sprintf("%q", got), `["0 <nil>" "1 <nil>" "0 task 2: weir: task called runtime.Goexit"]`)
		})
	}
	check.Bubble(t, "but not if it was stopped before", func(t *testing.T) {
		var last error
		for _, err := range par.Stream(t.Context(), par.Results(func(yield func(int, error) bool) {
			_ = yield(0, errBoom) && yield(1, nil)
			runtime.Goexit()
		}), same, par.Ahead(1)) {
			last = err
		}
		check.Equal(t, "error", last, errBoom)
	})
}

func TestAStreamMayBeRangedOverAgain(t *testing.T) {
	stream := par.Stream(t.Context(), upTo(100), same)
	for range 3 {
		n := 0
		for i, err := range stream {
			check.OK(t, err)
			check.Equal(t, "item", i, n)
			n++
		}
		check.Equal(t, "items", n, 100)
	}
	for i, err := range par.Stream(t.Context(), upTo(0), same) {
		t.Error("a result of nothing:", i, err)
	}
}

func TestNothingRunsBeforeTheRangeStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := par.Stream(t.Context(), func(func(int) bool) { t.Error("the source was read") }, same)
		time.Sleep(time.Hour)
		check.Equal(t, "stream", stream != nil, true)
	})
}

// Also under the race detector: the counts are not guarded.
func TestWhatAStreamHasDoneIsSeenWhenItIsLeft(t *testing.T) {
	for _, source := range []int{0, 1} {
		counts := make([]int, 1000)
		count := func(_ context.Context, i int) (int, error) {
			counts[i]++
			return i, nil
		}
		for _, err := range anyStream(t.Context(), source, len(counts), count, par.Limit(4), par.Unordered()) {
			check.OK(t, err)
			break
		}
		for i, n := range counts {
			if n > 1 {
				t.Errorf("item %d was seen %d times", i, n)
			}
		}
	}
}
