package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestDoServesAsManyRequestsAtOnceAsThePoolLetsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := weir.New(3)
		v := check.NewValve()
		h := weirhttp.Do(pool, handler(v.Hold))
		var requests sync.WaitGroup
		for range 10 {
			requests.Go(func() { check.Equal(t, "status", answerOf(h, aGet(t)).Code, http.StatusOK) })
		}
		for served := range 8 {
			synctest.Wait()
			check.Equal(t, "requests at once", v.Running(), 3)
			check.Equal(t, "served requests", int(v.Ended.Load()), served)
			v.LetOne()
		}
		v.Open()
		requests.Wait()
		pool.Close()
	})
}

func TestDoReturnsWhenItsHandlerHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := weir.New(1)
		v := check.NewValve()
		h := weirhttp.Do(pool, handler(v.Hold))
		ctx, leave := context.WithCancel(t.Context())
		returned := false
		go func() {
			answerOf(h, aGet(t).WithContext(ctx))
			returned = true
		}()
		synctest.Wait()
		check.Equal(t, "requests at once", v.Running(), 1)
		leave() // what runs is not interrupted
		synctest.Wait()
		check.Equal(t, "returned while the handler runs", returned, false)
		v.Open()
		synctest.Wait()
		check.Equal(t, "returned", returned, true)
		pool.Close()
	})
}

func TestDoGivesTheHandlerTheResponseWriterItself(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	type key struct{}
	w := httptest.NewRecorder()
	r := aGet(t)
	r = r.WithContext(context.WithValue(r.Context(), key{}, "value"))
	weirhttp.Do(pool, http.HandlerFunc(func(got http.ResponseWriter, request *http.Request) {
		check.Equal(t, "the response writer", got, http.ResponseWriter(w))
		check.Equal(t, "the request's URL", request.URL, r.URL)
		check.Equal(t, "the context's value", request.Context().Value(key{}), any("value"))
	})).ServeHTTP(w, r)
}

func TestDoWithdrawsARequestWhoseClientHasGoneBeforeItRuns(t *testing.T) {
	where := []struct {
		name  string
		queue int
	}{{"queued", 1}, {"waiting for room", 0}}
	for _, test := range where {
		check.Bubble(t, test.name, func(t *testing.T) {
			pool := weir.New(1, weir.Queue(test.queue), weir.MaxWaiting(1-test.queue))
			v := check.NewValve()
			h := weirhttp.Do(pool, handler(v.Hold))
			go answerOf(h, aGet(t))
			synctest.Wait()

			ctx, leave := context.WithCancel(t.Context())
			gone := make(chan *httptest.ResponseRecorder)
			go func() { gone <- answerOf(h, aGet(t).WithContext(ctx)) }()
			synctest.Wait()
			refused(t, answerOf(h, aGet(t))) // there is room for one request only
			leave()
			refused(t, <-gone) // at once: the worker is still busy

			// Its room is free again.
			go answerOf(h, aGet(t))
			synctest.Wait()
			v.LetOne()
			synctest.Wait()
			check.Equal(t, "requests at once", v.Running(), 1)
			v.Open()
			pool.Close()
			check.Equal(t, "requests that ran", int(v.Started.Load()), 2)
		})
	}
}

func TestDoRefusesARequestWhoseContextHasEnded(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	h := weirhttp.Do(pool, handler(func() { t.Error("the handler ran") }))
	refused(t, answerOf(h, aGet(t).WithContext(ctx)))
}

func TestDoRefusesWhatThePoolRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := weir.New(1, weir.Queue(1), weir.MaxWaiting(0))
		v := check.NewValve()
		h := weirhttp.Do(pool, handler(v.Hold))
		go answerOf(h, aGet(t))
		synctest.Wait()
		handedBack := make(chan *httptest.ResponseRecorder)
		go func() { handedBack <- answerOf(h, aGet(t)) }()
		synctest.Wait()
		refused(t, answerOf(h, aGet(t))) // full

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := pool.Shutdown(ended)
		check.Error(t, err, context.Canceled)
		refused(t, <-handedBack)
		refused(t, answerOf(h, aGet(t))) // closed

		v.Open()
		pool.Close()
		check.Equal(t, "requests that ran", int(v.Started.Load()), 1)
	})
}

func TestDoServesWhatIsQueuedWhenItsPoolCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := weir.New(1)
		v := check.NewValve()
		h := weirhttp.Do(pool, handler(v.Hold))
		var requests sync.WaitGroup
		for range 5 {
			requests.Go(func() { check.Equal(t, "status", answerOf(h, aGet(t)).Code, http.StatusOK) })
		}
		synctest.Wait()
		go pool.Close()
		synctest.Wait()
		v.Open()
		requests.Wait()
		check.Equal(t, "served requests", int(v.Ended.Load()), 5)
	})
}

