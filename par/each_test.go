package par_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// anyMap runs Map over the numbers from 0 to n, from a source of some kind.
func anyMap(ctx context.Context, kind, n int, fn func(context.Context, int) (int, error), opts ...par.Option) ([]int, error) {
	switch kind {
	case 0:
		return par.Map(ctx, upTo(n), fn, opts...)
	case 1:
		return par.Map(ctx, slices.Values(upTo(n)), fn, opts...)
	case 2:
		return par.Map(ctx, par.Results(results(n)), fn, opts...)
	default:
		return par.Map(ctx, channel(n), fn, opts...)
	}
}

// trial is a function that fails, or exits, for some items.
type trial struct {
	seen   counts
	fails  []error // by item
	limit  int64
	inside check.Gauge
}

func newTrial(r *rand.Rand, n, limit int) *trial {
	tr := &trial{seen: make(counts, n), fails: make([]error, n), limit: int64(limit)}
	for range r.IntN(2) * r.IntN(n/4+2) {
		if n > 0 {
			tr.fails[r.IntN(n)] = []error{errBoom, weir.ErrGoexit}[r.IntN(2)]
		}
	}
	return tr
}

func (tr *trial) run(ctx context.Context, i int) (int, error) {
	tr.inside.Enter()
	defer tr.inside.Leave()
	tr.seen[i].Add(1)
	if i%5 == 0 {
		runtime.Gosched()
	}
	if errors.Is(tr.fails[i], weir.ErrGoexit) {
		runtime.Goexit()
	}
	return i * i, tr.fails[i]
}

// value is what comes of an item: also with an error, unless the call does not return.
func (tr *trial) value(i int) int {
	if errors.Is(tr.fails[i], weir.ErrGoexit) {
		return 0
	}
	return i * i
}

// check compares what Map returned with a loop that does one item after the other.
func (tr *trial) check(t *testing.T, keepGoing bool, got []int, err error) {
	t.Helper()
	if peak := tr.inside.Peak.Load(); peak > tr.limit {
		t.Errorf("%d calls at once, the limit is %d", peak, tr.limit)
	}
	var want []error
	for i, err := range tr.fails {
		if err != nil {
			want = append(want, &weir.TaskError{Index: i, Err: err})
		}
	}
	if !keepGoing && len(want) > 0 {
		failed, isTask := errors.AsType[*weir.TaskError](err)
		if !isTask || !errors.Is(tr.fails[failed.Index], failed.Err) {
			t.Errorf("got error %v, which is none of %v", err, want)
		}
		for i := range tr.seen {
			if n := tr.seen[i].Load(); n > 1 {
				t.Errorf("item %d was seen %d times", i, n)
			}
		}
		return
	}
	tr.seen.each(t, 1)
	if message := fmt.Sprint(errors.Join(want...)); fmt.Sprint(err) != message {
		t.Errorf("got error %v, want %v", err, message)
	}
	if len(got) != len(tr.seen) {
		t.Fatalf("%d results for %d items", len(got), len(tr.seen))
	}
	for i, square := range got {
		check.Equal(t, fmt.Sprint("result ", i), square, tr.value(i))
	}
}

func TestLoopsDoWhatALoopDoes(t *testing.T) {
	r := random(t)
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			if where == nil {
				watched(t)
			}
			for range check.Scale(80, 10) {
				n, limit, keepGoing := r.IntN(200), 1+r.IntN(9), r.IntN(2) == 0
				if r.IntN(10) == 0 {
					n = r.IntN(10_000)
				}
				opts := append(slices.Clone(where), par.Limit(limit))
				if keepGoing {
					opts = append(opts, par.KeepGoing())
				}
				tr := newTrial(r, n, limit)
				got, err := anyMap(t.Context(), r.IntN(4), n, tr.run, opts...)
				tr.check(t, keepGoing, got, err)

				tr = newTrial(r, n, limit)
				err = par.Each(t.Context(), upTo(n), func(ctx context.Context, i int) error {
					_, err := tr.run(ctx, i)
					return err
				}, opts...)
				squares := make([]int, n)
				for i := range squares {
					squares[i] = tr.value(i)
				}
				tr.check(t, keepGoing, squares, err)

				kept, err := par.Filter(t.Context(), upTo(n), odd, opts...)
				check.OK(t, err)
				check.Equal(t, "odd numbers", len(kept), n/2)
				for i, number := range kept {
					check.Equal(t, "kept", number, 2*i+1)
				}
			}
		})
	}
}

