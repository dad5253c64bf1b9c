package weir_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
)

// isDone reports whether the future has resolved.
func isDone[T any](f *weir.Future[T]) bool {
	select {
	case <-f.Done():
		return true
	default:
		return false
	}
}

func TestAFutureGivesManyWhatItsTaskReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		v := newValve()
		f := weir.Async(t.Context(), p, func(context.Context) (string, error) {
			v.task()
			return "partly", errBoom
		})
		check := func() {
			value, err := f.Get(t.Context())
			equal(t, "value", value, "partly")
			if err != errBoom { //nolint:errorlint // the very error, unwrapped
				t.Errorf("got error %v", err)
			}
		}
		var getting sync.WaitGroup
		for range 5 {
			getting.Go(check)
		}
		synctest.Wait()
		equal(t, "done", isDone(f), false)
		v.open()
		getting.Wait()
		equal(t, "done", isDone(f), true)
		check()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		value, _ := f.Get(ctx)
		equal(t, "value, though Get's context is done", value, "partly")
	})
}

func TestScenario06AFutureAlwaysResolves(t *testing.T) {
	cause := errors.New("cause")
	// outcome sees that f has resolved with want, for Get and for Done.
	outcome := func(t *testing.T, f *weir.Future[int], want error) {
		t.Helper()
		synctest.Wait()
		equal(t, "done", isDone(f), true)
		value, err := f.Get(t.Context())
		equal(t, "value", value, 0)
		wantError(t, err, want)
	}
	bubble(t, "Goexit", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		for range 3 {
			outcome(t, weir.Async(t.Context(), p, exitWithResult), weir.ErrGoexit)
		}
		value, err := weir.Async(t.Context(), p, gives(1)).Get(t.Context())
		ok(t, err)
		equal(t, "value of the next", value, 1)
	})
	bubble(t, "panic", func(t *testing.T) {
		p := weir.New(1, weir.Name("mail"), weir.OnPanic(func(p *weir.Panic) { t.Errorf("reported: %v", p) }))
		defer p.Close()
		f := weir.Async(t.Context(), p, explodeWithResult)
		outcome(t, f, errBoom)
		_, err := f.Get(t.Context())
		panicked, isPanic := errors.AsType[*weir.Panic](err)
		if !isPanic {
			t.Fatalf("Get returned %v", err)
		}
		equal(t, "pool", panicked.Pool, "mail")
		if !strings.Contains(string(panicked.Stack), "weir_test.explodeWithResult") {
			t.Errorf("no trace of the task in its stack:\n%s", panicked.Stack)
		}
		p.Wait()
		equal(t, "panicked", p.Stats().Panicked, 1)
		value, err := weir.Async(t.Context(), p, gives(1)).Get(t.Context())
		ok(t, err)
		equal(t, "value of the next", value, 1)
	})
	bubble(t, "closed pool", func(t *testing.T) {
		p := weir.New(1)
		p.Close()
		outcome(t, weir.Async(t.Context(), p, gives(1)), weir.ErrClosed)
	})
	bubble(t, "pool that closes while Async waits for room", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		v := block(t, p, 1)
		made := make(chan *weir.Future[int])
		go func() { made <- weir.Async(t.Context(), p, gives(1)) }()
		synctest.Wait()
		go p.Close()
		outcome(t, <-made, weir.ErrClosed)
		v.open()
	})
	bubble(t, "handed back by Shutdown", func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		var futures []*weir.Future[int]
		for range 3 {
			futures = append(futures, weir.Async(t.Context(), p, gives(1)))
			ok(t, p.Submit(nothing))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		wantError(t, err, context.Canceled)
		equal(t, "handed back", len(unrun), 3)
		for _, f := range futures {
			outcome(t, f, weir.ErrClosed)
		}
		v.open()
		p.Close()
		equal(t, "handed back", p.Stats().HandedBack, 6)
	})
	bubble(t, "full pool", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		defer p.Close()
		v := block(t, p, 1)
		outcome(t, weir.Async(t.Context(), p, gives(1)), weir.ErrFull)
		v.open()
	})
	bubble(t, "context that is done beforehand", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		outcome(t, weir.Async(ctx, p, gives(1)), cause)
		equal(t, "accepted", p.Stats().Accepted, 0)
	})
	bubble(t, "cancelled while Async waits for room", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		v := block(t, p, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		made := make(chan *weir.Future[int])
		go func() { made <- weir.Async(ctx, p, gives(1)) }()
		synctest.Wait()
		cancel(cause)
		outcome(t, <-made, cause)
		v.open()
	})
	for _, watched := range []bool{true, false} {
		bubble(t, fmt.Sprintf("cancelled in the queue/Done=%t", watched), func(t *testing.T) {
			p := weir.New(1)
			v := block(t, p, 1)
			ctx, cancel := context.WithCancelCause(t.Context())
			f := weir.Async(ctx, p, func(context.Context) (int, error) { t.Error("started"); return 1, nil })
			got := make(chan error, 1)
			go func() {
				if watched {
					<-f.Done()
				}
				_, err := f.Get(context.Background())
				got <- err
			}()
			synctest.Wait()
			equal(t, "resolved", len(got), 0)
			cancel(cause)
			synctest.Wait()
			equal(t, "resolved at once", len(got), 1)
			wantError(t, <-got, cause)
			outcome(t, f, cause)
			v.open()
			p.Close()
			equal(t, "stats", p.Stats(), weir.Stats{Limit: 1, Accepted: 2, Finished: 1, HandedBack: 1})
		})
	}
	bubble(t, "cancelled in the queue, and nobody looks", func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		f := weir.Async(ctx, p, func(context.Context) (int, error) { t.Error("started"); return 1, nil })
		cancel(cause)
		v.open()
		p.Close()
		outcome(t, f, cause)
		equal(t, "handed back", p.Stats().HandedBack, 1)
	})
}

