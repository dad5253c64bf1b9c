package par_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// passOn takes up to a second for an item, and fails for each tenth.
func passOn(_ context.Context, i int) (int, error) {
	time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
	if i%10 == 3 {
		return 0, errBoom
	}
	return i, nil
}

func TestStages(t *testing.T) {
	check.Bubble(t, "pass errors on", func(t *testing.T) {
		first := par.Pipe(upTo(100), passOn, par.KeepGoing(), par.Limit(4))
		second := par.Stream(t.Context(), first, passOn, par.KeepGoing(), par.Limit(3))
		next := 0
		for i, err := range second {
			if next%10 == 3 {
				check.Equal(t, "error", err.Error(), fmt.Sprintf("task %d: boom", next))
			} else {
				check.OK(t, err)
				check.Equal(t, "item", i, next)
			}
			next++
		}
		check.Equal(t, "items", next, 100)
	})
	check.Bubble(t, "end at the first error", func(t *testing.T) {
		var source stopper
		n, last := 0, error(nil)
		for _, err := range par.Stream(t.Context(), par.Pipe(source.numbers, passOn), same) {
			n, last = n+1, err
		}
		check.Equal(t, "results", n, 4)
		check.Equal(t, "error", last.Error(), "task 3: boom")
		check.Equal(t, "source stopped", source.stopped.Load(), true)
	})
	check.Bubble(t, "work at the same time, and hold each other back", func(t *testing.T) {
		var begun [2]atomic.Int32
		stage := func(k int) func(context.Context, int) (int, error) {
			return func(_ context.Context, i int) (int, error) {
				begun[k].Add(1)
				time.Sleep(time.Second)
				return i, nil
			}
		}
		begin := time.Now()
		first := par.Pipe(upTo(60), stage(0), par.Limit(2), par.Ahead(3))
		n := 0
		for _, err := range par.Stream(t.Context(), first, stage(1), par.Limit(2), par.Ahead(4)) {
			check.OK(t, err)
			if n++; n == 20 {
				if took := time.Since(begin); took > 15*time.Second {
					t.Errorf("20 items took %v", took)
				}
				time.Sleep(time.Hour)
				check.Equal(t, "second stage", begun[1].Load(), 24)
				check.Equal(t, "first stage", begun[0].Load(), 27)
			}
		}
		check.Equal(t, "items", n, 60)
	})
	check.Bubble(t, "panic through all", func(t *testing.T) {
		first := par.Pipe(upTo(9), func(context.Context, int) (int, error) { explode(); return 0, nil })
		value := check.Caught(func() {
			for i, err := range par.Stream(t.Context(), first, same) {
				t.Error("a result:", i, err)
			}
		})
		p, isPanic := value.(*weir.Panic)
		if !isPanic || !errors.Is(p, errBoom) {
			t.Errorf("panicked with %v", value)
		}
	})
	for where, opt := range map[string]func() par.StreamOption{
		"own goroutines": func() par.StreamOption { return par.Limit(2) },
		"pool":           func() par.StreamOption { return par.On(weir.New(2, weir.IdleTimeout(0))) },
	} {
		check.Bubble(t, "panic with the stack of the stage, "+where, func(t *testing.T) {
			first := par.Pipe(upTo(9), func(context.Context, int) (int, error) { explode(); return 0, nil }, opt())
			last := par.BatchFor[int](par.Pipe(par.Pipe(first, same, opt()), same, opt()), 2, time.Hour)
			for name, run := range map[string]func(){
				"Stream": func() {
					for _, err := range par.Stream(t.Context(), last, func(context.Context, []int) (int, error) { return 0, nil }, opt()) {
						t.Error("a result, or", err)
					}
				},
				"Each":   func() { _ = par.Each(t.Context(), last, func(context.Context, []int) error { return nil }) },
				"Reduce": func() { _, _ = par.Reduce(t.Context(), par.Pipe(first, same, opt()), add) },
			} {
				p, isPanic := check.Caught(run).(*weir.Panic)
				if !isPanic {
					t.Fatal(name, "did not panic with a *weir.Panic")
				}
				check.Equal(t, name+": value", p.Value, any(errBoom))
				if !strings.Contains(string(p.Stack), "explode") {
					t.Errorf("%s: the stack is that of another panic:\n%s", name, p.Stack)
				}
			}
		})
	}
	check.Bubble(t, "run again and again", func(t *testing.T) {
		first := par.Pipe(upTo(9), same)
		for range 3 {
			sum := 0
			for i, err := range par.Pipe(first, same).All(t.Context()) {
				check.OK(t, err)
				sum += i
			}
			check.Equal(t, "sum", sum, 36)
		}
	})
}