func TestFilterKeepsWhatItCanWithAnError(t *testing.T) {
	fails := func(_ context.Context, i int) (bool, error) {
		if i%3 == 0 {
			return true, errBoom
		}
		return i%2 == 0, nil
	}
	want := []int{2, 4, 8}
	for name, run := range map[string]func() ([]int, error){
		"slice":    func() ([]int, error) { return par.Filter(t.Context(), upTo(10), fails, par.KeepGoing()) },
		"sequence": func() ([]int, error) { return par.Filter(t.Context(), slices.Values(upTo(10)), fails, par.KeepGoing()) },
	} {
		got, err := run()
		check.Error(t, err, errBoom)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestTheFirstErrorEndsALoop(t *testing.T) {
	for kind := range 4 {
		check.Bubble(t, fmt.Sprint("source ", kind), func(t *testing.T) {
			var after atomic.Int32
			begin := time.Now()
			got, err := anyMap(t.Context(), kind, 100, func(ctx context.Context, i int) (int, error) {
				if i == 0 {
					time.Sleep(time.Second)
					return 7, errBoom
				}
				if ctx.Err() != nil {
					after.Add(1)
				}
				select {
				case <-ctx.Done():
					check.Equal(t, "cause", context.Cause(ctx).Error(), "task 0: boom")
				case <-time.After(time.Hour):
				}
				return 8, nil
			}, par.Limit(3))
			check.Equal(t, "message", err.Error(), "task 0: boom")
			check.Equal(t, "time", time.Since(begin), time.Second)
			check.Equal(t, "calls after that", after.Load(), 0)
			check.Equal(t, "result of the failed call", got[0], 7)
			others := 0
			for _, result := range got[1:] {
				others += result
			}
			check.Equal(t, "results of the two others", others, 8+8)
		})
	}
}

func TestALoopEndsWithItsContext(t *testing.T) {
	cause := errors.New("the user pressed Escape")
	for kind := range 4 {
		check.Bubble(t, fmt.Sprint("source ", kind), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			calls := 0
			time.AfterFunc(5*time.Second/2, func() { cancel(cause) })
			_, err := anyMap(ctx, kind, 100, func(ctx context.Context, i int) (int, error) {
				calls++
				time.Sleep(time.Second)
				return 0, nil
			}, par.Limit(1))
			check.Equal(t, "error", err, cause)
			check.Equal(t, "calls", calls, 3)
			_, err = anyMap(ctx, kind, 100, func(context.Context, int) (int, error) {
				t.Error("called for a context that is done")
				return 0, nil
			})
			check.Equal(t, "error", err, cause)
			_, err = anyMap(ctx, kind, 0, same, par.KeepGoing())
			check.Equal(t, "error for no items", err, cause)
		})
	}
	check.Bubble(t, "with all errors before", func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second/2, cause)
		defer cancel()
		err := par.Each(ctx, upTo(9), func(context.Context, int) error {
			time.Sleep(time.Second)
			return errBoom
		}, par.Limit(2), par.KeepGoing())
		for _, target := range []error{cause, errBoom} {
			check.Error(t, err, target)
		}
		check.Equal(t, "lines", strings.Count(err.Error(), "\n"), 4)
	})
}

// A claim of many items is left between two of them.
// A worker asks the context in its first claims, and is notified in later ones.
func TestCancellationIsSeenWithinAClaim(t *testing.T) {
	with := map[string]func(ctx context.Context, items []int, fn func(int) error) error{
		"Each": func(ctx context.Context, items []int, fn func(int) error) error {
			return par.Each(ctx, items, func(_ context.Context, i int) error { return fn(i) }, par.Limit(1))
		},
		"Map": func(ctx context.Context, items []int, fn func(int) error) error {
			_, err := par.Map(ctx, items, func(_ context.Context, i int) (int, error) { return i, fn(i) }, par.Limit(1))
			return err
		},
		"Reduce": func(ctx context.Context, items []int, fn func(int) error) error {
			_, err := par.Reduce(ctx, items, func(_ context.Context, _, i int) (int, error) { return i, fn(i) }, par.Limit(1))
			return err
		},
	}
	for name, loop := range with {
		for _, quick := range []int{20, 500} {
			for _, how := range []string{"context", "error"} {
				check.Bubble(t, fmt.Sprintf("%s, %s at %d", name, how, quick), func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					last := 0
					err := loop(ctx, upTo(1000), func(i int) error {
						last = i
						switch {
						case i == quick && how == "context":
							cancel()
						case i == quick:
							return errBoom
						}
						if i >= quick {
							time.Sleep(time.Second) // which the worker cannot foresee
						}
						return nil
					})
					if err == nil {
						t.Error("no error")
					}
					check.Equal(t, "the last call", last, quick)
				})
			}
		}
	}
}

