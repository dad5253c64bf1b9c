package par_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// anyPipe is a stage for the numbers from 0 to n, from a source of some kind.
func anyPipe(kind, n int, fn func(context.Context, int) (int, error), opts ...par.StreamOption) *par.Pipeline[int] {
	switch kind {
	case 0:
		return par.Pipe(upTo(n), fn, opts...)
	case 1:
		return par.Pipe(slices.Values(upTo(n)), fn, opts...)
	case 2:
		return par.Pipe(par.Results(results(n)), fn, opts...)
	default:
		// A channel for once only.
		return par.Pipe(func(yield func(int) bool) {
			for i := range channel(n) {
				if !yield(i) {
					return
				}
			}
		}, fn, opts...)
	}
}

// anyStream is a Stream of the numbers from 0 to n, from a source of some kind.
func anyStream(ctx context.Context, kind, n int, fn func(context.Context, int) (int, error), opts ...par.StreamOption) iter.Seq2[int, error] {
	if kind == 3 {
		return par.Stream(ctx, channel(n), fn, opts...)
	}
	return anyPipe(kind, n, fn, opts...).All(ctx)
}

// outcome is what a range statement over a stream gets.
type outcome struct {
	value int
	err   string
}

// expected is what a stream of a trial's results hands over, in order.
func (tr *trial) expected(keepGoing bool) (all []outcome) {
	for i, err := range tr.fails {
		if err == nil {
			all = append(all, outcome{value: tr.value(i)})
			continue
		}
		all = append(all, outcome{tr.value(i), (&weir.TaskError{Index: i, Err: err}).Error()})
		if !keepGoing {
			break
		}
	}
	return all
}

func TestStreamsDoWhatALoopDoes(t *testing.T) {
	r := random(t)
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			if where == nil {
				watched(t)
			}
			for range check.Scale(200, 25) {
				n, limit := r.IntN(100), 1+r.IntN(9)
				if r.IntN(10) == 0 {
					n = r.IntN(3000)
				}
				opts := []par.StreamOption{par.Limit(limit)}
				for _, opt := range where {
					opts = append(opts, opt)
				}
				if r.IntN(2) == 0 {
					opts = append(opts, par.Ahead(1+r.IntN(20)))
				}
				keepGoing, unordered := r.IntN(2) == 0, r.IntN(3) == 0
				if keepGoing {
					opts = append(opts, par.KeepGoing())
				}
				if unordered {
					opts = append(opts, par.Unordered())
				}
				leaveAfter := n
				if r.IntN(3) == 0 {
					leaveAfter = r.IntN(n + 1)
				}
				tr := newTrial(r, n, limit)
				var got []outcome
				for value, err := range anyStream(t.Context(), r.IntN(4), n, tr.run, opts...) {
					o := outcome{value: value}
					if err != nil {
						o.err = err.Error()
					}
					if got = append(got, o); len(got) == leaveAfter {
						break
					}
				}
				check.Equal(t, "still running", tr.inside.Now.Load(), 0)
				if peak := tr.inside.Peak.Load(); peak > tr.limit {
					t.Errorf("%d calls at once, the limit is %d", peak, tr.limit)
				}
				want := tr.expected(keepGoing)
				if unordered {
					failed := slices.ContainsFunc(tr.fails, func(err error) bool { return err != nil })
					tr.checkUnordered(t, got, leaveAfter == n && (keepGoing || !failed))
				} else if want = want[:min(leaveAfter, len(want))]; leaveAfter > 0 && !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
}

// checkUnordered checks what an unordered stream has handed over: all, or some of it.
func (tr *trial) checkUnordered(t *testing.T, got []outcome, all bool) {
	t.Helper()
	left := map[outcome]bool{}
	for _, o := range tr.expected(true) {
		left[o] = true
	}
	for _, o := range got {
		if !left[o] {
			t.Errorf("unexpected, or twice: %v", o)
		}
		delete(left, o)
	}
	if all && len(left) > 0 {
		t.Errorf("never handed over: %v", left)
	}
}

func TestAStreamIsInOrderHoweverLongItsCallsTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for kind := range 4 {
			next := 0
			for i, err := range anyStream(t.Context(), kind, 1000, func(_ context.Context, i int) (int, error) {
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
				return i, nil
			}, par.Limit(8), par.Ahead(20)) {
				check.OK(t, err)
				check.Equal(t, "item", i, next)
				next++
			}
			check.Equal(t, "items", next, 1000)
		}
	})
}

