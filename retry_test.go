package weir_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// flaky fails so many times, with io.EOF.
func flaky(times int) (call func(context.Context) error, calls *atomic.Int32) {
	calls = new(atomic.Int32)
	return func(context.Context) error {
		if calls.Add(1) <= int32(times) {
			return io.EOF
		}
		return nil
	}, calls
}

func TestRetry(t *testing.T) {
	policy := weir.RetryPolicy{Tries: 4, Wait: time.Second}
	for name, run := range map[string]func(ctx context.Context, call func(context.Context) error) error{
		"Do": func(ctx context.Context, call func(context.Context) error) error {
			return weir.Retry(policy).Do(ctx, call)
		},
		"group": func(ctx context.Context, call func(context.Context) error) error {
			g := weir.NewGroup(ctx, 2, weir.Retry(policy))
			g.Go(call)
			return g.Wait()
		},
		"group on a pool, TryGo": func(ctx context.Context, call func(context.Context) error) error {
			p := weir.New(2)
			defer p.Close()
			g := p.Group(ctx, weir.Retry(policy))
			g.TryGo(call)
			return g.Wait()
		},
		"results": func(ctx context.Context, call func(context.Context) error) error {
			r := weir.NewResults[int](weir.NewGroup(ctx, 2, weir.Retry(policy)))
			r.Go(func(ctx context.Context) (int, error) { return 7, call(ctx) })
			values, err := r.Wait()
			if len(values) != 1 || values[0] != 7 {
				t.Errorf("values are %v", values)
			}
			return err
		},
		"Go": func(ctx context.Context, call func(context.Context) error) (err error) {
			p := weir.New(2, weir.Retry(policy), weir.OnError(func(e error) { err = e }))
			must(p.Go(ctx, call))
			p.Close()
			return err
		},
		"FuncContext": func(ctx context.Context, call func(context.Context) error) (err error) {
			p := weir.NewFuncContext(2, func(ctx context.Context, _ int) error { return call(ctx) }, weir.Retry(policy), weir.OnError(func(e error) { err = e }))
			must(p.Go(ctx, 1))
			p.Close()
			return err
		},
		"future on a lane": func(ctx context.Context, call func(context.Context) error) error {
			p := weir.New(2)
			defer p.Close()
			_, err := weir.Async(ctx, p.Lane(1, weir.Retry(policy)), func(ctx context.Context) (int, error) { return 7, call(ctx) }).Get(ctx)
			return err
		},
		"once": func(ctx context.Context, call func(context.Context) error) error {
			p := weir.New(2, weir.Retry(policy))
			defer p.Close()
			_, err := weir.NewOnce[string, int](p).Do(ctx, "key", func(ctx context.Context) (int, error) { return 7, call(ctx) })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				call, calls := flaky(3)
				if err := run(t.Context(), call); err != nil || calls.Load() != 4 {
					t.Errorf("fourth try: %v after %d calls", err, calls.Load())
				}
				if d := time.Since(begin); d > 7*time.Second || d == 0 {
					t.Errorf("back-offs of at most 1, 2 and 4 s took %v", d)
				}
				call, calls = flaky(100)
				err := run(t.Context(), call)
				failed, ok := errors.AsType[*weir.RetryError](err)
				if !ok || failed.Tries != 4 || calls.Load() != 4 || !errors.Is(err, io.EOF) {
					t.Errorf("after %d calls: %v", calls.Load(), err)
				}
			})
		})
	}
}