func TestALoopPanicsAsItsFunctionDoes(t *testing.T) {
	for name, opt := range map[string]par.Option{"first error": par.Limit(3), "keep going": par.KeepGoing()} {
		for kind := range 4 {
			check.Bubble(t, fmt.Sprintf("%s, source %d", name, kind), func(t *testing.T) {
				var running check.Gauge
				begin := time.Now()
				wantPanic(t, func() {
					_, _ = anyMap(t.Context(), kind, 100, func(ctx context.Context, i int) (int, error) {
						running.Enter()
						defer running.Leave()
						if i == 0 {
							time.Sleep(time.Second)
							explode()
						}
						<-ctx.Done()
						return 0, nil
					}, opt, par.Limit(3))
				})
				check.Equal(t, "at once", running.Peak.Load(), 3)
				check.Equal(t, "still running", running.Now.Load(), 0)
				check.Equal(t, "time", time.Since(begin), time.Second)
			})
		}
	}
}

func TestACallThatExitsHasFailed(t *testing.T) {
	for kind := range 4 {
		check.Bubble(t, fmt.Sprint("source ", kind), func(t *testing.T) {
			_, err := anyMap(t.Context(), kind, 10, func(ctx context.Context, i int) (int, error) {
				if i == 3 {
					runtime.Goexit()
				}
				if i > 3 {
					<-ctx.Done()
				}
				return 0, nil
			}, par.Limit(2))
			check.Error(t, err, weir.ErrGoexit)
			check.Equal(t, "message", err.Error(), "task 3: weir: task called runtime.Goexit")
		})
	}
	t.Run("and the others go on, if they are to", func(t *testing.T) {
		for name, where := range places(t) {
			t.Run(name, func(t *testing.T) {
				for kind := range 4 {
					var calls atomic.Int32
					_, err := anyMap(t.Context(), kind, 10, func(context.Context, int) (int, error) {
						calls.Add(1)
						runtime.Goexit()
						return 0, nil
					}, append(where, par.KeepGoing(), par.Limit(1))...)
					check.Equal(t, "errors", strings.Count(err.Error(), "Goexit"), 10)
					check.Equal(t, "calls", calls.Load(), 10)
				}
			})
		}
	})
}

func TestACallThatExitsIsReplacedAtOnce(t *testing.T) {
	check.Bubble(t, "", func(t *testing.T) {
		begin := time.Now()
		err := par.Each(t.Context(), upTo(100), func(_ context.Context, i int) error {
			time.Sleep(time.Second)
			if i == 5 {
				runtime.Goexit()
			}
			return nil
		}, par.Limit(2), par.KeepGoing())
		check.Error(t, err, weir.ErrGoexit)
		check.Equal(t, "time", time.Since(begin), 50*time.Second)
	})
}

func TestALoopStopsAnEndlessSource(t *testing.T) {
	for kind, run := range map[string]func(ctx context.Context, numbers iter.Seq[int], fn func(context.Context, int) error) error{
		"sequence": func(ctx context.Context, numbers iter.Seq[int], fn func(context.Context, int) error) error {
			return par.Each(ctx, numbers, fn)
		},
		"pipeline": func(ctx context.Context, numbers iter.Seq[int], fn func(context.Context, int) error) error {
			return par.Each(ctx, par.Pipe(numbers, same), fn)
		},
	} {
		check.Bubble(t, kind, func(t *testing.T) {
			var source stopper
			check.Error(t, run(t.Context(), source.numbers, func(_ context.Context, i int) error {
				if i == 70 {
					return errBoom
				}
				return nil
			}), errBoom)
			check.Equal(t, "source stopped", source.stopped.Load(), true)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			check.Error(t, run(ctx, source.numbers, sleep(time.Second)), context.DeadlineExceeded)
		})
	}
}

// A limit may be as high as there are items. A loop whose context has ended must not start a goroutine for each of them.
func TestALoopThatIsCancelledStartsNoMoreHelpers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	items := upTo(5000)
	for name, run := range map[string]func(opts ...par.Option) error{
		"Each": func(opts ...par.Option) error { return par.Each(ctx, items, sleep(0), opts...) },
		"Map": func(opts ...par.Option) error {
			_, err := par.Map(ctx, items, same, opts...)
			return err
		},
		"Reduce": func(opts ...par.Option) error {
			_, err := par.Reduce(ctx, items, add, opts...)
			return err
		},
	} {
		allocs := testing.AllocsPerRun(1, func() { check.Error(t, run(par.Limit(len(items))), context.Canceled) })
		if allocs > 100 {
			t.Errorf("%s allocates %v times", name, allocs)
		}
	}
}

// own is a context of a type that the standard library learns of late.
type own struct {
	context.Context
	done  chan struct{}
	ended atomic.Bool
}

func (o *own) Done() <-chan struct{} { return o.done }

func (o *own) Err() error {
	if o.ended.Load() {
		return context.Canceled
	}
	return nil
}

func (o *own) end() {
	o.ended.Store(true)
	close(o.done)
}

