package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func constant[V any](v V) func(context.Context) (V, error) {
	return func(context.Context) (V, error) { return v, nil }
}

// held is a task of a Once that lasts until the valve opens.
func held[V any](v *check.Valve, value V, err error) func(context.Context) (V, error) {
	return func(context.Context) (V, error) { v.Hold(); return value, err }
}

// together makes n calls for key that overlap, and returns what they return when all have.
func together[V any](n int, call func(i int) (V, error)) (values []V, errs []error) {
	values, errs = make([]V, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { values[i], errs[i] = call(i) })
	}
	wg.Wait()
	return values, errs
}

func TestCallsOfOnceThatOverlapShareATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		o := weir.NewOnce[string, int](p)
		var calls atomic.Int64
		slow := func(context.Context) (int, error) {
			calls.Add(1)
			time.Sleep(time.Second)
			return int(calls.Load()), nil
		}
		for round := 1; round <= 2; round++ { // the second one begins anew
			values, errs := together(100, func(int) (int, error) { return o.Do(t.Context(), "key", slow) })
			for i := range values {
				check.OK(t, errs[i])
				check.Equal(t, "value", values[i], round)
			}
		}
		values, _ := together(2, func(i int) (int, error) { return o.Do(t.Context(), strconv.Itoa(i), slow) })
		check.Equal(t, "values of two keys", values[0]+values[1], 4+4) // both have begun before either ends
	})
}

func TestEachCallerOfOnceLeavesWithItsOwnContextAndTheTaskWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		o := weir.NewOnce[string, string](p)
		first, last := errors.New("first"), errors.New("last")
		one, endOne := context.WithCancelCause(context.WithValue(t.Context(), "key", "value")) //nolint:staticcheck // it is of no package
		two, endTwo := context.WithCancelCause(t.Context())
		var cause error
		task := func(ctx context.Context) (string, error) {
			check.Equal(t, "value of the first caller's context", ctx.Value("key"), any("value"))
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Second)
			return "late", nil
		}
		var left sync.WaitGroup
		left.Go(func() { _, err := o.Do(one, "key", task); check.Error(t, err, first) })
		synctest.Wait()
		left.Go(func() { _, err := o.Do(two, "key", task); check.Error(t, err, last) })
		synctest.Wait()
		endOne(first)
		synctest.Wait()
		check.OK(t, cause)
		check.Equal(t, "running", p.Stats().Running, 1)
		endTwo(last)
		left.Wait()
		synctest.Wait()
		check.Error(t, cause, last)
		value, err := o.Do(t.Context(), "key", constant("new")) // though the old task still runs
		check.OK(t, err)
		check.Equal(t, "value", value, "new")
		_, err = o.Do(one, "key", task)
		check.Error(t, err, first)
	})
}

func TestAnAbandonedTaskOfOnceDoesNotStart(t *testing.T) {
	for _, queue := range []int{0, 1} {
		t.Run("queue="+queueName(queue), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := check.NewValve()
				p := weir.New(1, weir.Queue(queue))
				defer p.Close()
				o := weir.NewOnce[int, int](p)
				check.OK(t, p.Submit(v.Hold))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, errs := together(3, func(i int) (int, error) {
					return o.Do(ctx, i%2, func(context.Context) (int, error) { t.Error("it runs"); return 0, nil })
				})
				for _, err := range errs {
					check.Error(t, err, context.DeadlineExceeded)
				}
				synctest.Wait()
				check.Equal(t, "waiting", p.Stats().Waiting, 0)
				v.Open()
				p.Wait()
			})
		})
	}
}