// What is random is drawn from all of 0 to the bound, which doubles up to the longest wait.
func TestBackOffsHaveFullJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds, tries = 400, 70
		most := make([]time.Duration, tries)
		sum := make([]time.Duration, tries)
		r := weir.Retry(weir.RetryPolicy{Tries: tries, Wait: time.Second, MostWait: 10 * time.Second, OnRetry: func(n int, err error, wait time.Duration) {
			most[n] = max(most[n], wait)
			sum[n] += wait
		}})
		for range rounds {
			_ = r.Do(t.Context(), func(context.Context) error { return io.EOF })
		}
		for n := 1; n < tries; n++ {
			bound := 10 * time.Second
			if n < 5 {
				bound = min(bound, time.Second<<(n-1))
			}
			if mean := sum[n] / rounds; most[n] > bound || most[n] < bound*9/10 || mean < bound*4/10 || mean > bound*6/10 {
				t.Errorf("before call %d the longest wait was %v, the mean %v, want up to %v", n+1, most[n], mean, bound)
			}
		}
	})
}

func TestWhatEndsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		do := func(ctx context.Context, policy weir.RetryPolicy, err error) (*weir.RetryError, time.Duration) {
			begin := time.Now()
			calls = 0
			failed, _ := errors.AsType[*weir.RetryError](weir.Retry(policy).Do(ctx, func(context.Context) error { calls++; return err }))
			return failed, time.Since(begin)
		}
		if e, _ := do(t.Context(), weir.RetryPolicy{Tries: 9}, weir.Permanent(io.EOF)); calls != 1 || e.Tries != 1 || !errors.Is(e, io.EOF) || e.Error() != "weir: failed after 1 try: EOF" {
			t.Errorf("permanent: %v after %d calls", e, calls)
		}
		if e, d := do(t.Context(), weir.RetryPolicy{Tries: 3}, weir.RetryAfter(io.EOF, time.Hour)); calls != 3 || d != 2*time.Hour || !errors.Is(e, io.EOF) {
			t.Errorf("RetryAfter: %v after %d calls, %v", e, calls, d)
		}
		if e, d := do(t.Context(), weir.RetryPolicy{Time: 90 * time.Minute}, weir.RetryAfter(io.EOF, time.Hour)); calls != 2 || e.Tries != 2 || d != time.Hour {
			t.Errorf("Time: %v after %d calls, %v", e, calls, d)
		}
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(enough) })
		if e, d := do(ctx, weir.RetryPolicy{Tries: 9}, weir.RetryAfter(io.EOF, time.Hour)); calls != 1 || d != time.Minute || !errors.Is(e, enough) || !errors.Is(e, io.EOF) {
			t.Errorf("context: %v after %d calls, %v", e, calls, d)
		}
		if e, d := do(ctx, weir.RetryPolicy{Tries: 9}, io.EOF); calls != 1 || d != 0 || !errors.Is(e, enough) {
			t.Errorf("context that has ended: %v after %d calls, %v", e, calls, d)
		}
		if weir.Permanent(nil) != nil || weir.RetryAfter(nil, 1) != nil {
			t.Error("no error is marked")
		}
	})
}

func TestKeepGoingKeepsTheErrorsOfAllTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.Retry(weir.RetryPolicy{Tries: 2}), weir.KeepGoing())
		first := errors.New("first")
		calls := 0
		g.Go(func(context.Context) error {
			if calls++; calls == 1 {
				return first
			}
			return io.EOF
		})
		err := g.Wait()
		if !errors.Is(err, first) || !errors.Is(err, io.EOF) {
			t.Errorf("both errors: %v", err)
		}
	})
}

func TestPanicsAreRetriedOnlyIfAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, asked := range []bool{false, true} {
			calls := 0
			g := weir.NewGroup(t.Context(), 2, weir.Retry(weir.RetryPolicy{Tries: 3, Panics: asked}), weir.PanicsAsErrors())
			g.Go(func(context.Context) error {
				calls++
				panic("oh")
			})
			err := g.Wait()
			p, ok := errors.AsType[*weir.Panic](err)
			want := 1
			if asked {
				want = 3
			}
			if calls != want || !ok {
				t.Errorf("asked for: %v; %d calls, %v", asked, calls, err)
			}
			if ok {
				for inner, is := p.Value.(*weir.Panic); is; inner, is = p.Value.(*weir.Panic) {
					p = inner
				}
				if p.Value != "oh" {
					t.Errorf("the panic is %v", p.Value)
				}
			}
			g.Go(func(context.Context) error { calls = 0; runtime.Goexit(); return nil })
			if err := g.Wait(); !errors.Is(err, weir.ErrGoexit) || calls != 0 {
				t.Errorf("Goexit: %v", err)
			}
		}
	})
}