// The context has ended before the last call has, or fails: the loop says so, whatever the standard library has told it by then.
func TestALoopKnowsThatItsContextHasEnded(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, fn func(context.Context, int) (int, error)) error{
		"each": func(ctx context.Context, fn func(context.Context, int) (int, error)) error {
			return par.Each(ctx, upTo(1), func(ctx context.Context, i int) error {
				_, err := fn(ctx, i)
				return err
			})
		},
		"map": func(ctx context.Context, fn func(context.Context, int) (int, error)) error {
			_, err := par.Map(ctx, upTo(1), fn)
			return err
		},
		"sequence": func(ctx context.Context, fn func(context.Context, int) (int, error)) error {
			_, err := par.Map(ctx, slices.Values(upTo(1)), fn)
			return err
		},
		"stream": func(ctx context.Context, fn func(context.Context, int) (int, error)) (last error) {
			for _, err := range par.Stream(ctx, upTo(1), fn) {
				last = err
			}
			return last
		},
	} {
		for _, fails := range []error{nil, errBoom} {
			for range 100 {
				ctx := &own{Context: t.Context(), done: make(chan struct{})}
				check.Equal(t, name, run(ctx, func(context.Context, int) (int, error) {
					ctx.end()
					return 0, fails
				}), context.Canceled)
			}
		}
	}
}

// However long it takes to tell all contexts that were made from the caller's.
func TestALoopTakesNoItemsThatItDoesNotRun(t *testing.T) {
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		for range check.Scale(5000, 2000) {
			_, stop := context.WithCancel(ctx)
			defer stop()
		}
		const limit = 4
		taken, calls := 0, atomic.Int64{}
		check.Error(t, par.Each(ctx, func(yield func(int) bool) {
			for taken = 1; yield(taken); taken++ {
				if taken == 1000 {
					go cancel()
				}
			}
		}, func(context.Context, int) error {
			calls.Add(1)
			return nil
		}, par.Limit(limit)), context.Canceled)
		if vain := taken - int(calls.Load()); vain > limit+2 { // those with a place, the next one, and the one at which the loop ends
			t.Errorf("the loop has taken %d items and called %d", taken, calls.Load())
		}
	}
}

func TestFunctionsNeverRunOnTheCallersGoroutine(t *testing.T) {
	caller := goroutine()
	for name, where := range places(t) {
		for kind := range 4 {
			for _, n := range []int{1, 100} {
				_, err := anyMap(t.Context(), kind, n, func(context.Context, int) (int, error) {
					if goroutine() == caller {
						t.Errorf("%s, source %d: the function is on the caller's goroutine", name, kind)
					}
					return 0, nil
				}, append(where, par.Limit(1))...)
				check.OK(t, err)
			}
		}
	}
}

func TestWithLimit1ItemsRunInOrder(t *testing.T) {
	for kind := range 4 {
		last := -1
		_, err := anyMap(t.Context(), kind, 1000, func(_ context.Context, i int) (int, error) {
			check.Equal(t, "item", i, last+1)
			last = i
			return 0, nil
		}, par.Limit(1))
		check.OK(t, err)
	}
}

func TestAllCallsThatMayRunAtOnceDo(t *testing.T) {
	for kind := range 4 {
		for _, n := range []int{1, 2, 3, 7, 64, 300} {
			check.Bubble(t, fmt.Sprintf("%d items of source %d", n, kind), func(t *testing.T) {
				begin := time.Now()
				_, err := anyMap(t.Context(), kind, n, func(context.Context, int) (int, error) {
					time.Sleep(time.Second)
					return 0, nil
				}, par.Limit(n))
				check.OK(t, err)
				check.Equal(t, "time", time.Since(begin), time.Second)
			})
		}
	}
}

// Nor does it call the function for items that it has, on workers that look at another context.
func TestALoopCallsNothingAfterTheEnd(t *testing.T) {
	const all, last = 100_000, 1000
	for name, run := range map[string]func(ctx context.Context, fn func(context.Context, int) (int, error)) error{
		"map": func(ctx context.Context, fn func(context.Context, int) (int, error)) error {
			_, err := par.Map(ctx, upTo(all), fn, par.Limit(4))
			return err
		},
		"stream": func(ctx context.Context, fn func(context.Context, int) (int, error)) (last error) {
			for _, err := range par.Stream(ctx, upTo(all), fn, par.Limit(4)) {
				last = err
			}
			return last
		},
	} {
		ctx := &own{Context: t.Context(), done: make(chan struct{})}
		var calls atomic.Int64
		check.Error(t, run(ctx, func(context.Context, int) (int, error) {
			if calls.Add(1) == last {
				ctx.ended.Store(true) // but its Done is never closed
			}
			for began := time.Now(); time.Since(began) < 500*time.Nanosecond; {
			}
			return 0, nil
		}), context.Canceled)
		if n := calls.Load(); n > last+all/10 {
			t.Errorf("%s: %d calls, the context ended in that of number %d", name, n, last)
		}
	}
}
