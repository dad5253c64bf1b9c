package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
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
		v := check.NewValve()
		f := weir.Async(t.Context(), p, func(context.Context) (string, error) {
			v.Hold()
			return "partly", errBoom
		})
		verify := func() {
			value, err := f.Get(t.Context())
			check.Equal(t, "value", value, "partly")
			if err != errBoom { //nolint:errorlint // the very error, unwrapped
				t.Errorf("got error %v", err)
			}
		}
		var getting sync.WaitGroup
		for range 5 {
			getting.Go(verify)
		}
		synctest.Wait()
		check.Equal(t, "done", isDone(f), false)
		v.Open()
		getting.Wait()
		check.Equal(t, "done", isDone(f), true)
		verify()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		value, _ := f.Get(ctx)
		check.Equal(t, "value, though Get's context is done", value, "partly")
	})
}

func TestScenario06AFutureAlwaysResolves(t *testing.T) {
	cause := errors.New("cause")
	// outcome checks that f has resolved with want, for Get and for Done.
	outcome := func(t *testing.T, f *weir.Future[int], want error) {
		t.Helper()
		synctest.Wait()
		check.Equal(t, "done", isDone(f), true)
		value, err := f.Get(t.Context())
		check.Equal(t, "value", value, 0)
		check.Error(t, err, want)
	}
	check.Bubble(t, "Goexit", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		for range 3 {
			outcome(t, weir.Async(t.Context(), p, exitWithResult), weir.ErrGoexit)
		}
		value, err := weir.Async(t.Context(), p, gives(1)).Get(t.Context())
		check.OK(t, err)
		check.Equal(t, "value of the next", value, 1)
	})
	check.Bubble(t, "panic", func(t *testing.T) {
		p := weir.New(1, weir.Name("mail"), weir.OnPanic(func(p *weir.Panic) { t.Errorf("reported: %v", p) }))
		defer p.Close()
		f := weir.Async(t.Context(), p, explodeWithResult)
		outcome(t, f, errBoom)
		_, err := f.Get(t.Context())
		panicked, isPanic := errors.AsType[*weir.Panic](err)
		if !isPanic {
			t.Fatalf("Get returned %v", err)
		}
		check.Equal(t, "pool", panicked.Pool, "mail")
		if !strings.Contains(string(panicked.Stack), "weir_test.explodeWithResult") {
			t.Errorf("no trace of the task in its stack:\n%s", panicked.Stack)
		}
		p.Wait()
		check.Equal(t, "panicked", p.Stats().Panicked, 1)
		value, err := weir.Async(t.Context(), p, gives(1)).Get(t.Context())
		check.OK(t, err)
		check.Equal(t, "value of the next", value, 1)
	})
	check.Bubble(t, "closed pool", func(t *testing.T) {
		p := weir.New(1)
		p.Close()
		outcome(t, weir.Async(t.Context(), p, gives(1)), weir.ErrClosed)
	})
	check.Bubble(t, "pool that closes while Async waits for room", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		v := block(t, p, 1)
		made := make(chan *weir.Future[int])
		go func() { made <- weir.Async(t.Context(), p, gives(1)) }()
		synctest.Wait()
		go p.Close()
		outcome(t, <-made, weir.ErrClosed)
		v.Open()
	})
	check.Bubble(t, "handed back by Shutdown", func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		var futures []*weir.Future[int]
		for range 3 {
			futures = append(futures, weir.Async(t.Context(), p, gives(1)))
			check.OK(t, p.Submit(nothing))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.Equal(t, "handed back", len(unrun), 3)
		for _, f := range futures {
			outcome(t, f, weir.ErrClosed)
		}
		v.Open()
		p.Close()
		check.Equal(t, "handed back", p.Stats().HandedBack, 6)
	})
	check.Bubble(t, "full pool", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		defer p.Close()
		v := block(t, p, 1)
		outcome(t, weir.Async(t.Context(), p, gives(1)), weir.ErrFull)
		v.Open()
	})
	check.Bubble(t, "context that is done beforehand", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		outcome(t, weir.Async(ctx, p, gives(1)), cause)
		check.Equal(t, "accepted", p.Stats().Accepted, 0)
	})
	check.Bubble(t, "cancelled while Async waits for room", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		v := block(t, p, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		made := make(chan *weir.Future[int])
		go func() { made <- weir.Async(ctx, p, gives(1)) }()
		synctest.Wait()
		cancel(cause)
		outcome(t, <-made, cause)
		v.Open()
	})
	for _, watched := range []bool{true, false} {
		check.Bubble(t, fmt.Sprintf("cancelled in the queue/Done=%t", watched), func(t *testing.T) {
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
			check.Equal(t, "resolved", len(got), 0)
			cancel(cause)
			synctest.Wait()
			check.Equal(t, "resolved at once", len(got), 1)
			check.Error(t, <-got, cause)
			outcome(t, f, cause)
			v.Open()
			p.Close()
			check.Equal(t, "stats", p.Stats(), weir.Stats{Limit: 1, Closed: true, Accepted: 2, Finished: 1, HandedBack: 1})
		})
	}
	check.Bubble(t, "cancelled in the queue, and no goroutine looks", func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		f := weir.Async(ctx, p, func(context.Context) (int, error) { t.Error("started"); return 1, nil })
		cancel(cause)
		v.Open()
		p.Close()
		outcome(t, f, cause)
		check.Equal(t, "handed back", p.Stats().HandedBack, 1)
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
		check.Equal(t, "done", isDone(f), false)
		begin := time.Now()
		cancel(errBoom)
		value, err := f.Get(context.Background())
		check.OK(t, err)
		check.Equal(t, "value", value, "boom")
		check.Equal(t, "after", time.Since(begin), time.Minute)
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
			check.Equal(t, "value", value, 0)
			check.Error(t, err, errBoom)
		}
		value, err := f.Get(t.Context())
		check.OK(t, err)
		check.Equal(t, "value", value, 60)
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
			check.Equal(t, "done", isDone(f), true)
		}
		p.Close()
		check.Equal(t, "finished", p.Stats().Finished, 10)
	})
}

func TestMisuseOfFuturesPanicsAtTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			zero  = "weir: future must be made by Async, got the zero value"
			noCtx = "weir: context must not be nil, got nil"
		)
		var none context.Context
		p := weir.New(1)
		defer p.Close()
		check.Panics(t, noCtx, func() { weir.Async(none, p, gives(1)) })
		check.Panics(t, "weir: pool must not be nil, got nil", func() { weir.Async(t.Context(), nil, gives(1)) })
		check.Panics(t, "weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value", func() { weir.Async(t.Context(), new(weir.Pool), gives(1)) })
		check.Panics(t, "weir: task must not be nil, got nil", func() { weir.Async[int](t.Context(), p, nil) })
		check.Panics(t, zero, func() { _, _ = new(weir.Future[int]).Get(t.Context()) })
		check.Panics(t, zero, func() { new(weir.Future[int]).Done() })
		f := weir.Async(t.Context(), p, gives(1))
		check.Panics(t, noCtx, func() { _, _ = f.Get(none) })
		value, err := f.Get(t.Context())
		check.OK(t, err)
		check.Equal(t, "value", value, 1)
		check.Equal(t, "accepted", p.Stats().Accepted, 1)
	})
}

func TestAPanicThatGetNeverReturnsIsReported(t *testing.T) {
	reports := make(chan *weir.Panic, 10)
	p := weir.New(1, weir.Name("dropped"), weir.OnPanic(func(p *weir.Panic) { reports <- p }))
	defer p.Close()
	panics := func(value any) *weir.Future[[64]byte] {
		return weir.Async(t.Context(), p, func(context.Context) ([64]byte, error) { panic(value) })
	}
	for _, get := range []bool{true, false} { // the second is reported last
		f := panics(get)
		<-f.Done()
		if get {
			_, err := f.Get(t.Context())
			p, _ := errors.AsType[*weir.Panic](err)
			check.Equal(t, "a panic", p.Value, any(true))
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	begun, end := make(chan struct{}), make(chan struct{})
	gaveUp := weir.Async(t.Context(), p, func(context.Context) (int, error) {
		close(begun)
		<-end
		panic("too late")
	})
	<-begun
	cancel()
	_, err := gaveUp.Get(gone)
	check.Error(t, err, context.Canceled)
	gaveUp = nil
	close(end)
	p.Wait()
	want := map[any]bool{false: true, "too late": true}
	check.Until(t, "both are reported", func() bool {
		runtime.GC()
		select {
		case report := <-reports:
			check.Equal(t, fmt.Sprint("expected ", report.Value), want[report.Value], true)
			check.Equal(t, "pool", report.Pool, "dropped")
			delete(want, report.Value)
		default:
		}
		return len(want) == 0
	})
	for range 3 {
		runtime.GC()
	}
	check.Equal(t, "more reports", len(reports), 0)
}

// TrySubmit waits for a worker that is between two tasks. A worker asks a context of the program's own, which may wait for a lock that the caller
// of TrySubmit holds, while it is not.
func TestNoContextIsAskedBetweenTwoTasks(t *testing.T) {
	for _, cancels := range []bool{false, true} {
		p := weir.New(1, weir.Queue(1))
		ctx, cancel := context.WithCancel(t.Context())
		begun, out, asked := make(chan struct{}), make(chan struct{}), false
		check.OK(t, p.Submit(func() { close(begun); <-out }))
		<-begun
		f := weir.Async(askingContext{ctx, func() {
			select {
			case <-out: // the worker asks
				asked = true
				_ = p.TrySubmit(func() {}) // there is room for one
				check.Error(t, p.TrySubmit(func() {}), weir.ErrFull)
			default:
			}
		}}, p, func(context.Context) (int, error) { return 1, nil })
		if cancels {
			cancel()
		} else {
			f.Done()
		}
		close(out)
		check.Within(time.Minute, p.Wait)
		p.Close()
		cancel()
		check.Equal(t, "the context was asked", asked, true)
	}
}

// freshContext has another channel for each call of Done, as a context of the program's own may.
type freshContext struct{ context.Context }

func (c freshContext) Done() <-chan struct{} {
	done := make(chan struct{})
	context.AfterFunc(c.Context, func() { close(done) })
	return done
}

func TestGetOfAContextWhoseChannelsDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		out := make(chan struct{})
		f := weir.Async(t.Context(), p, func(context.Context) (int, error) { <-out; return 1, nil })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		check.Within(time.Minute, func() {
			_, err := f.Get(freshContext{ctx})
			check.Error(t, err, context.Canceled)
		})
		close(out)
		p.Close()
	})
}