// The example of the issue that this is for: 20 tasks with three back-offs of 10 ms each, two places.
func TestBackOffsHoldNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		g := p.Group(t.Context(), weir.Retry(weir.RetryPolicy{Tries: 4}))
		begin := time.Now()
		running, most := atomic.Int32{}, atomic.Int32{}
		for range 20 {
			calls := 0
			g.Go(func(context.Context) error {
				n := running.Add(1)
				most.Store(max(n, most.Load()))
				defer running.Add(-1)
				if calls++; calls <= 3 {
					return weir.RetryAfter(io.EOF, 10*time.Millisecond)
				}
				return nil
			})
		}
		must(g.Wait())
		if d := time.Since(begin); d != 30*time.Millisecond {
			t.Errorf("took %v, want 30 ms", d)
		}
		if most.Load() > 2 {
			t.Errorf("%d tasks ran at once", most.Load())
		}
	})
}

func TestHedge(t *testing.T) {
	slow := func(d time.Duration, v int) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			select {
			case <-time.After(d):
				return v, nil
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
		}
	}
	fails := func(d time.Duration, err error) func(context.Context) (int, error) {
		return func(context.Context) (int, error) {
			time.Sleep(d)
			return 0, err
		}
	}
	first, second := errors.New("first"), errors.New("second")
	for _, c := range []struct {
		name  string
		calls []func(context.Context) (int, error)
		value int
		errs  []error
		took  time.Duration
	}{
		{"one", []func(context.Context) (int, error){slow(time.Minute, 1)}, 1, nil, time.Minute},
		{"fast", []func(context.Context) (int, error){slow(time.Second/2, 1), slow(0, 2)}, 1, nil, time.Second / 2},
		{"slow", []func(context.Context) (int, error){slow(time.Minute, 1), slow(time.Second/2, 2)}, 2, nil, time.Second * 3 / 2},
		{"third", []func(context.Context) (int, error){slow(time.Minute, 1), slow(time.Minute, 2), slow(time.Second/2, 3)}, 3, nil, time.Second * 5 / 2},
		{"first of two", []func(context.Context) (int, error){slow(2*time.Second, 1), slow(time.Minute, 2)}, 1, nil, 2 * time.Second},
		{"after a failure", []func(context.Context) (int, error){fails(time.Second/4, first), slow(time.Second/4, 2)}, 2, nil, time.Second / 2},
		{"a failure while another one runs", []func(context.Context) (int, error){slow(3*time.Second, 1), fails(0, second)}, 1, nil, 3 * time.Second},
		{"all fail", []func(context.Context) (int, error){fails(time.Second*3/2, first), fails(time.Second*2, second)}, 0, []error{first, second}, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := weir.New(3)
				defer p.Close()
				begin := time.Now()
				value, err := weir.Hedge(t.Context(), p, time.Second, c.calls...)
				if d := time.Since(begin); value != c.value || d != c.took || (err != nil) != (c.errs != nil) {
					t.Errorf("%d, %v after %v; want %d after %v", value, err, d, c.value, c.took)
				}
				for _, want := range c.errs {
					if !errors.Is(err, want) {
						t.Errorf("%v is not %v", err, want)
					}
				}
			})
		})
	}
}

