package weirnats_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/journal"
	"github.com/64ed045f/weir/weirnats/internal/mem"
)

var busyTime = flag.Duration("busy", 300*time.Millisecond, "for how long others keep the disk busy while messages are put and served")

// Messages are put and served alone, and while others write to the disk and sync it.
func TestABusyDiskLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open[string](t, filepath.Join(dir, "queues"), "work", weirnats.Always) // with the lease that it has by default: one of a second is over before the disk has what it needs
	p := newPool(t, childPlaces)
	stop := serve(t, q, p, noting(t, dir))
	for _, writers := range []int{0, 4} {
		ctx, cancel := context.WithTimeout(t.Context(), *busyTime)
		defer cancel()
		busy := weir.NewGroup(t.Context(), 4)
		for i := range writers {
			busy.Go(func(context.Context) error { return keepBusy(ctx, filepath.Join(dir, fmt.Sprint("busy", i))) })
		}
		var count, slowest atomic.Int64
		stopPutting := putting(t, dir, func(_ context.Context, i, j int) (string, error) {
			began, id := time.Now(), fmt.Sprint(writers, "-", i, "-", j)
			err := q.Put(t.Context(), id)
			count.Add(1)
			slowest.Store(max(slowest.Load(), int64(time.Since(began))))
			return id, err
		})
		<-ctx.Done()
		stopPutting()
		noError(t, busy.Wait())
		t.Logf("%d others: %.0f messages a second, the slowest took %v", writers, float64(count.Load())/busyTime.Seconds(), time.Duration(slowest.Load()))
		if time.Duration(slowest.Load()) > limit/4 {
			t.Error("a Put took too long")
		}
	}
	drained(t, q)
	stop()
	equal(t, "messages that were done again", account(t, dir), 0)
}

// keepBusy writes a file and syncs it, again and again.
func keepBusy(ctx context.Context, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for part := make([]byte, 4<<20); ctx.Err() == nil; {
		if _, err := f.WriteAt(part, 0); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// Messages that together are more than a server sends to one client at once.
func TestManyLargeMessages(t *testing.T) {
	t.Parallel()
	large := listen(t, t.TempDir())
	defer func() { large.Shutdown(); large.WaitForShutdown() }()
	for name, c := range map[string]struct {
		opts  []weirnats.Option
		size  int
		count int
	}{
		"embedded":    {[]weirnats.Option{weirnats.Dir(t.TempDir())}, 2 << 20, 60},
		"on a server": {[]weirnats.Option{weirnats.Server(large.ClientURL())}, 1<<20 - 64<<10, 100},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := weirnats.Open[[]byte](t.Context(), "r", append(c.opts, quiet, weirnats.Lease(5*time.Second))...)
			noError(t, err)
			defer func() { noError(t, q.Close()) }()
			if testing.Short() {
				c.count /= 5 // which is too few for a server, but goes the same way
			}
			data := make([]byte, c.size)
			for range c.count {
				noError(t, q.Put(t.Context(), data))
			}
			p := newPool(t, 64)
			var calls, again atomic.Int32
			stop := serve(t, q, p, func(ctx context.Context, _ []byte) error {
				calls.Add(1)
				if weirnats.Attempt(ctx).Number > 1 {
					again.Add(1)
				}
				return nil
			})
			drained(t, q)
			stop()
			equal(t, "calls", calls.Load(), int32(c.count))
			equal(t, "calls with an earlier try", again.Load(), 0)
		})
	}
}

func drainOptions(dir string) []weirnats.Option {
	return []weirnats.Option{
		weirnats.Dir(filepath.Join(dir, "queues")), quiet, weirnats.Lease(time.Second), weirnats.Grace(0),
		weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Millisecond, MostWait: time.Millisecond})),
	}
}