func TestAllCallersOfOnceGetTheErrorOfTheTask(t *testing.T) {
	failure := errors.New("failure")
	for name, test := range map[string]struct {
		task func() (int, error)
		is   func(error) bool
	}{
		"an error": {func() (int, error) { return 1, failure }, func(err error) bool { return errors.Is(err, failure) }},
		"a panic": {func() (int, error) { panic("on purpose") }, func(err error) bool {
			p := new(weir.Panic)
			return errors.As(err, &p) && p.Value == "on purpose"
		}},
		"Goexit": {func() (int, error) { runtime.Goexit(); return 1, nil }, func(err error) bool { return errors.Is(err, weir.ErrGoexit) }},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(2, weir.OnPanic(func(*weir.Panic) { t.Error("the handler is called, too") }))
			defer p.Close()
			o := weir.NewOnce[string, int](p, weir.KeepFor(time.Hour))
			_, errs := together(5, func(int) (int, error) {
				return o.Do(t.Context(), "key", func(context.Context) (int, error) { time.Sleep(time.Second); return test.task() })
			})
			for _, err := range errs {
				if !test.is(err) {
					t.Errorf("a caller gets %v", err)
				}
			}
			value, err := o.Do(t.Context(), "key", constant(7)) // an error is not kept
			check.OK(t, err)
			check.Equal(t, "value", value, 7)
		})
	}
}

func TestACallOfOnceThatWouldWaitForItselfIsRefused(t *testing.T) {
	type once = weir.Once[string, string]
	calls := func(o *once, key string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) { return o.Do(ctx, key, constant("other")) }
	}
	for name, test := range map[string]struct {
		do   func(ctx context.Context, o *once) (string, error)
		want error
	}{
		"the same key": {func(ctx context.Context, o *once) (string, error) { return o.Do(ctx, "a", calls(o, "a")) }, weir.ErrRecursive},
		"another key":  {func(ctx context.Context, o *once) (string, error) { return o.Do(ctx, "a", calls(o, "b")) }, nil},
		"by way of another key": {func(ctx context.Context, o *once) (string, error) {
			return o.Do(ctx, "a", func(ctx context.Context) (string, error) { return o.Do(ctx, "b", calls(o, "a")) })
		}, weir.ErrRecursive},
		"by way of a group": {func(ctx context.Context, o *once) (string, error) {
			return o.Do(ctx, "a", func(ctx context.Context) (string, error) {
				g := weir.NewGroup(ctx, 1)
				g.Go(func(ctx context.Context) error { _, err := calls(o, "a")(ctx); return err })
				return "", g.Wait()
			})
		}, weir.ErrRecursive},
		"by way of a task of another caller": {func(ctx context.Context, o *once) (string, error) {
			other := make(chan error, 1)
			go func() {
				_, err := o.Do(ctx, "b", func(ctx context.Context) (string, error) {
					time.Sleep(time.Second)
					return calls(o, "a")(ctx)
				})
				other <- err
			}()
			synctest.Wait()
			value, err := o.Do(ctx, "a", calls(o, "b"))
			if second := <-other; !errors.Is(err, second) {
				return "", fmt.Errorf("a gets %w, b %w", err, second)
			}
			return value, err
		}, weir.ErrRecursive},
		"after the other task": {func(ctx context.Context, o *once) (string, error) {
			if _, err := o.Do(ctx, "b", calls(o, "a")); err != nil {
				return "", err
			}
			return o.Do(ctx, "a", calls(o, "b"))
		}, nil},
		"by way of a task whose first caller has left": {func(ctx context.Context, o *once) (string, error) {
			left := make(chan struct{})
			go o.Do(ctx, "a", func(ctx context.Context) (string, error) { //nolint:errcheck // the other one tells
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err := o.Do(short, "b", func(ctx context.Context) (string, error) { <-left; return calls(o, "a")(ctx) })
				check.Error(t, err, context.DeadlineExceeded)
				close(left)
				time.Sleep(time.Second)
				return "", nil
			})
			synctest.Wait()
			return o.Do(ctx, "b", constant("other"))
		}, nil},
		"two ways to one task": {func(ctx context.Context, o *once) (string, error) {
			return o.Do(ctx, "a", func(ctx context.Context) (string, error) {
				go o.Do(ctx, "b", func(ctx context.Context) (string, error) { //nolint:errcheck // the other one tells
					time.Sleep(time.Second)
					return calls(o, "d")(ctx)
				})
				return o.Do(ctx, "c", calls(o, "d"))
			})
		}, nil},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			_, err := test.do(t.Context(), weir.NewOnce[string, string](p))
			check.Error(t, err, test.want)
		})
	}
}