// A loser that ignores its context holds its place, and no call waits for it.
func TestHedgeDoesNotWaitForLosers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		begin := time.Now()
		value, err := weir.Hedge(t.Context(), p, time.Second,
			func(context.Context) (int, error) { time.Sleep(time.Hour); return 1, nil },
			func(context.Context) (int, error) { return 2, nil })
		if d := time.Since(begin); value != 2 || err != nil || d != time.Second {
			t.Errorf("%d, %v after %v", value, err, d)
		}
		synctest.Wait()
		if n := p.Stats().Running; n != 1 {
			t.Errorf("%d run", n)
		}
		p.Close()
		if d := time.Since(begin); d != time.Hour {
			t.Errorf("the loser took %v", d)
		}
	})
}

// A panic that comes as the context ends goes to the handler, which may end its goroutine.
func TestAHandlerOfAPanicDoesNotEndTheCallerOfHedge(t *testing.T) {
	p := weir.New(2, weir.OnPanic(func(*weir.Panic) { runtime.Goexit() }))
	defer p.Close()
	var callers sync.WaitGroup
	returned := 0
	for range 200 {
		callers.Go(func() {
			defer func() {
				if recover() != nil { // it came before the end
					returned++
				}
			}()
			ctx, cancel := context.WithCancel(t.Context())
			_, _ = weir.Hedge(ctx, p, time.Hour, func(context.Context) (int, error) { cancel(); panic("late") })
			returned++
		})
		callers.Wait()
	}
	check.Equal(t, "calls that have returned", returned, 200)
}

func TestHedgeInATaskAndWhatEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []any
		p := weir.New(1, weir.OnPanic(func(p *weir.Panic) { late = append(late, p.Value) }))
		answers := func(v int) func(context.Context) (int, error) {
			return func(context.Context) (int, error) { return v, nil }
		}
		value, err := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) { return weir.Hedge(ctx, p, time.Second, answers(7)) }).Get(t.Context())
		if value != 7 || err != nil {
			t.Errorf("in a task of a pool of one: %d, %v", value, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		stuck := func(context.Context) (int, error) { time.Sleep(time.Minute); panic("late") }
		if _, err := weir.Hedge(ctx, p, time.Hour, stuck); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("context: %v", err)
		}
		p.Wait()
		if !slices.Equal(late, []any{"late"}) {
			t.Errorf("panics that no call took: %v", late)
		}
		func() {
			defer func() {
				if p, ok := recover().(*weir.Panic); !ok || p.Value != "early" {
					t.Errorf("panic: %v", p)
				}
			}()
			_, _ = weir.Hedge(t.Context(), p, time.Hour, func(context.Context) (int, error) { panic("early") })
		}()
		if _, err := weir.Hedge(t.Context(), p, time.Hour, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }); !errors.Is(err, weir.ErrGoexit) {
			t.Errorf("Goexit: %v", err)
		}
		p.Close()
		if _, err := weir.Hedge(t.Context(), p, time.Hour, answers(1)); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("closed pool: %v", err)
		}
	})
}

