package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/mem"
)

// values serves what is in q, and returns it, sorted.
func values(t *testing.T, q *weirnats.Queue[int]) []int {
	t.Helper()
	p := newPool(t, 8)
	var all list[int]
	stop := serve(t, q, p, func(_ context.Context, n int) error { all.add(n); return nil })
	drained(t, q)
	stop()
	return slices.Sorted(slices.Values(all.take()))
}

func numbers(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

func TestPutAll(t *testing.T) {
	t.Parallel()
	for _, durability := range []weirnats.Durability{weirnats.Lazy, weirnats.Always} {
		t.Run(durability.String(), func(t *testing.T) {
			q := open[int](t, t.TempDir(), "a", durability)
			put := func(from, to int, want int, id func(int) string) {
				t.Helper()
				n, err := q.PutAll(t.Context(), numbers(from, to), id)
				noError(t, err)
				equal(t, "put", n, want)
			}
			id := func(i int) string { return fmt.Sprint(i % 1000) }
			put(0, 0, 0, nil)
			put(0, 1200, 1200, id) // the last 200 are left out
			put(0, 1, 1, id)
			noError(t, q.Put(t.Context(), 1500, weirnats.ID("1500")))
			put(1000, 1600, 600, func(i int) string { return fmt.Sprint(1000 + i) })
			equal(t, "values", fmt.Sprint(values(t, q)), fmt.Sprint(numbers(0, 1600)))

			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(io.EOF)
			n, err := q.PutAll(ctx, numbers(0, 10), nil)
			isError(t, err, io.EOF)
			equal(t, "put", n, 0)
		})
	}
}

func TestPutAllOfWhatCannotBePut(t *testing.T) {
	t.Parallel()
	q := open[string](t, t.TempDir(), "a")
	n, err := q.PutAll(t.Context(), []string{"a", strings.Repeat("x", 9<<20), "b"}, nil)
	if _, ok := errors.AsType[*weirnats.TooLargeError](err); !ok || n != 0 {
		t.Errorf("put %d: %v", n, err)
	}
	if caught(func() { _, _ = q.PutAll(t.Context(), []string{"a"}, func(int) string { return "" }) }) == nil {
		t.Error("an empty ID was accepted")
	}
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 0)
}

func TestPutAllWaitsForRoom(t *testing.T) {
	t.Parallel()
	for _, durability := range []weirnats.Durability{weirnats.Lazy, weirnats.Always} {
		t.Run(durability.String(), func(t *testing.T) {
			q := open[int](t, t.TempDir(), "a", durability, weirnats.MaxMessages(100))
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error, 1)
			go func() {
				n, err := q.PutAll(ctx, numbers(0, 250), nil)
				if n > 100 { // it may not know of the last ones yet
					t.Errorf("put %d", n)
				}
				done <- err
			}()
			within(t, "full", func() bool {
				s, err := q.Stats(t.Context())
				noError(t, err)
				return s.Messages == 100
			})
			cancel(io.EOF)
			isError(t, <-done, io.EOF)
			go func() {
				n, err := q.PutAll(t.Context(), numbers(100, 350), nil)
				if n != 250 {
					t.Errorf("put %d", n)
				}
				done <- err
			}()
			p := newPool(t, 8)
			var seen [350]atomic.Bool
			stop := serve(t, q, p, func(_ context.Context, n int) error {
				if seen[n].Swap(true) {
					t.Errorf("%d comes twice", n)
				}
				return nil
			})
			noError(t, <-done)
			drained(t, q)
			stop()
		})
	}
}