func init() { //nolint:gochecknoinits // it adds a program to those that tests start
	children["hangs"] = func() error {
		q, err := weirnats.Open[string](context.Background(), "r", drainOptions(os.Getenv(childDir))...)
		if err != nil {
			return err
		}
		return q.Serve(context.Background(), weir.New(4), func(context.Context, string) error {
			fmt.Println("ready")
			select {}
		})
	}
}

// One kill, and then programs that end well: each gives the message back.
func TestADrainAfterAKillIsNoTry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q, err := weirnats.Open[string](t.Context(), "r", drainOptions(dir)...)
	noError(t, err)
	noError(t, q.Put(t.Context(), "x"))
	noError(t, q.Close())
	start(t, "hangs", dir, "").kill()
	for range 3 {
		q, err := weirnats.Open[string](t.Context(), "r", drainOptions(dir)...)
		noError(t, err)
		p := weir.New(4)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		try := 0
		noError(t, q.Serve(ctx, p, func(c context.Context, _ string) error {
			try = weirnats.Attempt(c).Number
			cancel()
			<-c.Done()
			return c.Err()
		}))
		cancel()
		equal(t, "try", try, 2)
		p.Close()
		noError(t, q.Close())
	}
}

// The same of a message that was lost twice, and runs alone.
func TestADrainOfALoneMessageIsNoTry(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("x")
		for range 2 {
			b.mem.Fault(func(call string) error {
				if call == "extend" || call == "ack" || call == "give back" || call == "keep" {
					return errors.New("no")
				}
				return nil
			})
			stop := b.serve(func(ctx context.Context, _ string) error {
				<-ctx.Done()
				time.Sleep(time.Second)
				return nil
			})
			pass(35 * time.Second)
			_ = stop()
			b.mem.Fault(nil)
			pass(lease)
		}
		for range 6 {
			try := 0
			stop := b.serve(func(ctx context.Context, _ string) error {
				try = weirnats.Attempt(ctx).Number
				<-ctx.Done()
				return ctx.Err()
			})
			pass(time.Second)
			_ = stop()
			equal(b, "try", try, 3)
			pass(2 * time.Second)
		}
	}, weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 5, Wait: time.Second, MostWait: time.Second})))
}

// When a message goes back, another call of Serve in the same process may begin it at once. The journal says by then that no try runs.
func TestTheJournalKnowsOfTheEndOfATryBeforeTheMessageGoesBack(t *testing.T) {
	for name, again := range map[string]bool{"a try that does not count": false, "a try that has failed": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 1, func(b *bench) {
				j, err := journal.Open(filepath.Join(t.TempDir(), "journal"))
				noError(b, err)
				defer func() { noError(b, j.Close()) }()
				b.Note(j)
				const first = 1 // the number of the message
				var then list[int]
				b.mem.Fault(func(call string) error {
					if call == "give back" {
						then.add(j.Begun(first))
					}
					return nil
				})
				stop := b.serve(func(ctx context.Context, _ string) error {
					if !again {
						<-ctx.Done()
					}
					return errors.New("on purpose")
				})
				b.put("a")
				synctest.Wait()
				noError(b, stop())
				equal(b, "the try that runs", fmt.Sprint(then.take()), "[0]")
			}, weirnats.Grace(0))
		})
	}
}

func TestARecordThatIsNotThereForAWhileCountsNoTry(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("x")
		var tries []int
		var fails atomic.Bool
		fails.Store(true)
		stop := b.serve(func(ctx context.Context, _ string) error {
			tries = append(tries, weirnats.Attempt(ctx).Number)
			if len(tries) > 1 {
				return nil
			}
			b.mem.Fault(func(call string) error {
				if fails.Load() && call == "record" {
					return errors.New("no leader")
				}
				return nil
			})
			return errors.New("once")
		})
		pass(8 * time.Second)
		fails.Store(false)
		pass(time.Minute)
		_ = stop()
		equal(b, "tries", fmt.Sprint(tries), "[1 2]")
	}, weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 5, Wait: time.Second, MostWait: time.Second})))
}