// All workers wait for a task that has no room in the queue, and that a goroutine outside has called for first.
func TestAFullPoolOfTasksThatWaitForOneKeyGoesOn(t *testing.T) {
	for _, limit := range []int{1, 2, 3} {
		for _, queue := range []int{0, 1, 2} {
			check.Bubble(t, fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				v := check.NewValve()
				p := weir.New(limit, weir.Queue(queue))
				defer p.Close()
				o := weir.NewOnce[string, int](p)
				var ended atomic.Int32
				call := func(ctx context.Context) error {
					v.Hold()
					_, err := o.Do(ctx, "key", constant(1))
					ended.Add(1)
					return err
				}
				g := p.Group(t.Context())
				for range limit {
					g.Go(call)
				}
				synctest.Wait()
				for range queue {
					check.OK(t, p.Submit(func() {}))
				}
				var first sync.WaitGroup
				first.Go(func() { _, err := o.Do(t.Context(), "key", constant(1)); check.OK(t, err) })
				synctest.Wait()
				check.Equal(t, "waiting", p.Stats().Waiting, 1)
				v.Open()
				check.OK(t, g.Wait())
				first.Wait()
				check.Equal(t, "ended", int(ended.Load()), limit)
			})
		}
	}
}

func TestOnceUnderStressEndsAllCalls(t *testing.T) {
	each := check.Scale(150, 50)
	const left = 4 // tasks of keys below that are left alone now and then; the next one for such a key begins next to them
	for _, limit := range []int{1, 3} {
		for _, queue := range []int{0, 2, 64} {
			p := weir.New(limit, weir.Queue(queue))
			o := weir.NewOnce[int, int](p)
			var running [8]atomic.Int32
			var do func(ctx context.Context, key, depth int) (int, error)
			do = func(ctx context.Context, key, depth int) (int, error) {
				return o.Do(ctx, key, func(ctx context.Context) (int, error) {
					if n := running[key].Add(1); n > 1 && key >= left {
						t.Errorf("%d tasks run for one key", n)
					}
					defer running[key].Add(-1)
					if depth > 0 && key > 0 {
						g := p.Group(ctx)
						for range 2 {
							g.Go(func(ctx context.Context) error { _, err := do(ctx, key-1, depth-1); return err })
						}
						if err := g.Wait(); err != nil {
							return 0, err
						}
					}
					return key, nil
				})
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for i := range each {
						key := rand.IntN(len(running))
						ctx, cancel := context.WithCancel(t.Context())
						if i%16 == 0 && key < left {
							go cancel()
						}
						switch value, err := do(ctx, key, 2); {
						case err == nil && value != key:
							t.Errorf("the value of %d is %d", key, value)
						case err != nil && !errors.Is(err, context.Canceled):
							t.Errorf("a call of %d gets %v", key, err)
						}
						cancel()
					}
				})
			}
			wg.Wait()
			p.Close()
		}
	}
}