// What a stage before the last is at must end with the last one, even if it would wait forever
// otherwise.
func TestTheLastStageEndsAll(t *testing.T) {
	stuck := func(ctx context.Context, i int) (int, error) {
		if i >= 5 {
			<-ctx.Done()
		}
		return i, ctx.Err()
	}
	for where, opt := range map[string]func() par.StreamOption{
		"own goroutines": func() par.StreamOption { return par.Limit(4) },
		"pool":           func() par.StreamOption { return par.On(weir.New(8, weir.IdleTimeout(0))) },
	} {
		for how, end := range map[string]func(i int) (error, bool){
			"break":      func(i int) (error, bool) { return nil, i == 4 },
			"error":      func(i int) (error, bool) { return map[int]error{4: errBoom}[i], false },
			"never goes": func(int) (error, bool) { return nil, false },
		} {
			check.Bubble(t, where+", "+how, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var source stopper
				first := par.Pipe(source.numbers, stuck, par.Limit(4), opt())
				batches := par.BatchFor[int](first, 1, time.Minute)
				second := par.Pipe(batches, func(_ context.Context, batch []int) (int, error) { return batch[0], nil }, opt())
				begin := time.Now()
				n := 0
				for i, err := range par.Stream(ctx, second, func(_ context.Context, i int) (int, error) {
					err, _ := end(i)
					return i, err
				}, opt()) {
					switch {
					case n == 4 && how == "error":
						check.Error(t, err, errBoom)
					case n == 5:
						check.Error(t, err, context.DeadlineExceeded)
					default:
						check.OK(t, err)
						check.Equal(t, "item", i, n)
					}
					n++
					if _, leave := end(i); leave {
						break
					}
				}
				if took := time.Since(begin); how != "never goes" && took != 0 || took > time.Hour {
					t.Errorf("took %v", took)
				}
				check.Equal(t, "results", n, map[string]int{"break": 5, "error": 5, "never goes": 6}[how])
				check.Equal(t, "source stopped", source.stopped.Load(), true)
			})
		}
	}
}

// A loop over a pipeline ends it, too.
func TestALoopAndItsPipelineEndTogether(t *testing.T) {
	check.Bubble(t, "with an error of the pipeline", func(t *testing.T) {
		pipeline := par.Pipe(upTo(100), func(_ context.Context, i int) (int, error) {
			if i == 70 {
				return 0, errBoom
			}
			return i, nil
		})
		got, err := par.Map(t.Context(), pipeline, same, par.Limit(1))
		check.Error(t, err, errBoom)
		check.Equal(t, "results", len(got), 71)
	})
	check.Bubble(t, "with an error of the loop", func(t *testing.T) {
		pipeline := par.Pipe(upTo(100), func(ctx context.Context, i int) (int, error) {
			if i >= 5 {
				<-ctx.Done()
			}
			return i, nil
		})
		begin := time.Now()
		err := par.Each(t.Context(), pipeline, func(_ context.Context, i int) error {
			time.Sleep(time.Second)
			return errBoom
		})
		check.Error(t, err, errBoom)
		check.Equal(t, "time", time.Since(begin), time.Second)
	})
}

// A stream as the source of another does not learn when that ends: it stops at its next
// result.
func TestAStreamMayBeTheSourceOfAPipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var source stopper
		first := par.Stream(t.Context(), source.numbers, passOn, par.KeepGoing())
		second := par.Pipe(par.Results(first), passOn, par.KeepGoing())
		n := 0
		for i, err := range par.Stream(t.Context(), second, passOn, par.KeepGoing(), par.Unordered()) {
			if i%10 == 3 || err != nil && !errors.Is(err, errBoom) {
				t.Errorf("item %d, error %v", i, err)
			}
			if n++; n == 50 {
				break
			}
		}
		check.Equal(t, "source stopped", source.stopped.Load(), true)
	})
}

// A sequence that watches its context may end without a word: the results that are left out are missed.
func TestResultsTellOfTheContextIfTheirSequenceDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		source := par.Results(func(yield func(int, error) bool) {
			for check.Sleep(ctx, time.Second) && yield(1, nil) {
			}
		})
		time.AfterFunc(2500*time.Millisecond, func() { cancel(errBoom) })
		n, last := 0, error(nil)
		for _, last = range source.All(ctx) {
			n++
		}
		check.Equal(t, "results", n, 3)
		check.Error(t, last, errBoom)
	})
}

func TestResultsEndWithTheContext(t *testing.T) {
	source := par.Results(func(yield func(int, error) bool) {
		for yield(1, nil) {
		}
	})
	for name, all := range map[string]*par.Pipeline[int]{"alone": source, "in a stage": par.Pipe(source, passOn)} {
		check.Bubble(t, name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			for i, err := range all.All(ctx) {
				switch n++; {
				case n == 3:
					cancel()
				case n > 3:
					check.Error(t, err, context.Canceled)
					check.Equal(t, "item", i, 0)
				}
			}
			check.Equal(t, "results", n, 4)
		})
	}
}