// The server has the dead letter, or not even that, when the process ends or its lease runs out.
func TestAMessageThatIsToBeADeadLetterBeginsNoTry(t *testing.T) {
	for _, key := range []string{"", "k"} {
		t.Run("key "+key, func(t *testing.T) {
			inBubble(t, 1, func(b *bench) {
				var opts []weirnats.PutOption
				if key != "" {
					opts = append(opts, weirnats.Key(key))
				}
				noError(b, b.Put(b.Context(), "x", opts...))
				begin := time.Now()
				b.mem.Fault(func(call string) error {
					if call == "bury" && time.Since(begin) < 10*time.Minute {
						return errors.New("no answer")
					}
					return nil
				})
				tries := 0
				stop := b.serve(func(context.Context, string) error {
					tries++
					return weir.Permanent(errors.New("bad"))
				})
				pass(time.Hour)
				noError(b, stop())
				equal(b, "tries", tries, 1)
				dead := b.dead()
				equal(b, "dead letters", len(dead), 1)
				equal(b, "tries of the letter", dead[0].Tries, 1)
				equal(b, "errors", fmt.Sprint(len(dead[0].Errors), " ", dead[0].Errors[0].Err), "1 bad")
				equal(b, "messages", b.stats().Messages, 0)
			}, weirnats.Partitions(1))
		})
	}
}

// The message had waited for longer than the policy allows for its tries.
func TestTheTimeOfAPolicyBeginsWithTheTries(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("x")
		pass(2 * time.Hour)
		b.mem.Fault(func(call string) error {
			if call == "extend" {
				return errors.New("no")
			}
			return nil
		})
		calls := 0
		stop := b.serve(func(ctx context.Context, _ string) error {
			if calls++; calls == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		pass(time.Minute)
		_ = stop()
		equal(b, "calls", calls, 2)
		equal(b, "dead letters", len(b.dead()), 0)
	}, weirnats.Retry(weir.Retry(weir.RetryPolicy{Time: time.Hour, Wait: time.Second, MostWait: time.Second})))
}

func TestAPanicOfWhatCarriesIsAFailure(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("x")
		stop := b.serve(func(context.Context, string) error { return nil })
		pass(10 * time.Second)
		_ = stop()
		dead := b.dead()
		if len(dead) != 1 || dead[0].Tries != 2 || !strings.Contains(fmt.Sprint(dead[0].Errors), "bad trace") {
			b.Errorf("dead letters are %+v", dead)
		}
	}, weirnats.Carry(func(context.Context) map[string]string { return nil }, func(context.Context, map[string]string) context.Context {
		panic("bad trace")
	}), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 2, Wait: time.Second, MostWait: time.Second, Panics: true})))
}

func TestATryEndsBeforeAnotherProcessMayBegin(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		b.mem.Fault(func(call string) error {
			if call == "extend" {
				return errors.New("no")
			}
			return nil
		})
		var mu sync.Mutex
		var first context.Context
		second := false
		run := func(ctx context.Context, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case first == nil:
				first = ctx
				mu.Unlock()
				<-ctx.Done()
				time.Sleep(time.Second) // a function that goes on
				mu.Lock()
			case first.Err() == nil:
				b.Error("two contexts live")
			default:
				second = true
			}
			return nil
		}
		stops := []func() error{b.serve(run), b.serve(run)}
		pass(30 * time.Millisecond)
		b.put("x")
		pass(time.Minute)
		for _, stop := range stops {
			_ = stop()
		}
		equal(b, "there was a second try", second, true)
	})
}

