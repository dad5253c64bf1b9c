package weirnats_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

func TestAMessageForLaterRunsAtItsTime(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		begin := time.Now()
		put := func(value string, opts ...weirnats.PutOption) {
			b.Helper()
			noError(b, b.Put(b.Context(), value, opts...))
		}
		put("hour", weirnats.After(time.Hour), weirnats.ID("key"))
		put("again", weirnats.After(time.Hour), weirnats.ID("key"))
		put("noon", weirnats.At(begin.Add(30*time.Minute)))
		put("now", weirnats.ID("key"))
		equal(b, "counts", b.stats().Later, 2)
		var ran list[string]
		stop := b.serve(func(ctx context.Context, value string) error {
			try := weirnats.Attempt(ctx)
			ran.add(fmt.Sprintf("%s after %v, put %v, ID %q", value, time.Since(begin), try.Put.Sub(begin), try.ID))
			return nil
		})
		check := func(want ...string) {
			b.Helper()
			equal(b, "runs", strings.Join(ran.take(), "; "), strings.Join(want, "; "))
		}
		check(`now after 0s, put 0s, ID "key"`)
		pass(29 * time.Minute)
		check()
		pass(29 * time.Minute)
		check(`noon after 30m0s, put 0s, ID ""`)
		equal(b, "messages for later", b.stats().Later, 1)
		pass(time.Hour)
		check(`hour after 1h0m0s, put 0s, ID "key"`)
		noError(b, stop())
		equal(b, "counts", b.stats(), weirnats.Stats{Accepted: 3})
	})
}

func TestATimeThatIsNotInTheFutureIsNow(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		for _, opt := range []weirnats.PutOption{weirnats.At(time.Time{}), weirnats.At(time.Now()), weirnats.After(0), weirnats.After(-time.Hour)} {
			noError(b, b.Put(b.Context(), "x", opt))
		}
		s := b.stats()
		equal(b, "messages", s.Messages, 4)
		equal(b, "messages for later", s.Later, 0)
	})
}

// A program that does not know whether a Put has put its message calls it again, maybe when the time has come.
func TestAnIDOfAMessageForLaterIsKnownWhenItsTimeHasCome(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		due := time.Now().Add(time.Second)
		noError(b, b.Put(b.Context(), "now", weirnats.ID("a")))
		noError(b, b.Put(b.Context(), "past", weirnats.ID("a"), weirnats.At(time.Time{})))
		noError(b, b.Put(b.Context(), "later", weirnats.ID("b"), weirnats.At(due)))
		pass(time.Second)
		noError(b, b.Put(b.Context(), "again", weirnats.ID("b"), weirnats.At(due)))
		var ran list[string]
		stop := b.serve(func(_ context.Context, value string) error { ran.add(value); return nil })
		pass(time.Second)
		noError(b, b.Put(b.Context(), "again", weirnats.ID("a"), weirnats.After(-time.Hour)))
		pass(time.Second)
		equal(b, "runs", strings.Join(ran.take(), " "), "now past later")
		noError(b, stop())
	})
}

// A Put that got no answer has not noted the ID. The one that is called after it must.
func TestAnIDOfAMessageForLaterIsKnownAfterAPutWithoutAnswer(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		lost := errors.New("connection was lost")
		b.mem.Fault(func(call string) error {
			if call == "stored" {
				return lost
			}
			return nil
		})
		put := func() error { return b.Put(b.Context(), "x", weirnats.ID("a"), weirnats.After(time.Minute)) }
		isError(b, put(), lost)
		b.mem.Fault(nil)
		noError(b, put())
		var ran list[string]
		stop := b.serve(func(_ context.Context, value string) error { ran.add(value); return nil })
		pass(2 * time.Minute)
		b.mem.Restart()
		noError(b, put())
		pass(2 * time.Minute)
		noError(b, stop())
		equal(b, "runs", strings.Join(ran.take(), " "), "x")
	}, weirnats.Window(time.Hour))
}

func TestATimeThatIsTooFarIsAnError(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		noError(b, b.Put(b.Context(), "x", weirnats.At(time.Date(2261, 12, 31, 23, 0, 0, 0, time.UTC))))
		for _, due := range []time.Time{time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), time.Unix(1<<60, 0)} {
			err := b.Put(b.Context(), "y", weirnats.At(due))
			if err == nil || !strings.Contains(err.Error(), "queue bench: time of a message must not be after the year 2261, got ") {
				b.Errorf("error is %v", err)
			}
		}
		equal(b, "messages for later", b.stats().Later, 1)
	})
}