func TestAnUnorderedStreamWaitsForNoSlowItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var got []int
		for i, err := range par.Stream(t.Context(), upTo(5), func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(5-i) * time.Second)
			return i, nil
		}, par.Limit(5), par.Unordered()) {
			check.OK(t, err)
			got = append(got, i)
			check.Equal(t, "time", time.Since(begin), time.Duration(len(got))*time.Second)
		}
		check.Equal(t, "order", fmt.Sprint(got), "[4 3 2 1 0]")
	})
}

func TestAStreamIsAheadOfItsConsumerAsFarAsAllowed(t *testing.T) {
	for kind := range 4 {
		for _, unordered := range []bool{false, true} {
			for _, c := range []struct{ limit, ahead int }{{1, 1}, {2, 1}, {2, 5}, {8, 8}, {3, 33}} {
				check.Bubble(t, fmt.Sprintf("source %d, limit %d, ahead %d, unordered %t", kind, c.limit, c.ahead, unordered), func(t *testing.T) {
					opts := []par.StreamOption{par.Limit(c.limit), par.Ahead(c.ahead)}
					if unordered {
						opts = append(opts, par.Unordered())
					}
					var running check.Gauge
					var begun atomic.Int32
					taken := 0
					for _, err := range anyStream(t.Context(), kind, 200, func(context.Context, int) (int, error) {
						begun.Add(1)
						running.Enter()
						time.Sleep(time.Second)
						running.Leave()
						return 0, nil
					}, opts...) {
						check.OK(t, err)
						taken++
						if taken > 50 {
							continue
						}
						time.Sleep(time.Hour) // all that may be done is done
						check.Equal(t, "ahead of the consumer", int(begun.Load()), taken+c.ahead)
					}
					check.Equal(t, "items", taken, 200)
					check.Equal(t, "at once", running.Peak.Load(), int64(min(c.limit, c.ahead)))
				})
			}
		}
	}
}

func TestASourceIsReadAsFarAsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read atomic.Int32
		seq := func(yield func(int) bool) {
			for i := range 100 {
				read.Add(1)
				if !yield(i) {
					return
				}
			}
		}
		taken := 0
		for _, err := range par.Stream(t.Context(), seq, same, par.Ahead(7)) {
			check.OK(t, err)
			taken++
			time.Sleep(time.Second)
			check.Equal(t, "read", int(read.Load()), min(100, taken+7))
		}
	})
}

// A result is not held back until the source has something more.
func TestResultsComeWhileTheSourceIsSilent(t *testing.T) {
	for name, where := range map[string]func() par.StreamOption{
		"own goroutines": func() par.StreamOption { return par.Limit(2) },
		"pool":           func() par.StreamOption { return par.On(weir.New(1)) },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			questions := make(chan int)
			go func() { questions <- 0 }()
			n := 0
			for i, err := range par.Stream(t.Context(), questions, same, where()) {
				check.OK(t, err)
				check.Equal(t, "answer", i, n)
				if n++; n == 100 {
					break // although the channel stays open
				}
				questions <- n
			}
			check.Equal(t, "answers", n, 100)
			time.Sleep(time.Hour) // for idle workers of the pool
		})
	}
}