func TestDoPassesAPanicOn(t *testing.T) {
	pool := weir.New(1, weir.OnPanic(func(p *weir.Panic) { t.Errorf("reported: %v", p) }))
	defer pool.Close()
	value := check.Caught(func() { answerOf(weirhttp.Do(pool, handler(explode)), aGet(t)) })
	err, _ := value.(error)
	p, isPanic := errors.AsType[*weir.Panic](err)
	if !isPanic {
		t.Fatalf("panicked with %v, want a *weir.Panic", value)
	}
	check.Equal(t, "the value", p.Value, any(errBoom))
	if !strings.Contains(string(p.Stack), "weirhttp_test.explode") {
		t.Errorf("the stack is not that of the panic:\n%s", p.Stack)
	}
}

func TestDoPassesAPanicOnAlsoWhenTheClientHasGone(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	ctx, leave := context.WithCancel(t.Context())
	h := weirhttp.Do(pool, handler(func() {
		leave()
		explode()
	}))
	value := check.Caught(func() { answerOf(h, aGet(t).WithContext(ctx)) })
	if err, isError := value.(error); !isError || !errors.Is(err, errBoom) {
		t.Errorf("panicked with %v, want %v", value, errBoom)
	}
}

func TestDoAbortsAsItsHandlerDoes(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	abort := func() { panic(http.ErrAbortHandler) }
	inGroup := func(w http.ResponseWriter, r *http.Request) {
		group := pool.Group(r.Context())
		group.Go(func(context.Context) error { panic(http.ErrAbortHandler) })
		check.OK(t, group.Wait())
	}
	for name, h := range map[string]http.Handler{
		"panic":            handler(abort),
		"Goexit":           handler(runtime.Goexit),
		"panic in a group": http.HandlerFunc(inGroup),
		"panic two deep":   weirhttp.Do(pool, http.HandlerFunc(inGroup)),
	} {
		t.Run(name, func(t *testing.T) {
			value := check.Caught(func() { answerOf(weirhttp.Do(pool, h), aGet(t)) })
			check.Equal(t, "panic", value, any(http.ErrAbortHandler))
		})
	}
}

// abortInACrashingPool is run by check.Child. net/http takes no such panic for a fault of the program either.
func abortInACrashingPool() {
	pool := weir.New(1, weir.CrashOnPanic())
	h := weirhttp.Do(pool, handler(func() { panic(http.ErrAbortHandler) }))
	value := check.Caught(func() { h.ServeHTTP(newSink(), httptest.NewRequest(http.MethodGet, "/", nil)) })
	pool.Close()
	fmt.Println(value)
}

func TestDoAbortsAlsoOnAPoolThatCrashesOnPanics(t *testing.T) {
	out, err := check.Child(t, "abort in a crashing pool")
	check.OK(t, err)
	check.Equal(t, "panic", out, fmt.Sprintln(http.ErrAbortHandler))
}

func TestDoAbortsAHandlerThatExitsAlsoWhenTheClientHasGone(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	ctx, leave := context.WithCancel(t.Context())
	h := weirhttp.Do(pool, handler(func() {
		leave()
		runtime.Goexit()
	}))
	value := check.Caught(func() { answerOf(h, aGet(t).WithContext(ctx)) })
	check.Equal(t, "panic", value, any(http.ErrAbortHandler))
}

func TestDoLetsItsHandlerWaitForSubtasksOnTheSamePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := weir.New(1, weir.Queue(1))
		var sum atomic.Int64
		h := weirhttp.Do(pool, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			group := pool.Group(r.Context())
			for i := range 10 {
				group.Go(func(ctx context.Context) error {
					one := func(context.Context) (int64, error) { return int64(i), nil }
					n, err := weir.Async(ctx, pool, one).Get(ctx)
					sum.Add(n)
					return err
				})
			}
			check.OK(t, group.Wait())
		}))
		h = weirhttp.Do(pool, h) // which waits for the pool that it is on
		var requests sync.WaitGroup
		for range 4 {
			requests.Go(func() { check.Equal(t, "status", answerOf(h, aGet(t)).Code, http.StatusOK) })
		}
		requests.Wait()
		check.Equal(t, "sum", sum.Load(), 4*45)
		pool.Close()
	})
}

func TestDoRejectsMisuse(t *testing.T) {
	pool := weir.New(1)
	check.Panics(t, "weirhttp: pool must not be nil, got nil", func() { weirhttp.Do(nil, handler(explode)) })
	check.Panics(t, "weirhttp: handler must not be nil, got nil", func() { weirhttp.Do(pool, nil) })
}
