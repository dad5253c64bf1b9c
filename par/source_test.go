package par_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestASequenceThatPanicsOrExitsEndsTheLoop(t *testing.T) {
	broken := func(end func()) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range 3 {
				if !yield(i) {
					return
				}
			}
			end()
		}
	}
	for name, opts := range map[string][]par.Option{"first error": nil, "keep going": {par.KeepGoing()}} {
		check.Bubble(t, name, func(t *testing.T) {
			var running check.Gauge
			run := func(end func()) {
				check.OK(t, par.Each(t.Context(), broken(end), func(ctx context.Context, _ int) error {
					running.Enter()
					defer running.Leave()
					<-ctx.Done()
					return nil
				}, append(opts, par.Limit(5))...))
			}
			check.Equal(t, "panic", check.Caught(func() { run(explode) }), any(errBoom))
			check.Equal(t, "still running", running.Now.Load(), 0)
			if !check.Exits(func() { run(runtime.Goexit) }) {
				t.Error("the loop returned")
			}
			check.Equal(t, "still running", running.Now.Load(), 0)
		})
	}
	check.Bubble(t, "with an error", func(t *testing.T) {
		failing := par.Results(func(yield func(int, error) bool) {
			_ = yield(1, nil) && yield(0, errBoom) && yield(2, nil)
		})
		got, err := par.Map(t.Context(), failing, same, par.KeepGoing())
		check.Equal(t, "message", err.Error(), "boom")
		check.Equal(t, "results", fmt.Sprint(got), "[1 0 2]")
		kept, err := par.Filter(t.Context(), failing, odd, par.KeepGoing())
		check.Equal(t, "message", err.Error(), "boom")
		check.Equal(t, "kept", fmt.Sprint(kept), "[1]")
		err = par.Each(t.Context(), failing, nothing, par.Limit(1))
		check.Equal(t, "error", err, errBoom)
	})
	check.Bubble(t, "with the error of a stage", func(t *testing.T) {
		failingAt := func(bad int) func(context.Context, int) (int, error) {
			return func(_ context.Context, item int) (int, error) {
				if item == bad {
					return 0, errBoom
				}
				return item, nil
			}
		}
		fails := func(_ context.Context, item int) error {
			if item == 0 {
				return errBoom
			}
			return nil
		}
		for _, keepGoing := range [][]par.Option{nil, {par.KeepGoing()}} {
			stage := par.Pipe(upTo(4), failingAt(2), par.KeepGoing())
			err := par.Each(t.Context(), stage, fails, append(keepGoing, par.Limit(1))...)
			want := "task 0: boom"
			if keepGoing != nil {
				want += "\ntask 2: boom"
			}
			check.Equal(t, "message", err.Error(), want)
			stage = par.Pipe(upTo(4), failingAt(2))
			err = par.Each(t.Context(), stage, nothing, keepGoing...)
			check.Equal(t, "message", err.Error(), "task 2: boom")
		}
	})
}

// An error that cannot be compared is an error like others.
type uncomparable []string

func (uncomparable) Error() string { return "uncomparable" }

func TestACauseOfAnyTypeComesOut(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.Join(uncomparable{"x"}, errBoom))
	for _, opts := range [][]par.Option{nil, {par.KeepGoing()}} {
		check.Error(t, par.Each(ctx, slices.Values(upTo(3)), nothing, opts...), errBoom)
	}
}

func TestTheErrorOfASourceIsTheCauseAsItIs(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		source := par.Results(func(yield func(int, error) bool) {
			if yield(0, nil) {
				time.Sleep(time.Second)
				yield(0, errBoom)
			}
		})
		err := par.Each(t.Context(), source, func(ctx context.Context, _ int) error {
			<-ctx.Done()
			if cause := context.Cause(ctx); cause != errBoom { //nolint:errorlint // as it is
				t.Errorf("the cause is %v", cause)
			}
			return nil
		}, par.Limit(4))
		check.Equal(t, "error", err, errBoom)
	})
}