func TestRetriesAtTheEdges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		for name, c := range map[string]struct {
			retry *weir.Retrier
			err   error
			calls int32
			most  time.Duration
		}{
			"an endless RetryAfter":        {weir.Retry(weir.RetryPolicy{Time: time.Second}), weir.RetryAfter(io.EOF, 1<<63-1), 1, 0},
			"an endless Wait":              {weir.Retry(weir.RetryPolicy{Time: 1, Wait: 1<<63 - 1, MostWait: 1<<63 - 1}), io.EOF, 1, 0},
			"many tries":                   {weir.Retry(weir.RetryPolicy{Tries: 100, MostWait: 1<<63 - 1}), weir.RetryAfter(io.EOF, 0), 100, 0},
			"Permanent in a RetryAfter":    {weir.Retry(weir.RetryPolicy{Tries: 5}), weir.RetryAfter(weir.Permanent(io.EOF), 0), 1, 0},
			"Permanent next to RetryAfter": {weir.Retry(weir.RetryPolicy{Tries: 5}), errors.Join(weir.RetryAfter(io.EOF, 0), weir.Permanent(io.EOF)), 1, 0},
		} {
			begin := time.Now()
			call, calls := flaky(1 << 20)
			err := c.retry.Do(t.Context(), func(ctx context.Context) error { _ = call(ctx); return c.err })
			if _, ok := errors.AsType[*weir.RetryError](err); !ok || calls.Load() != c.calls || time.Since(begin) > c.most {
				t.Errorf("%s: %d calls, %v after %v", name, calls.Load(), err, time.Since(begin))
			}
		}
		begin := time.Now()
		g := p.Group(t.Context(), weir.Rate(1, time.Hour, 1), weir.Retry(weir.RetryPolicy{Time: time.Second})) // the second turn comes when it has ended
		g.Go(func(context.Context) error { return weir.RetryAfter(io.EOF, time.Millisecond) })
		err := g.Wait()
		if failed, ok := errors.AsType[*weir.RetryError](err); !ok || failed.Tries != 1 || time.Since(begin) != time.Second+1 {
			t.Errorf("a turn that comes too late: %v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = weir.Retry(weir.RetryPolicy{Tries: 1}).Do(ctx, func(context.Context) error { cancel(); return io.EOF })
		if errors.Is(err, context.Canceled) {
			t.Errorf("the context was not why there was no other try: %v", err)
		}
	})
}

func TestTriesTakeTurnsOfTheRatesOfGroupAndPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Rate(1, time.Second, 1))
		defer p.Close()
		retry := weir.Retry(weir.RetryPolicy{Tries: 4})
		fails := func(context.Context) error { return weir.RetryAfter(io.EOF, 0) }
		for name, run := range map[string]func(own *weir.RateLimit){
			"Group": func(own *weir.RateLimit) {
				g := p.Group(t.Context(), own, retry)
				g.Go(fails)
				check.Error(t, g.Wait(), io.EOF)
			},
			"Results": func(own *weir.RateLimit) {
				r := weir.NewResults[int](p.Group(t.Context(), own, retry))
				r.Go(func(ctx context.Context) (int, error) { return 0, fails(ctx) })
				_, err := r.Wait()
				check.Error(t, err, io.EOF)
			},
		} {
			for per, want := range map[time.Duration]time.Duration{time.Millisecond: 3 * time.Second, time.Minute: 3 * time.Minute} {
				time.Sleep(time.Second)
				begin := time.Now()
				run(weir.Rate(1, per, 1))
				check.Equal(t, name+", time of four tries", time.Since(begin).Round(100*time.Millisecond), want)
			}
		}
	})
}

func TestATryThatGetsOneTurnOfTwoGivesItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Rate(1, time.Hour, 1))
		defer p.Close()
		own := weir.Rate(1, time.Hour, 2)
		g := p.Group(t.Context(), own, weir.Retry(weir.RetryPolicy{Time: time.Second}))
		g.Go(func(context.Context) error { return weir.RetryAfter(io.EOF, 0) })
		check.Error(t, g.Wait(), io.EOF)
		begin := time.Now()
		check.OK(t, own.Wait(t.Context()))
		check.Equal(t, "wait for the other turn", time.Since(begin), 0)
	})
}

func TestNextSaysWhetherThereIsAnotherTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, failed := time.Now(), &weir.Panic{Value: "on purpose"}
		time.Sleep(time.Minute)
		told := 0
		policy := weir.RetryPolicy{Tries: 3, Time: time.Hour, Wait: time.Second, OnRetry: func(int, error, time.Duration) { told++ }}
		withPanics := policy
		withPanics.Panics = true
		for name, c := range map[string]struct {
			policy weir.RetryPolicy
			tries  int
			err    error
			least  time.Duration
			most   time.Duration
			again  bool
		}{
			"an error":             {policy, 1, io.EOF, 0, time.Second, true},
			"the second error":     {policy, 2, io.EOF, 0, 2 * time.Second, true},
			"the last error":       {policy, 3, io.EOF, 0, 0, false},
			"Permanent":            {policy, 1, weir.Permanent(io.EOF), 0, 0, false},
			"RetryAfter":           {policy, 1, weir.RetryAfter(io.EOF, time.Minute), time.Minute, time.Minute, true},
			"RetryAfter, too late": {policy, 1, weir.RetryAfter(io.EOF, time.Hour), time.Hour, time.Hour, false},
			"a panic":              {policy, 1, failed, 0, 0, false},
			"a panic that counts":  {withPanics, 1, failed, 0, time.Second, true},
			"an error with one":    {policy, 1, errors.Join(failed), 0, time.Second, true},
		} {
			before := told
			wait, again := weir.Retry(c.policy).Next(c.tries, begin, c.err)
			if again != c.again || wait < c.least || wait > c.most || (told > before) != again {
				t.Errorf("%s: wait %v, again %v, OnRetry called %d times", name, wait, again, told-before)
			}
		}
	})
}

func TestTriesMayGoOnForTheLongestTime(t *testing.T) {
	tries := 0
	check.OK(t, weir.Retry(weir.RetryPolicy{Time: math.MaxInt64, Wait: 1}).Do(t.Context(), func(context.Context) error {
		if tries++; tries < 3 {
			return errBoom
		}
		return nil
	}))
	check.Equal(t, "tries", tries, 3)
}

// The last call fails when the context has ended.
func TestHedgeReturnsTheCauseOfAContextThatEndedBefore(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	for range 100 {
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := weir.Hedge(ctx, p, time.Hour, func(context.Context) (int, error) {
			cancel(errBoom)
			return 0, errors.New("late")
		})
		check.Error(t, err, errBoom)
	}
}

// A task that has given its place up between two tries, and does not get it back in time, is not tried again.
func TestNoTryBeginsAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		g := p.Group(t.Context(), weir.Retry(weir.RetryPolicy{Time: 10 * time.Second}))
		calls := 0
		g.Go(func(context.Context) error {
			calls++
			must(p.Submit(func() { time.Sleep(time.Hour) }))
			return weir.RetryAfter(io.EOF, time.Second)
		})
		if err := g.Wait(); calls != 1 || !errors.Is(err, io.EOF) {
			t.Errorf("%d calls: %v", calls, err)
		}
	})
}

func TestTheLastPanicIsThatOfTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.Retry(weir.RetryPolicy{Tries: 2, Panics: true}), weir.PanicsAsErrors())
		g.Go(func(context.Context) error { panic("oh") })
		if p, ok := errors.AsType[*weir.Panic](g.Wait()); !ok || p.Value != "oh" {
			t.Errorf("the panic is %v", p)
		}
	})
}

// A call that does not start, for whatever reason, has failed: Hedge does not wait for it.
func TestHedgedCallsThatDoNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		one := func(context.Context) (int, error) { return 1, nil }
		busy := func(opts ...weir.Option) *weir.Pool {
			p := weir.New(1, append(opts, weir.OnError(func(error) { told.Add(1) }))...)
			must(p.Submit(func() { time.Sleep(time.Minute) }))
			return p
		}
		p := busy(weir.ExpireAfter(time.Second))
		if _, err := weir.Hedge(t.Context(), p, time.Hour, one, one); !errors.Is(err, weir.ErrExpired) {
			t.Errorf("calls that expire: %v", err)
		}
		p.Close()
		p = busy()
		time.AfterFunc(time.Second, func() {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, _ = p.Shutdown(ctx)
		})
		if _, err := weir.Hedge(t.Context(), p, time.Hour, one); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("a call that is handed back: %v", err)
		}
		p.Close()
		p = weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		value, err := weir.Hedge(t.Context(), p, time.Second, func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil }, one)
		if value != 1 || err != nil {
			t.Errorf("the second call is refused: %d, %v", value, err)
		}
		p.Close()
		if told.Load() != 0 {
			t.Errorf("OnError was told %d times", told.Load())
		}
	})
}

