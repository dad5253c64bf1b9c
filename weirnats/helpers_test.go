package weirnats_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir"
	tests "github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/mem"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if child := children[os.Getenv(childName)]; child != nil {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	tests.Overlap()
	goleak.VerifyTestMain(m)
}

func noError(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatalf("unexpected error: %v", err)
	}
}

func isError(t testing.TB, err, target error) {
	if !errors.Is(err, target) {
		t.Helper()
		t.Fatalf("error is %v, want %v", err, target)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	if got != want {
		t.Helper()
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

var quiet = weirnats.Logger(slog.New(slog.DiscardHandler))

// list is what several goroutines add to.
type list[V any] struct {
	mu  sync.Mutex
	all []V
}

// add returns how many there are with this one.
func (l *list[V]) add(v V) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, v)
	return len(l.all)
}

// take returns all, and forgets them.
func (l *list[V]) take() []V {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// bench is a queue in memory, in a bubble, with a pool.
type bench struct {
	*testing.T
	*weirnats.Queue[string]
	mem    *mem.Queue
	pool   *weir.Pool
	failed list[error] // what the pool's OnError got
}

const lease = 30 * time.Second

// inBubble calls f with a bench, whose pool has limit places. It closes both afterwards.
func inBubble(t *testing.T, limit int, f func(b *bench), opts ...weirnats.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t}
		b.open(opts...)
		b.pool = weir.New(limit, weir.OnError(func(err error) { b.failed.add(err) }), weir.OnPanic(func(*weir.Panic) {}))
		defer func() { // also after a test that has failed
			noError(t, b.Close())
			b.pool.Close()
		}()
		f(b)
	})
}

func (b *bench) open(opts ...weirnats.Option) {
	opts = append([]weirnats.Option{quiet, weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Second, MostWait: time.Second, Panics: true}))}, opts...)
	b.Queue = weirnats.OpenOn[string]("bench", func(s backend.Settings) backend.Queue {
		b.mem = mem.New(s)
		return b.mem
	}, opts...)
}

// serve calls Serve on a goroutine, and returns what ends that and returns its error.
func (b *bench) serve(run func(ctx context.Context, value string) error) (stop func() error) {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- b.Serve(ctx, b.pool, run) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-done
	}
}

func (b *bench) put(values ...string) {
	b.Helper()
	for _, v := range values {
		noError(b, b.Put(b.Context(), v))
	}
}

func (b *bench) stats() weirnats.Stats {
	b.Helper()
	s, err := b.Stats(b.Context())
	noError(b, err)
	return s
}

// dead returns the dead letters.
func (b *bench) dead() (all []weirnats.DeadLetter) {
	b.Helper()
	for l, err := range b.Dead(b.Context()) {
		noError(b, err)
		all = append(all, l)
	}
	return all
}

// pass lets time pass, until all is at rest.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