func TestALoopLeavesASilentChannel(t *testing.T) {
	check.Bubble(t, "at an error", func(t *testing.T) {
		ch := make(chan int, 1)
		ch <- 0
		check.Error(t, par.Each(t.Context(), ch, func(context.Context, int) error { return errBoom }), errBoom)
	})
	check.Bubble(t, "at the end of the context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		check.Error(t, par.Each(ctx, make(chan int), nothing), context.DeadlineExceeded)
	})
}

func TestASequenceIsReadAsFarAsTheLimitOnly(t *testing.T) {
	check.Bubble(t, "by the caller", func(t *testing.T) {
		caller := goroutine()
		var read, done atomic.Int32
		seq := func(yield func(int) bool) {
			for i := range 100 {
				check.Equal(t, "goroutine", goroutine(), caller)
				read.Add(1)
				if !yield(i) {
					return
				}
			}
		}
		check.OK(t, par.Each(t.Context(), seq, func(_ context.Context, i int) error {
			time.Sleep(time.Second)
			// Three run, and the caller has one in its hands.
			if ahead := read.Load() - done.Add(1) + 1; ahead > 4 {
				t.Errorf("%d items are read and not done", ahead)
			}
			return nil
		}, par.Limit(3)))
		check.Equal(t, "read", read.Load(), 100)
	})
}

// As a range statement does. Such a sequence used to be read to its end, if it had one.
func TestASequenceThatGoesOnAfterFalsePanics(t *testing.T) {
	fail := func(context.Context, int) (int, error) { return 0, errBoom }
	failed := func(ctx context.Context, batch []int) (int, error) { return fail(ctx, batch[0]) }
	each := func(ctx context.Context, i int) error { _, err := fail(ctx, i); return err }
	numbers := func(yield func(int) bool) {
		for i := range 1_000_000 {
			yield(i)
		}
	}
	results := func(yield func(int, error) bool) { numbers(func(i int) bool { return yield(i, nil) }) }
	drain := func(stream iter.Seq2[int, error]) {
		for _, err := range stream {
			_ = err // the sequence is what counts
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, use := range map[string]func(){
		"Each": func() { _ = par.Each(t.Context(), iter.Seq[int](numbers), each) },
		"Map":  func() { _, _ = par.Map(t.Context(), par.Results(results), fail) },
		"Reduce": func() {
			_, _ = par.Reduce(cancelled, iter.Seq[int](numbers), func(context.Context, int, int) (int, error) { return 0, nil })
		},
		"Stream":  func() { drain(par.Stream(t.Context(), iter.Seq[int](numbers), fail)) },
		"Results": func() { drain(par.Stream(t.Context(), par.Results(results), fail)) },
		"Batch":   func() { drain(par.Stream(t.Context(), par.Batch[int](iter.Seq[int](numbers), 3), failed)) },
		"BatchFor": func() {
			drain(par.Stream(t.Context(), par.BatchFor[int](iter.Seq[int](numbers), 3, time.Minute), failed))
		},
	} {
		t.Run(name, func(t *testing.T) {
			err, _ := check.Caught(use).(error)
			fault, ok := errors.AsType[runtime.Error](err)
			if !ok || !strings.Contains(fault.Error(), "range function continued iteration") {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}

func TestCallsHaveTheProfilerLabelsOfTheirCaller(t *testing.T) {
	for kind := range 4 {
		for _, labelled := range []bool{false, true} {
			pprof.Do(t.Context(), pprof.Labels("request", "7"), func(ctx context.Context) {
				if labelled {
					ctx = weir.Label(ctx, "order")
				}
				_, err := anyMap(ctx, kind, 20, func(context.Context, int) (int, error) {
					if without := callsWithout(`"request":"7"`); without != "" {
						return 0, errors.New(without)
					}
					return 0, nil
				})
				check.OK(t, err)
			})
		}
	}
}

// callsWithout returns a part of the profile that has a call of callsWithout without a label, and "" if there is none.
func callsWithout(label string) string {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return err.Error()
	}
	for part := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(part, "par_test.callsWithout") && !strings.Contains(part, label) {
			return part
		}
	}
	return ""
}