func TestCallersOfOnceLearnWhyTheTaskNeverRan(t *testing.T) {
	type timeout = func() (context.Context, context.CancelFunc) // of a second
	for name, test := range map[string]struct {
		opts []weir.Option
		ends func(p *weir.Pool, second timeout) // on a goroutine, while the pool is busy; nil if the pool stays open
		want error
	}{
		"it expires":         {[]weir.Option{weir.ExpireAfter(time.Second)}, nil, weir.ErrExpired},
		"too many wait":      {[]weir.Option{weir.Queue(0), weir.MaxWaiting(0)}, nil, weir.ErrFull},
		"the pool is closed": {nil, func(p *weir.Pool, _ timeout) { p.Close() }, weir.ErrClosed},
		"the pool is shut down": {nil, func(p *weir.Pool, second timeout) {
			ctx, cancel := second()
			defer cancel()
			_, _ = p.Shutdown(ctx)
		}, weir.ErrClosed},
		"the pool is closed while the task has no room": {[]weir.Option{weir.Queue(0)}, func(p *weir.Pool, second timeout) {
			ctx, cancel := second()
			defer cancel()
			<-ctx.Done()
			p.Close()
		}, weir.ErrClosed},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			v := check.NewValve()
			p := weir.New(1, test.opts...)
			o := weir.NewOnce[string, int](p)
			check.OK(t, p.Submit(v.Hold))
			if test.ends != nil {
				go test.ends(p, func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Second) })
				synctest.Wait()
			}
			_, errs := together(3, func(int) (int, error) { return o.Do(t.Context(), "key", constant(1)) })
			for _, err := range errs {
				check.Error(t, err, test.want)
			}
			v.Open()
			if test.ends == nil {
				p.Wait()
				value, err := o.Do(t.Context(), "key", constant(1)) // the next call begins anew
				check.OK(t, err)
				check.Equal(t, "value", value, 1)
			}
			p.Close()
		})
	}
}

// slow is a context whose Done takes a second.
type slow struct{ context.Context }

func (s slow) Done() <-chan struct{} {
	time.Sleep(time.Second)
	return s.Context.Done()
}

func TestACallOfOnceJoinsNoneThatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		defer p.Close()
		o := weir.NewOnce[string, int](p)
		check.OK(t, p.Submit(v.Hold))
		var first sync.WaitGroup
		defer first.Wait()
		first.Go(func() {
			_, err := o.Do(slow{t.Context()}, "key", constant(1))
			check.Error(t, err, weir.ErrFull)
		})
		synctest.Wait()
		v.Open()
		p.Wait()
		value, err := o.Do(t.Context(), "key", constant(2)) // while the other one has not returned
		check.OK(t, err)
		check.Equal(t, "value", value, 2)
	})
}

func TestATaskOfAFullPoolLendsItsPlaceToWhatItCallsFirst(t *testing.T) {
	p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
	defer p.Close()
	o := weir.NewOnce[int, int](p)
	for i := range check.Scale(2000, 200) {
		check.OK(t, p.Do(t.Context(), func(ctx context.Context) error { _, err := o.Do(ctx, i, constant(1)); return err }))
	}
}

func TestShutdownCancelsTheContextOfATaskOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		o := weir.NewOnce[string, int](p)
		ended := make(chan error, 1)
		go func() {
			_, err := o.Do(t.Context(), "key", func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			})
			ended <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Shutdown(ctx)
		check.Error(t, err, context.DeadlineExceeded)
		check.Error(t, <-ended, weir.ErrClosed)
		p.Close()
	})
}

func TestAValueIsKeptForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		o := weir.NewOnce[string, int](p, weir.KeepFor(time.Minute))
		n := 0
		next := func(context.Context) (int, error) { n++; return n, nil }
		expect := func(want int) {
			t.Helper()
			got, err := o.Do(t.Context(), "key", next)
			check.OK(t, err)
			check.Equal(t, "value", got, want)
		}
		expect(1)
		time.Sleep(59 * time.Second)
		expect(1)
		p.Pause() // a kept value needs no worker
		expect(1)
		p.Resume()
		time.Sleep(time.Second)
		synctest.Wait()
		expect(2)
		o.Forget("key")
		o.Forget("unknown")
		expect(3)
		time.Sleep(30 * time.Second)
		o.Forget("key")
		expect(4)
		time.Sleep(40 * time.Second) // the time of the one before is over
		expect(4)
		o.Forget("key")
		p.Close()
	})
}

func TestForgetLetsThoseThatWaitGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		p := weir.New(2)
		defer p.Close()
		o := weir.NewOnce[string, int](p, weir.KeepFor(time.Hour))
		old := make(chan int)
		go func() { value, _ := o.Do(t.Context(), "key", held(v, 1, nil)); old <- value }()
		synctest.Wait()
		o.Forget("key")
		value, err := o.Do(t.Context(), "key", constant(2))
		check.OK(t, err)
		check.Equal(t, "value of a new task", value, 2)
		v.Open()
		check.Equal(t, "value of the old one", <-old, 1)
		value, err = o.Do(t.Context(), "key", constant(3))
		check.OK(t, err)
		check.Equal(t, "the value that is kept", value, 2) // and not that of the task that was forgotten
		o.Forget("key")
	})
}

func TestATaskOfOnceMayMakeGroupsOnItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		o := weir.NewOnce[int, int](p)
		var fib func(ctx context.Context, n int) (int, error)
		fib = func(ctx context.Context, n int) (int, error) {
			return o.Do(ctx, n, func(ctx context.Context) (int, error) {
				if n < 2 {
					return n, nil
				}
				g := p.Group(ctx)
				var parts [2]int
				for i := range parts {
					g.Go(func(ctx context.Context) (err error) { parts[i], err = fib(ctx, n-1-i); return err })
				}
				err := g.Wait()
				return parts[0] + parts[1], err
			})
		}
		got, err := fib(t.Context(), 15)
		check.OK(t, err)
		check.Equal(t, "Fibonacci 15", got, 610)
	})
}

func TestAnyKeyLeavesNothingBehind(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	numbers := weir.NewOnce[float64, int](p, weir.KeepFor(time.Hour))
	before := heap()
	for range 10_000 {
		got, err := numbers.Do(t.Context(), math.NaN(), constant(1)) // equal to no other key
		check.OK(t, err)
		check.Equal(t, "value", got, 1)
	}
	if after := heap(); after > before+100_000 {
		t.Errorf("10000 keys that are not numbers take %d bytes", after-before)
	}
	for i := range 10 { // a value is kept, and not the context of the call
		ctx := context.WithValue(t.Context(), "key", make([]byte, 1<<20)) //nolint:staticcheck // it is of no package
		_, err := numbers.Do(ctx, float64(i), constant(1))
		check.OK(t, err)
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("10 values that are kept take %d bytes", after-before)
	}
	for i := range 10 {
		numbers.Forget(float64(i))
	}
	o := weir.NewOnce[int, int](p)
	_, err := o.Do(t.Context(), -1, func(ctx context.Context) (int, error) {
		before = heap()
		for i := range 10_000 {
			if _, err := o.Do(ctx, i, constant(i)); err != nil {
				return 0, err
			}
		}
		if after := heap(); after > before+100_000 {
			t.Errorf("10000 calls in a task take %d bytes", after-before)
		}
		return 0, nil
	})
	check.OK(t, err)
	anything := weir.NewOnce[any, int](p)
	if check.Caught(func() { _, _ = anything.Do(t.Context(), []int{}, constant(1)) }) == nil {
		t.Error("a slice is a key")
	}
	got, err := anything.Do(t.Context(), 1, constant(1)) // it is as usable as before
	check.OK(t, err)
	check.Equal(t, "value", got, 1)
}

// askingContext calls a function of the program's own before it looks for a value.
type askingContext struct {
	context.Context
	asks func()
}

func (c askingContext) Value(key any) any {
	c.asks()
	return c.Context.Value(key)
}

func TestOnceAsksNoContextWhileOthersWaitForIt(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	o := weir.NewOnce[int, int](p)
	ctx := askingContext{t.Context(), func() { o.Forget(1) }}
	check.Within(time.Minute, func() {
		got, err := o.Do(ctx, 1, constant(2))
		check.OK(t, err)
		check.Equal(t, "value", got, 2)
	})
}