func TestAPasswordIsInNoError(t *testing.T) {
	for _, url := range []string{"nats://user:s3cr%et@127.0.0.1:1", "nats://user:s3cret@127.0.0.1:x", "nats://user:s3cret@127.0.0.1:1"} {
		_, err := weirnats.Open[string](t.Context(), "r", weirnats.Server(url), quiet)
		if err == nil || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("%s: %v", url, err)
		}
		_, err = weirnats.OpenAdmin(t.Context(), weirnats.Server(url), quiet)
		if err == nil || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A queue that is made anew gives its numbers again.
func TestADeadLetterOfAnEarlierQueueHidesNone(t *testing.T) {
	t.Parallel()
	s := listen(t, t.TempDir())
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	dead := ""
	for _, value := range []string{"first", "second"} {
		q, err := weirnats.Open[string](t.Context(), "r", weirnats.Server(s.ClientURL()), quiet)
		noError(t, err)
		noError(t, q.Put(t.Context(), value))
		p := weir.New(1, weir.OnError(func(error) {}))
		stop := serve(t, q, p, func(context.Context, string) error { return weir.Permanent(errors.New("bad")) })
		drained(t, q)
		stop()
		dead = ""
		for l, err := range q.Dead(t.Context()) {
			noError(t, err)
			dead += string(l.Data)
		}
		p.Close()
		noError(t, q.Close())
		conn, err := nats.Connect(s.ClientURL())
		noError(t, err)
		js, err := jetstream.New(conn)
		noError(t, err)
		noError(t, js.DeleteStream(t.Context(), "weir_q_r"))
		conn.Close()
	}
	equal(t, "dead letters", dead, `"first""second"`)
}

// What a try does to its argument, and to what travels, no other try sees, nor the dead letter.
func TestAMessageStaysAsItWasPut(t *testing.T) {
	for _, key := range []string{"", "k"} {
		synctest.Test(t, func(t *testing.T) {
			var traces, got list[string]
			q := weirnats.OpenOn[[]byte]("a", func(s backend.Settings) backend.Queue { return mem.New(s) }, quiet,
				weirnats.Carry(func(context.Context) map[string]string { return map[string]string{"trace": "1"} }, func(ctx context.Context, m map[string]string) context.Context {
					traces.add(m["trace"])
					delete(m, "trace")
					return ctx
				}), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Second})))
			p := weir.New(4, weir.OnError(func(error) {}))
			var opts []weirnats.PutOption
			if key != "" {
				opts = append(opts, weirnats.Key(key))
			}
			noError(t, q.Put(t.Context(), []byte("original"), opts...))
			stop := serve(t, q, p, func(_ context.Context, v []byte) error {
				got.add(string(v))
				copy(v, "xxxxxxxx")
				return errors.New("no")
			})
			pass(time.Minute)
			for l, err := range q.Dead(t.Context()) {
				noError(t, err)
				got.add(string(l.Data))
				noError(t, q.Replay(t.Context(), l.ID))
				break
			}
			pass(time.Minute)
			stop()
			noError(t, q.Close())
			p.Close()
			equal(t, "values", fmt.Sprint(got.take()), "[original original original original original original original]")
			equal(t, "traces", fmt.Sprint(traces.take()), "[1 1 1 1 1 1]")
		})
	}
}

// What an earlier try has left behind still has that try's context.
func TestAttemptIsThatOfItsContext(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		noError(b, b.Put(b.Context(), "x", weirnats.Key("k")))
		var first context.Context
		stop := b.serve(func(ctx context.Context, _ string) error {
			if first == nil {
				first = ctx
				return errors.New("no")
			}
			equal(b, "number", weirnats.Attempt(ctx).Number, 2)
			equal(b, "number of the first", weirnats.Attempt(first).Number, 1)
			return nil
		})
		pass(time.Minute)
		noError(b, stop())
	})
}

