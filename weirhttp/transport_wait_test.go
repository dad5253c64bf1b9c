package weirhttp_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestTransportServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		var order []string
		transport := &weirhttp.Transport{PerHost: 1, Base: base(func(r *http.Request) (*http.Response, error) {
			v.Hold()
			order = append(order, r.URL.Path)
			return hello(r)
		})}
		want := []string{"/a", "/b", "/c", "/d", "/e"}
		for _, path := range want {
			go func() { check.OK(t, send(t, transport, question(t, here+path))) }()
			synctest.Wait()
		}
		for range want {
			v.LetOne()
			synctest.Wait()
		}
		if !slices.Equal(order, want) {
			t.Errorf("served in the order %v, want %v", order, want)
		}
		remembersNothing(t, transport)
	})
}

func TestTransportRefusesWhatExceedsItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		transport := &weirhttp.Transport{PerHost: 1, Queue: 2, Base: base(func(r *http.Request) (*http.Response, error) {
			v.Hold()
			return hello(r)
		})}
		ctx, leave := context.WithCancelCause(t.Context())
		left := make(chan error, 1)
		go func() { check.OK(t, send(t, transport, question(t, here))) }()
		synctest.Wait()
		go func() { left <- send(t, transport, question(t, here).WithContext(ctx)) }()
		go func() { check.OK(t, send(t, transport, question(t, here))) }()
		synctest.Wait()

		r := question(t, here)
		err := send(t, transport, r)
		check.Error(t, err, weirhttp.ErrOverloaded)
		check.Equal(t, "error", err.Error(), "weirhttp: too many requests to one host: 2 wait for here.example:80")
		check.Equal(t, "times the body was closed", r.Body.(*closing).closed.Load(), 1)

		// A request that leaves makes room.
		leave(errBoom)
		check.Error(t, <-left, errBoom)
		go func() { check.OK(t, send(t, transport, question(t, here))) }()
		synctest.Wait()
		v.Open()
		synctest.Wait()
		check.Equal(t, "requests sent", v.Ended.Load(), 3)
		remembersNothing(t, transport)
	})
}

func TestTransportEndsAWait(t *testing.T) {
	tests := map[string]struct {
		maxWait time.Duration
		ends    func(cancel context.CancelCauseFunc, cancelled chan struct{})
		want    error
		text    string
	}{
		"by the context": {time.Minute, func(cancel context.CancelCauseFunc, _ chan struct{}) { cancel(errBoom) },
			errBoom, "weirhttp: not sent to here.example:80, whose turn had not come: boom"},
		"by Cancel": {time.Minute, func(_ context.CancelCauseFunc, cancelled chan struct{}) { close(cancelled) },
			context.Canceled, "weirhttp: not sent to here.example:80, whose turn had not come: context canceled"},
		"by its length": {time.Second, func(context.CancelCauseFunc, chan struct{}) {},
			weirhttp.ErrOverloaded, "weirhttp: too many requests to one host: waited 1s for here.example:80"},
	}
	for name, test := range tests {
		check.Bubble(t, name, func(t *testing.T) {
			transport := &weirhttp.Transport{PerHost: 1, MaxWait: test.maxWait, Base: base(hello)}
			held, err := transport.RoundTrip(question(t, here))
			check.OK(t, err)

			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r, cancelled := question(t, here).WithContext(ctx), make(chan struct{})
			r.Cancel = cancelled //nolint:staticcheck // the field is deprecated, and still works
			begin := time.Now()
			time.AfterFunc(time.Second, func() { test.ends(cancel, cancelled) })
			err = send(t, transport, r)
			check.Error(t, err, test.want)
			check.Equal(t, "error", err.Error(), test.text)
			check.Equal(t, "waited", time.Since(begin), time.Second)
			check.Equal(t, "times the body was closed", r.Body.(*closing).closed.Load(), 1)

			check.OK(t, held.Body.Close())
			remembersNothing(t, transport)
		})
	}
}

func TestTransportPassesASlotOnThatComesWithTheEndOfAWait(t *testing.T) {
	// The slot is freed and the context ends in no order that the waiter could see: it
	// takes the one or the other, and the slot must not be lost.
	transport := &weirhttp.Transport{PerHost: 1, Base: base(hello)}
	sent := 0
	for range check.Scale(20_000, 2000) {
		held, err := transport.RoundTrip(question(t, here))
		check.OK(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		var both sync.WaitGroup
		both.Go(func() {
			if err := send(t, transport, question(t, here).WithContext(ctx)); err == nil {
				sent++
			} else {
				check.Error(t, err, errBoom)
			}
		})
		runtime.Gosched()
		both.Go(func() { cancel(errBoom) })
		check.OK(t, held.Body.Close())
		both.Wait()
		remembersNothing(t, transport)
	}
	t.Logf("sent %d", sent)
}

// As http.Client has it for other requests that its Timeout ends.
func TestTransportDistinguishesATimeoutInTheQueueFromOtherErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := &weirhttp.Transport{PerHost: 1, Base: base(hello)}
		held, err := transport.RoundTrip(question(t, here))
		check.OK(t, err)
		for _, cause := range []error{context.DeadlineExceeded, errBoom} {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			_, err := (&http.Client{Transport: transport}).Do(question(t, here).WithContext(ctx))
			cancel()
			check.Error(t, err, cause)
			failure, ok := errors.AsType[*url.Error](err)
			check.Equal(t, "a timeout", ok && failure.Timeout(), errors.Is(cause, context.DeadlineExceeded))
		}
		check.OK(t, held.Body.Close())
		remembersNothing(t, transport)
	})
}