// Puts that share a sync have an outcome each.
func TestPutsThatAreGrouped(t *testing.T) {
	t.Parallel()
	q := open[int](t, t.TempDir(), "a", weirnats.Always, weirnats.MaxMessages(150))
	g := weir.NewGroup(t.Context(), 400)
	var full atomic.Int32
	for i := range 400 {
		g.Go(func(ctx context.Context) error {
			err := q.TryPut(ctx, i%200, weirnats.ID(fmt.Sprint(i%200)))
			if errors.Is(err, weirnats.ErrFull) {
				full.Add(1)
				return nil
			}
			return err
		})
	}
	noError(t, g.Wait())
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 150)
	if n := full.Load(); n < 50 {
		t.Errorf("%d were refused", n)
	}
	all := values(t, q)
	equal(t, "different values", len(slices.Compact(all)), 150)
}

func TestAPutThatIsGroupedEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t}
		b.open(weirnats.Always)
		b.mem.Fault(func(string) error { time.Sleep(time.Minute); return nil })
		done := make(chan error, 1)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, io.EOF)
		defer cancel()
		begin := time.Now()
		go func() { done <- b.Put(ctx, "on its way") }()
		synctest.Wait()
		equal(t, "error", b.Put(ctx, "not on its way"), io.EOF)
		equal(t, "error", <-done, io.EOF)
		equal(t, "time of both", time.Since(begin), time.Second)
		noError(t, b.Close()) // after the first is stored
		equal(t, "time of Close", time.Since(begin), time.Minute)
		s, err := b.mem.Stats(t.Context())
		noError(t, err)
		equal(t, "messages", s.Messages, 1)
	})
}

// slow is a backend that stores a message a while after it was asked to.
type slow struct {
	*mem.Queue
	by time.Duration
}

func (s *slow) PutEach(ctx context.Context, all []*backend.Message) []error {
	time.Sleep(s.by)
	return s.Queue.PutEach(ctx, all)
}

// A message whose Put has ended may still be on its way. What the program has given to Put is its own again, and what it puts then with the same key comes behind.
func TestWhatIsGroupedIsNoLongerTheCallers(t *testing.T) {
	for _, how := range []string{"PutAll", "Replay"} {
		synctest.Test(t, func(t *testing.T) {
			to := new(slow)
			data, trace := []byte("first"), map[string]string{"trace": "1"}
			var carried list[string]
			q := weirnats.OpenOn[[]byte]("a", func(s backend.Settings) backend.Queue {
				to.Queue = mem.New(s)
				return to
			}, quiet, weirnats.Always, weirnats.Carry(func(context.Context) map[string]string { return trace }, func(ctx context.Context, m map[string]string) context.Context {
				carried.add(m["trace"])
				m["trace"] = "of the try"
				return ctx
			}), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 2, Wait: time.Second})))
			p := weir.New(4, weir.OnError(func(error) {}))
			if how == "Replay" {
				noError(t, q.Put(t.Context(), []byte("poison"), weirnats.Key("k")))
				stop := serve(t, q, p, func(_ context.Context, v []byte) error {
					copy(v, "xxxxxx")
					return errors.New("no")
				})
				pass(time.Minute)
				stop()
				carried.take()
			}
			to.by = 10 * time.Second
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, io.EOF)
			defer cancel()
			isError(t, q.Put(ctx, data, weirnats.Key("k")), io.EOF)
			copy(data, "xxxxx")
			trace["trace"] = "x"
			second := "second"
			if how == "PutAll" {
				_, err := q.PutAll(t.Context(), [][]byte{[]byte("second")}, nil, func(int) string { return "k" })
				noError(t, err)
			} else {
				second = "poison"
				noError(t, q.Replay(t.Context(), "1"))
			}
			var got list[string]
			stop := serve(t, q, p, func(_ context.Context, v []byte) error {
				got.add(string(v))
				if copy(v, "yyyyyy"); len(got.all) == 1 {
					return errors.New("again, with the same data")
				}
				return nil
			})
			pass(time.Minute)
			stop()
			noError(t, q.Close())
			p.Close()
			equal(t, how, fmt.Sprint(got.take()), fmt.Sprint([]string{"first", "first", second}))
			equal(t, "what was carried by the first", fmt.Sprint(carried.take()[:2]), "[1 1]")
		})
	}
}