// The tasks that wait may have all places, which they lend to nothing but what they wait for.
func TestHedgeInASubtask(t *testing.T) {
	one := func(context.Context) (int, error) { return 1, nil }
	hedged := func(ctx context.Context, p *weir.Pool) error {
		value, err := weir.Hedge(ctx, p, time.Second, failsOnce, one)
		if err == nil {
			check.Equal(t, "value", value, 1)
		}
		return err
	}
	for name, body := range map[string]func(ctx context.Context, p *weir.Pool) error{
		"of a group": func(ctx context.Context, p *weir.Pool) error {
			in := p.Group(ctx)
			in.Go(func(ctx context.Context) error { return hedged(ctx, p) })
			return in.Wait()
		},
		"of a future": func(ctx context.Context, p *weir.Pool) error {
			_, err := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, hedged(ctx, p) }).Get(ctx)
			return err
		},
		"of a Once": func(ctx context.Context, p *weir.Pool) error {
			_, err := weir.NewOnce[string, int](p).Do(ctx, "key", func(ctx context.Context) (int, error) { return 0, hedged(ctx, p) })
			return err
		},
		"on another pool": func(ctx context.Context, p *weir.Pool) error {
			other := weir.New(1)
			defer other.Close()
			return other.Do(ctx, func(ctx context.Context) error { return hedged(ctx, p) })
		},
	} {
		for _, queue := range []int{0, 1} {
			check.Bubble(t, fmt.Sprintf("%s, queue of %d", name, queue), func(t *testing.T) {
				p := weir.New(1, weir.Queue(queue))
				defer p.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				g := p.Group(ctx)
				g.Go(func(ctx context.Context) error { return body(ctx, p) })
				check.OK(t, g.Wait())
			})
		}
	}
}

func failsOnce(context.Context) (int, error) { return 0, io.EOF }

// In the first case the first call has the place of the task that makes it.
func TestHedgingGoesOn(t *testing.T) {
	stuck := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) }
	gives := func(v int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return v, nil }
	}
	check.Bubble(t, "while no call has room", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		err := p.Do(t.Context(), func(ctx context.Context) error {
			in := p.Group(ctx)
			in.Go(func(ctx context.Context) error {
				time.AfterFunc(time.Second/2, func() { p.Resize(3) }) // room for the second call
				_, err := weir.Hedge(ctx, p, time.Second, stuck, gives(2))
				return err
			})
			return in.Wait()
		})
		check.OK(t, err)
	})
	check.Bubble(t, "after a refusal", func(t *testing.T) {
		p := weir.New(2, weir.Queue(0), weir.MaxWaiting(0))
		defer p.Close()
		must(p.Submit(func() { time.Sleep(1500 * time.Millisecond) }))
		value, err := weir.Hedge(t.Context(), p, time.Second, stuck, gives(2), gives(3)) // 2 is refused after a second, and 3 is due a second later
		check.OK(t, err)
		check.Equal(t, "value", value, 3)
	})
}

// The first try was on another machine, whose clock is ahead; or the clock was set back meanwhile.
func TestNextAllowsTriesThatBeganByAClockAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, most := range []time.Duration{time.Hour, math.MaxInt64 - 1, math.MaxInt64} {
			for _, ahead := range []time.Duration{0, 1, time.Millisecond, time.Hour, math.MaxInt64} {
				r := weir.Retry(weir.RetryPolicy{Time: most})
				if wait, again := r.Next(1, time.Now().Add(ahead).Round(0), io.EOF); !again {
					t.Errorf("Time %v, begun %v ahead: no other call; wait %v", most, ahead, wait)
				}
			}
		}
	})
}