func TestAFutureWhoseTaskHasStartedEndsWithTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		f := weir.Async(ctx, p, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			time.Sleep(time.Minute)
			return context.Cause(ctx).Error(), nil
		})
		synctest.Wait()
		equal(t, "done", isDone(f), false)
		begin := time.Now()
		cancel(errBoom)
		value, err := f.Get(context.Background())
		ok(t, err)
		equal(t, "value", value, "boom")
		equal(t, "after", time.Since(begin), time.Minute)
	})
}

func TestGetWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		f := weir.Async(t.Context(), p, sleeper(60))
		for range 3 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBoom)
			value, err := f.Get(ctx)
			cancel()
			equal(t, "value", value, 0)
			wantError(t, err, errBoom)
		}
		value, err := f.Get(t.Context())
		ok(t, err)
		equal(t, "value", value, 60)
	})
}

func TestThePoolWaitsForFutures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		var futures []*weir.Future[int]
		for i := range 10 {
			futures = append(futures, weir.Async(t.Context(), p, sleeper(i)))
		}
		p.Wait()
		for _, f := range futures {
			equal(t, "done", isDone(f), true)
		}
		p.Close()
		equal(t, "finished", p.Stats().Finished, 10)
	})
}

func TestFutureMisuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			zero  = "weir: future must be made by Async, got the zero value"
			noCtx = "weir: context must not be nil, got nil"
		)
		var none context.Context
		p := weir.New(1)
		defer p.Close()
		mustPanic(t, noCtx, func() { weir.Async(none, p, gives(1)) })
		mustPanic(t, "weir: pool must not be nil, got nil", func() { weir.Async(t.Context(), nil, gives(1)) })
		mustPanic(t, "weir: pool must be made by New or NewFunc, got the zero value", func() { weir.Async(t.Context(), new(weir.Pool), gives(1)) })
		mustPanic(t, "weir: task must not be nil, got nil", func() { weir.Async[int](t.Context(), p, nil) })
		mustPanic(t, zero, func() { _, _ = new(weir.Future[int]).Get(t.Context()) })
		mustPanic(t, zero, func() { new(weir.Future[int]).Done() })
		f := weir.Async(t.Context(), p, gives(1))
		mustPanic(t, noCtx, func() { _, _ = f.Get(none) })
		value, err := f.Get(t.Context())
		ok(t, err)
		equal(t, "value", value, 1)
		equal(t, "accepted", p.Stats().Accepted, 1)
	})
}