// early is a context whose Done is closed before Err says so.
type early struct{ context.Context }

func (early) Err() error { return nil }

func TestAPutThatIsGroupedIsNoSuccessWhenItsContextEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t}
		b.open(weirnats.Always)
		b.mem.Fault(func(string) error { time.Sleep(time.Minute); return nil })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		isError(t, b.Put(early{ctx}, "x"), context.Canceled)
		noError(t, b.Close())
	})
}

func TestManyCallsOfPutAllAtOnce(t *testing.T) {
	t.Parallel()
	q := open[int](t, t.TempDir(), "numbers")
	g := weir.NewGroup(t.Context(), 50)
	const calls, each = 50, 500
	for range calls {
		g.Go(func(ctx context.Context) error {
			_, err := q.PutAll(ctx, make([]int, each), nil)
			return err
		})
	}
	noError(t, g.Wait())
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, calls*each)
}

// While a call of PutAll waits for room, another caller puts a message with the same ID, which is done, and the
// server starts again and forgets the ID.
func TestPutAllAsksForIDsAgainWhenItHasWaitedForRoom(t *testing.T) {
	for _, key := range []string{"", "k"} {
		t.Run("key "+key, func(t *testing.T) {
			inBubble(t, 1, func(b *bench) {
				b.put("first", "second")
				done := make(chan error, 1)
				go func() {
					values := []string{"a", "b", "c"}
					n, err := b.PutAll(b.Context(), values, func(i int) string { return values[i] }, func(int) string { return key })
					equal(b, "put", n, 3)
					done <- err
				}()
				pass(10 * time.Second)
				var ran list[string]
				stop := b.serve(func(_ context.Context, v string) error {
					ran.add(v)
					if v == "second" {
						go func() {
							for b.TryPut(b.Context(), "b", weirnats.ID("b")) != nil { // it looks more often than PutAll
								time.Sleep(time.Millisecond)
							}
							time.Sleep(5 * time.Millisecond) // b is done
							b.mem.Restart()
						}()
					}
					return nil
				})
				pass(10 * time.Second)
				noError(b, <-done)
				noError(b, stop())
				equal(b, "runs", strings.Join(ran.take(), " "), "first second b a c")
			}, weirnats.MaxMessages(2), weirnats.Partitions(1))
		})
	}
}

// flaky is a backend that is full until the first message is put, and that does not take the message "c". Another process puts the message "d"
// meanwhile, and it is done.
type flaky struct {
	*mem.Queue
	full bool
}

func (f *flaky) PutAll(ctx context.Context, all []*backend.Message) error {
	if f.full {
		return backend.ErrFull
	}
	return f.Queue.PutAll(ctx, all)
}

func (f *flaky) Put(ctx context.Context, m *backend.Message) error {
	switch {
	case f.full:
		f.full = false
		return backend.ErrFull
	case m.ID == "c":
		return io.EOF
	}
	return f.Queue.Put(ctx, m)
}

func (f *flaky) Known(_ context.Context, id string) (bool, error) { return !f.full && id == "pd", nil }

// A message that cannot be put is followed by one that is done already. None of those behind it is put, as they would come before it.
func TestPutAllStopsAtAMessageThatCannotBePut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &flaky{full: true}
		q := weirnats.OpenOn[string]("a", func(s backend.Settings) backend.Queue {
			to.Queue = mem.New(s)
			return to
		}, quiet)
		values := strings.Split("abcdefgh", "")
		n, err := q.PutAll(t.Context(), values, func(i int) string { return values[i] }, func(int) string { return "k" })
		isError(t, err, io.EOF)
		equal(t, "put", n, 2)
		s, err := q.Stats(t.Context())
		noError(t, err)
		equal(t, "messages", s.Messages, 2)
		noError(t, q.Close())
	})
}