// The function OnRetry of a policy panics, or ends its goroutine: there is another try as if it had returned.
func TestAnOnRetryThatDoesNotReturnTakesNoTry(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("no") }, "exit": runtime.Goexit} {
		for _, key := range []string{"", "k"} {
			inBubble(t, 1, func(b *bench) {
				var opts []weirnats.PutOption
				if key != "" {
					opts = append(opts, weirnats.Key(key))
				}
				noError(b, b.Put(b.Context(), "x", opts...))
				calls := 0
				stop := b.serve(func(context.Context, string) error {
					calls++
					return errors.New("no")
				})
				pass(5 * time.Second)
				noError(b, stop())
				equal(b, name+" calls", calls, 3)
				dead := b.dead()
				equal(b, name+" dead letters", len(dead), 1)
				equal(b, name+" errors", len(dead[0].Errors), 3)
			}, weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Millisecond, OnRetry: func(int, error, time.Duration) { end() }})))
		}
	}
}

// It is called for a try that has ended with its process, too, and once for each.
func TestAnOnRetryThatDoesNotReturnAfterAKill(t *testing.T) {
	for _, key := range []string{"", "k"} {
		told := 0
		inBubble(t, 1, func(b *bench) {
			var opts []weirnats.PutOption
			if key != "" {
				opts = append(opts, weirnats.Key(key))
			}
			noError(b, b.Put(b.Context(), "x", opts...))
			noError(b, b.Put(b.Context(), "y", opts...))
			if key == "" {
				r, err := b.mem.Receive()
				noError(b, err)
				noError(b, r.Pull(b.Context(), 1, 0, func(backend.Delivery) bool { return true })) // and its process ends
			} else {
				p, err := b.mem.Partition(0)
				noError(b, err)
				noError(b, p.Pull(b.Context(), 1, 0, func(backend.Delivery, backend.Turn) bool { return true }))
			}
			var calls list[string]
			stop := b.serve(func(ctx context.Context, v string) error {
				calls.add(fmt.Sprint(v, weirnats.Attempt(ctx).Number))
				return nil
			})
			pass(3 * lease)
			noError(b, stop())
			all := calls.take()
			slices.Sort(all)
			equal(b, "calls", fmt.Sprint(all), "[x2 y1]")
			equal(b, "messages", b.stats().Messages, 0)
		}, weirnats.Partitions(1), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Millisecond, OnRetry: func(int, error, time.Duration) { told++; panic("no") }})))
		equal(t, "calls of OnRetry", told, 1)
	}
}

// exits is a codec that ends the goroutine.
type exits struct{ weirnats.Codec }

func (exits) Decode([]byte, any) error {
	runtime.Goexit()
	return nil
}

func TestACodecThatEndsTheGoroutineMakesADeadLetter(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("x")
		stop := b.serve(func(context.Context, string) error { return nil })
		pass(time.Second)
		noError(b, stop())
		dead := b.dead()
		equal(b, "dead letters", len(dead), 1)
		equal(b, "tries", dead[0].Tries, 1)
	}, weirnats.Codecs(exits{weirnats.JSON()}))
}

func TestWhatTravelsIsText(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		if err := b.Put(b.Context(), "x"); err == nil || !strings.Contains(err.Error(), "valid UTF-8") {
			b.Errorf("error is %v", err)
		}
	}, weirnats.Carry(func(context.Context) map[string]string { return map[string]string{"a": "\xff"} }, func(ctx context.Context, _ map[string]string) context.Context { return ctx }))
}

// Numbers with zeros in front would be IDs of their own for the deduplication.
func TestAnIDOfADeadLetterIsWrittenInOneWay(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("x")
		stop := b.serve(func(context.Context, string) error { return weir.Permanent(errors.New("no")) })
		pass(time.Second)
		noError(b, stop())
		for _, id := range []string{"01", "+1", "0", "1 ", ""} {
			isError(b, b.Replay(b.Context(), id), weirnats.ErrNotFound)
			n, err := b.Purge(b.Context(), id)
			noError(b, err)
			equal(b, "removed", n, 0)
		}
		equal(b, "dead letters", len(b.dead()), 1)
	})
}
