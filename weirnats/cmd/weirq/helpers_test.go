package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// weirq runs the tool without a terminal.
func weirq(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	return at(t.Context(), strings.NewReader(""), false, args...)
}

func at(ctx context.Context, in io.Reader, terminal bool, args ...string) (out, errs string, status int) {
	var stdout, stderr bytes.Buffer
	status = run(ctx, args, streams{in, &stdout, &stderr, terminal})
	return stdout.String(), stderr.String(), status
}

func noError(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatalf("unexpected error: %v", err)
	}
}

// is is false if got is not want.
func is[V comparable](t *testing.T, what string, got, want V) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// hostile is what a terminal must not get as it is.
const hostile = "\x1b]0;title\x07\x1b[31mred\u202e\u009b2J\r\n\x00e\u0301\u0301\u0301\u0301\xff"

// options are of queues that differ from what Open has as defaults.
func options(more ...weirnats.Option) []weirnats.Option {
	return append([]weirnats.Option{
		weirnats.Logger(slog.New(slog.DiscardHandler)), weirnats.MaxMessages(99), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 1})),
	}, more...)
}

// fill makes a queue raw with dead letters 1 and 2, and two messages, the first of them hostile; and a queue numbers, with one message, and one for later.
func fill(t *testing.T, opts ...weirnats.Option) {
	t.Helper()
	numbers, err := weirnats.Open[int](t.Context(), "numbers", options(opts...)...)
	noError(t, err)
	noError(t, numbers.Put(t.Context(), 7))
	noError(t, numbers.Put(t.Context(), 8, weirnats.After(time.Hour), weirnats.ID("eight")))
	raw, err := weirnats.Open[[]byte](t.Context(), "raw", options(opts...)...)
	noError(t, err)
	put := func(data string) { noError(t, raw.Put(t.Context(), []byte(data), weirnats.ID(data))) }
	put("bad 1 " + hostile)
	put("bad 2")
	ctx, cancel := context.WithCancel(t.Context())
	var failed sync.WaitGroup
	failed.Add(2)
	pool := weir.New(1, weir.OnError(func(error) { failed.Done() }))
	go func() {
		failed.Wait()
		cancel()
	}()
	noError(t, raw.Serve(ctx, pool, func(context.Context, []byte) error { return errors.New("no " + hostile) }))
	pool.Close()
	put("good 1 " + hostile)
	put("good 2")
	noError(t, raw.Close())
	noError(t, numbers.Close())
}