func TestMessagesForLaterNeedNoRoomUntilTheyAreDue(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		noError(b, b.TryPut(b.Context(), "first"))
		for range 3 {
			noError(b, b.TryPut(b.Context(), "later", weirnats.After(time.Minute)))
			isError(b, b.TryPut(b.Context(), "no room"), weirnats.ErrFull)
		}
		var ran list[time.Duration]
		begin := time.Now()
		stop := b.serve(func(_ context.Context, value string) error {
			ran.add(time.Since(begin).Round(time.Second))
			time.Sleep(2 * time.Minute)
			return nil
		})
		pass(time.Hour)
		equal(b, "runs", fmt.Sprint(ran.take()), "[0s 2m0s 4m0s 6m0s]")
		noError(b, stop())
	}, weirnats.MaxMessages(1))
}

func TestMovingIsTriedAgain(t *testing.T) {
	var log bytes.Buffer
	inBubble(t, 1, func(b *bench) {
		noError(b, b.Put(b.Context(), "x", weirnats.After(time.Minute)))
		begin := time.Now()
		b.mem.Fault(func(call string) error {
			if call == "moved" && time.Since(begin) < 2*time.Minute {
				return errors.New("on purpose")
			}
			return nil
		})
		var runs atomic.Int32
		stop := b.serve(func(context.Context, string) error { runs.Add(1); return nil })
		pass(10 * time.Minute)
		equal(b, "runs", runs.Load(), 1)
		equal(b, "messages for later", b.stats().Later, 0)
		noError(b, stop())
	}, weirnats.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	equal(t, "warnings", strings.Count(log.String(), "could not move messages whose time has come\" error=\"on purpose\""), 1)
}

func TestServeEndsWhileMessagesWaitForTheirTime(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		noError(b, b.Put(b.Context(), "x", weirnats.After(time.Minute)))
		begin := time.Now()
		noError(b, b.serve(func(context.Context, string) error { return nil })())
		equal(b, "time that it takes", time.Since(begin), 0)
		pass(time.Hour)
		equal(b, "messages for later", b.stats().Later, 1)
		ran := make(chan struct{})
		stop := b.serve(func(context.Context, string) error { close(ran); return nil })
		synctest.Wait()
		<-ran
		noError(b, stop())
	})
}

func TestADeadLetterThatCameLaterIsReplayedAtOnce(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		put := time.Now()
		noError(b, b.Put(b.Context(), "x", weirnats.After(time.Hour)))
		stop := b.serve(func(context.Context, string) error { return weir.Permanent(errors.New("bad")) })
		pass(2 * time.Hour)
		noError(b, stop())
		l := b.dead()[0]
		equal(b, "put", l.Put.Equal(put), true)
		equal(b, "died", l.Died.Sub(put), time.Hour)
		noError(b, b.Replay(b.Context(), l.ID))
		s := b.stats()
		equal(b, "messages", s.Messages, 1)
		equal(b, "age", s.Age, 0)
	})
}

func TestMessagesForLaterSurviveTheProgram(t *testing.T) {
	t.Parallel()
	for _, durability := range []weirnats.Durability{weirnats.Lazy, weirnats.Always} {
		t.Run(durability.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			carry := weirnats.Carry(
				func(context.Context) map[string]string { return map[string]string{"trace": "7"} },
				func(ctx context.Context, carried map[string]string) context.Context {
					return context.WithValue(ctx, carryKey{}, carried["trace"])
				})
			opts := []weirnats.Option{weirnats.Dir(dir), durability, quiet, carry, weirnats.Codecs(upper{})}
			q, err := weirnats.Open[string](t.Context(), "words", opts...)
			noError(t, err)
			due := time.Now().Add(300 * time.Millisecond)
			for _, id := range []string{"a", "b", "a", "b"} {
				noError(t, q.Put(t.Context(), "word "+id, weirnats.ID(id), weirnats.At(due)))
			}
			s, err := q.Stats(t.Context())
			noError(t, err)
			if time.Now().Before(due) { // else the server is about to move them
				equal(t, "messages for later", s.Later, 2)
			}
			noError(t, q.Close())
			q = open[string](t, dir, "words", opts[1:]...)
			p := newPool(t, 1)
			var ran list[string]
			stop := serve(t, q, p, func(ctx context.Context, v string) error {
				if early := time.Until(due); early > 0 {
					t.Errorf("it comes %v early", early)
				}
				ran.add(fmt.Sprint(v, weirnats.Attempt(ctx).ID, ctx.Value(carryKey{})))
				return nil
			})
			drained(t, q)
			stop()
			all := ran.take()
			slices.Sort(all)
			equal(t, "runs", strings.Join(all, ", "), "word aa7, word bb7")
		})
	}
}

func TestAnIDOfAMessageForLaterIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		q, err := weirnats.Open[string](t.Context(), "words", weirnats.Dir(dir), quiet)
		noError(t, err)
		noError(t, q.Put(t.Context(), "word", weirnats.ID("key"), weirnats.After(100*time.Millisecond)))
		noError(t, q.Put(t.Context(), "word", weirnats.ID("key"), weirnats.After(100*time.Millisecond)))
		if i == 1 { // that the first was due, and that it was done, are two ways for the server to forget the ID
			p := weir.New(1)
			stop := serve(t, q, p, func(context.Context, string) error { return nil })
			drained(t, q)
			stop()
			p.Close()
		}
		s, err := q.Stats(t.Context())
		noError(t, err)
		equal(t, "messages that were moved", s.Accepted, min(int64(i), 1))
		equal(t, "messages for later", s.Later, max(0, 1-i))
		if i == 0 {
			within(t, "due", func() bool { return seenDue(t, dir, "words") })
		}
		noError(t, q.Close())
	}
}

// seenDue reports whether the server has seen that the messages for later are due: that takes it a quarter of a second at least.
func seenDue(t *testing.T, dir, name string) (all bool) {
	a, err := weirnats.OpenAdmin(t.Context(), weirnats.Dir(dir), quiet)
	noError(t, err)
	defer a.Close()
	v, err := a.Queue(t.Context(), name)
	noError(t, err)
	for m, err := range v.Later(t.Context()) {
		noError(t, err)
		all = m.Due.Sub(m.Put) > 200*time.Millisecond
	}
	return all
}

type carryKey struct{}

func ExampleAfter() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir))
	check(err)
	defer queue.Close()
	check(queue.Put(ctx, "later", weirnats.After(100*time.Millisecond)))
	check(queue.Put(ctx, "now"))

	pool := weir.New(1)
	defer pool.Close()
	check(queue.Serve(ctx, pool, func(_ context.Context, word string) error {
		fmt.Println(word)
		if word == "later" {
			cancel()
		}
		return nil
	}))
	// Output:
	// now
	// later
}

func ExampleAt() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	queue, err := weirnats.Open[string](ctx, "words", weirnats.Dir(dir))
	check(err)
	defer queue.Close()
	midnight := time.Now().AddDate(0, 0, 1).Truncate(24 * time.Hour)
	check(queue.Put(ctx, "clean up", weirnats.At(midnight), weirnats.ID("clean up "+midnight.Format(time.DateOnly))))

	stats, err := queue.Stats(ctx)
	check(err)
	fmt.Println("in the queue:", stats.Messages, "later:", stats.Later)
	// Output: in the queue: 0 later: 1
}

// The server has a list of when messages are due, which has no checksum. One that says that there is none must hold no message back.
func TestAWrongListOfTimesHoldsNothingBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open[string](t, dir, "work")
	noError(t, q.Put(t.Context(), "a", weirnats.After(time.Second)))
	noError(t, q.Close())
	files, err := filepath.Glob(filepath.Join(dir, "store", "jetstream", "*", "streams", "weir_later_work", "msgs", "sched.db"))
	noError(t, err)
	equal(t, "lists of times", len(files), 1)
	none := make([]byte, 17) // the version, how many there are, and the last message that was looked at
	none[0], none[15] = 1, 1
	noError(t, os.WriteFile(files[0], none, 0o600))
	q = open[string](t, dir, "work")
	p := newPool(t, 1)
	came := make(chan string, 1)
	stop := serve(t, q, p, func(_ context.Context, v string) error {
		came <- v
		return nil
	})
	select {
	case <-came:
	case <-time.After(limit):
		t.Error("the message does not come")
	}
	stop()
}