func TestAnErrorEndsAStreamInItsPlace(t *testing.T) {
	for kind := range 4 {
		check.Bubble(t, fmt.Sprint("source ", kind), func(t *testing.T) {
			var running check.Gauge
			var got []outcome
			begin := time.Now()
			for value, err := range anyStream(t.Context(), kind, 100, func(ctx context.Context, i int) (int, error) {
				running.Enter()
				defer running.Leave()
				switch {
				case i == 5:
					time.Sleep(time.Second / 2) // before those in front of it are done
					return 0, errBoom
				case i > 5:
					<-ctx.Done()
				default:
					time.Sleep(time.Second)
					check.OK(t, ctx.Err())
				}
				return i, nil
			}, par.Limit(8)) {
				o := outcome{value: value}
				if err != nil {
					o.err = err.Error()
					synctest.Wait()
					check.Equal(t, "running while the error is dealt with", running.Now.Load(), 0)
				}
				got = append(got, o)
			}
			check.Equal(t, "results", fmt.Sprint(got), "[{0 } {1 } {2 } {3 } {4 } {0 task 5: boom}]")
			check.Equal(t, "time", time.Since(begin), time.Second)
			check.Equal(t, "still running", running.Now.Load(), 0)
		})
	}
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	cause := errors.New("the user pressed Escape")
	for kind := range 4 {
		for _, opts := range [][]par.StreamOption{nil, {par.KeepGoing()}, {par.Unordered()}} {
			check.Bubble(t, fmt.Sprint("source ", kind), func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second/2, cause)
				defer cancel()
				n, last := 0, error(nil)
				for _, err := range anyStream(ctx, kind, 100, func(ctx context.Context, i int) (int, error) {
					select {
					case <-time.After(time.Duration(i+1) * time.Second):
						return i, nil
					case <-ctx.Done():
						time.Sleep(time.Minute) // to see that it is waited for
						return 0, ctx.Err()
					}
				}, append(opts, par.Limit(5))...) {
					n, last = n+1, err
				}
				check.Equal(t, "error", last, cause)
				check.Equal(t, "results", n, 3)
				for _, err := range anyStream(ctx, kind, 100, same, opts...) {
					check.Equal(t, "error of a stream on a done context", err, cause)
				}
			})
		}
	}
	check.Bubble(t, "although results are ready", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		for _, err := range par.Stream(ctx, upTo(100), same) {
			if n++; n == 1 {
				check.OK(t, err)
				time.Sleep(time.Second)
				cancel(cause)
			} else {
				check.Equal(t, "error", err, cause)
			}
		}
		check.Equal(t, "results", n, 2)
	})
	check.Bubble(t, "although the source is silent", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		n := 0
		for _, err := range par.Stream(ctx, make(chan int), same) {
			check.Error(t, err, context.DeadlineExceeded)
			n++
		}
		check.Equal(t, "results", n, 1)
	})
}

// No call begins behind one that has failed, even before the consumer has come to it.
func TestNothingBeginsBehindAnError(t *testing.T) {
	for kind := range 4 {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			fn := func(_ context.Context, i int) (int, error) {
				calls.Add(1)
				if i == 1 {
					return 0, errBoom
				}
				return 0, nil
			}
			for _, err := range anyStream(t.Context(), kind, 10, fn, par.Limit(1), par.Ahead(5)) {
				synctest.Wait()
				check.Equal(t, "calls", calls.Load(), 2)
				if err != nil {
					check.Error(t, err, errBoom)
				}
			}
		})
	}
}

// The consumer ends a context of its own type while more results are ready. The next result is the cause, and the last.
func TestAStreamHandsOverNothingAfterTheEndOfTheCallersOwnContext(t *testing.T) {
	const items = 50
	for name, end := range map[string]func(ctx *own){
		"Done is closed":       (*own).end,
		"only Err tells of it": func(ctx *own) { ctx.ended.Store(true) },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			ctx := &own{Context: t.Context(), done: make(chan struct{})}
			results, after := 0, 0
			var last error
			for _, err := range par.Stream(ctx, upTo(items), func(context.Context, int) (int, error) { return 0, nil }, par.Ahead(items)) {
				if last = err; ctx.Err() != nil {
					after++
					continue
				}
				if results++; results == 1 {
					synctest.Wait() // all results are ready, and the helpers are over
					end(ctx)
				}
			}
			check.Error(t, last, context.Canceled)
			check.Equal(t, "results after the end", after, 1)
		})
	}
}

// A source may hold a lock over its yields that the methods of the stream's context take, as one does that iterates over what the context holds.
func TestASourceMayHoldTheLockOfTheStreamsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := &lockedContext{Context: t.Context(), lock: make(chan struct{}, 1)}
		sum := 0
		for i, err := range par.Stream(ctx, ctx.numbers(100), same) {
			check.OK(t, err)
			sum += i
		}
		check.Equal(t, "sum", sum, 4950)
	})
}

// lockedContext is a context whose values need a lock.
type lockedContext struct {
	context.Context
	lock chan struct{}
}

func (c *lockedContext) Value(key any) any {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	return c.Context.Value(key)
}

// numbers holds the lock while it yields the numbers from 0 to n.
func (c *lockedContext) numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		c.lock <- struct{}{}
		defer func() { <-c.lock }()
		for i := 0; i < n && yield(i); i++ {
		}
	}
}
