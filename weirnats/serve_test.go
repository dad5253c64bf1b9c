package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	tests "github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/backend"
)

func TestServeRunsEachMessageOnce(t *testing.T) {
	for _, limit := range []int{1, 2, 7, 64, 200} {
		inBubble(t, limit, func(b *bench) {
			const n = 1000
			var lock sync.Mutex
			seen := map[string]int{}
			var now, most atomic.Int32
			for i := range n / 2 {
				b.put(fmt.Sprint(i))
			}
			stop := b.serve(func(_ context.Context, v string) error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Millisecond)
				now.Add(-1)
				lock.Lock()
				seen[v]++
				lock.Unlock()
				return nil
			})
			for i := n / 2; i < n; i++ {
				b.put(fmt.Sprint(i))
				if i%10 == 0 {
					time.Sleep(10 * time.Microsecond)
				}
			}
			for b.stats().Messages > 0 {
				time.Sleep(time.Millisecond)
			}
			noError(b, stop())
			equal(b, "messages", len(seen), n)
			for v, times := range seen {
				equal(b, "calls for "+v, times, 1)
			}
			if m := int(most.Load()); m > limit || m < min(limit, 150) {
				b.Errorf("%d ran at once, limit %d", m, limit)
			}
		})
	}
}

// However slowly the server processes acknowledgements, not many messages are done that it would hand out again if the process were killed.
func TestFewMessagesAreDoneThatTheServerHasNotConfirmed(t *testing.T) {
	t.Parallel()
	const places, lag = 8, time.Second
	for name, opts := range map[string]func(i int) []weirnats.PutOption{
		"without a key": func(int) []weirnats.PutOption { return nil },
		"with keys":     func(i int) []weirnats.PutOption { return []weirnats.PutOption{weirnats.Key(fmt.Sprint(i))} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, places, func(b *bench) {
				b.mem.Lag(lag)
				for i := range 10 * mostUnsure {
					noError(b, b.Put(b.Context(), "x", opts(i)...))
				}
				var done list[string]
				stop := b.serve(func(_ context.Context, v string) error {
					done.add(v)
					return nil
				})
				for all := 0; all < 10*mostUnsure; {
					time.Sleep(lag / 4)
					synctest.Wait()
					all += len(done.take())
					if unsure := all - (10*mostUnsure - b.stats().Messages); unsure > mostUnsure+places {
						b.Fatalf("%d messages are done, of which the server does not know", unsure)
					}
				}
				noError(b, stop())
			})
		})
	}
}

func TestAnIdleQueueTakesNoPlace(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		stop := b.serve(func(context.Context, string) error { return nil })
		for range 5 {
			begin := time.Now()
			ran := make(chan struct{})
			noError(b, b.pool.TrySubmit(func() { close(ran) }))
			<-ran
			equal(b, "time until a local task starts", time.Since(begin), 0)
			pass(time.Hour)
		}
		s := b.pool.Stats()
		equal(b, "running", s.Running, 0)
		equal(b, "queued", s.Queued, 0)
		begin := time.Now()
		b.put("a")
		synctest.Wait()
		equal(b, "messages", b.stats().Messages, 0)
		equal(b, "time until the message is done", time.Since(begin), 0)
		noError(b, stop())
	})
}

func TestNothingIsHeldThatCannotStart(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		hold := make(chan struct{})
		for range 2 {
			noError(b, b.pool.Submit(func() { <-hold }))
		}
		b.put("a", "b", "c")
		var ran atomic.Int32
		stop := b.serve(func(context.Context, string) error { ran.Add(1); return nil })
		for range 100 {
			pass(time.Minute)
			equal(b, "leased", b.mem.Held(), 0)
		}
		close(hold)
		synctest.Wait()
		equal(b, "calls", ran.Load(), 3)
		noError(b, stop())
	})
}

// A message that comes to an idle queue, while the pool is busy with other work, waits for the next place before what is queued there; after
// the time of a lease it goes back.
func TestAMessageThatComesToABusyPool(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		var order list[string]
		stop := b.serve(func(ctx context.Context, v string) error {
			order.add(fmt.Sprint(v, weirnats.Attempt(ctx).Number))
			return nil
		})
		local := func(d time.Duration) {
			noError(b, b.pool.Submit(func() { time.Sleep(d); order.add("local") }))
		}
		local(lease * 2 / 3)
		local(time.Second)
		synctest.Wait()
		b.put("a")
		synctest.Wait()
		equal(b, "leased", b.mem.Held(), 1)
		pass(lease)
		equal(b, "order", strings.Join(order.take(), " "), "local a1 local")

		local(time.Hour)
		synctest.Wait()
		b.put("b")
		pass(lease / 2)
		equal(b, "leased", b.mem.Held(), 1)
		pass(lease)
		equal(b, "leased", b.mem.Held(), 0)
		pass(time.Hour)
		equal(b, "order", strings.Join(order.take(), " "), "local b1")
		noError(b, stop())
	})
}

func TestFailuresAreTriedAgain(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		var all list[weirnats.Try]
		stop := b.serve(func(ctx context.Context, _ string) error {
			if n := all.add(weirnats.Attempt(ctx)); n < 3 {
				return fmt.Errorf("error %d", n)
			}
			return nil
		})
		noError(b, b.Put(b.Context(), "a", weirnats.ID("key")))
		pass(time.Minute)
		equal(b, "messages", b.stats().Messages, 0)
		tries := all.take()
		equal(b, "tries", len(tries), 3)
		last := tries[2]
		equal(b, "number", last.Number, 3)
		equal(b, "ID", last.ID, "key")
		equal(b, "queue", last.Queue, "bench")
		equal(b, "errors", len(last.Earlier), 2)
		equal(b, "error", last.Earlier[1].Err, "error 2")
		equal(b, "try", last.Earlier[1].Try, 2)
		equal(b, "dead", len(b.dead()), 0)
		errs := b.failed.take()
		equal(b, "errors of the pool", len(errs), 2)
		equal(b, "error", errs[0].Error(), `weirnats: try 1 of message "key" of queue bench: error 1`)
		noError(b, stop())
	})
}

func TestWhatFailsForGoodIsADeadLetter(t *testing.T) {
	for name, c := range map[string]struct {
		run   func(v string) error
		tries int
		text  string
	}{
		"errors":    {func(string) error { return io.EOF }, 3, "EOF"},
		"panics":    {func(string) error { panic("on purpose") }, 3, "weir: task panicked: on purpose (serve_test.go:"},
		"Goexit":    {func(string) error { runtime.Goexit(); return nil }, 3, "weir: task called runtime.Goexit"},
		"Permanent": {func(string) error { return weir.Permanent(io.EOF) }, 1, "EOF"},
		"a long error, with control characters": {
			func(string) error { return errors.New(strings.Repeat("ü\x00", 1000)) }, 3, "ü\uFFFDü\uFFFD",
		},
		"an error that panics": {func(string) error { return badError{} }, 3, "weirnats_test.badError, whose method Error panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 4, func(b *bench) {
				var tries atomic.Int32
				stop := b.serve(func(_ context.Context, v string) error {
					if v == "good" {
						return nil
					}
					tries.Add(1)
					return c.run(v)
				})
				noError(b, b.Put(b.Context(), "bad", weirnats.ID("key")))
				pass(time.Minute)
				b.put("good")
				synctest.Wait()
				equal(b, "messages", b.stats().Messages, 0)
				equal(b, "tries", int(tries.Load()), c.tries)
				all := b.dead()
				equal(b, "dead letters", len(all), 1)
				l := all[0]
				equal(b, "tries", l.Tries, c.tries)
				equal(b, "errors", len(l.Errors), c.tries)
				if text := l.Errors[0].Err; !strings.HasPrefix(text, c.text) || len(text) > 512 {
					b.Errorf("error is %q", text)
				}
				equal(b, "ID", l.MessageID, "key")
				v, err := b.Decode(l)
				noError(b, err)
				equal(b, "value", v, "bad")
				noError(b, stop())
			})
		})
	}
}

type badError struct{}

func (badError) Error() string { panic("on purpose") }

func TestAPanicIsTheLastTryUnlessThePolicySaysOtherwise(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		var panics atomic.Int32
		p := weir.New(1, weir.OnPanic(func(p *weir.Panic) {
			panics.Add(1)
			if p.Value != "on purpose" || !strings.Contains(p.Error(), "serve_test.go") {
				b.Errorf("panic is %+v", p)
			}
		}))
		defer p.Close()
		b.pool = p
		stop := b.serve(func(context.Context, string) error { panic("on purpose") })
		b.put("a")
		pass(time.Minute)
		equal(b, "calls of OnPanic", panics.Load(), 1)
		equal(b, "dead letters", len(b.dead()), 1)
		noError(b, stop())
	}, weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3})))
}

func TestRetryAfterSetsTheTime(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		var times list[time.Time]
		stop := b.serve(func(context.Context, string) error {
			times.add(time.Now())
			return weir.RetryAfter(io.EOF, 7*time.Hour)
		})
		b.put("a")
		pass(20 * time.Hour)
		at := times.take()
		equal(b, "tries", len(at), 3)
		for i := range 2 {
			equal(b, "time between tries", at[i+1].Sub(at[i]), 7*time.Hour)
		}
		noError(b, stop())
	})
}

func TestOnlyTheFirstAndTheLastErrorsAreKept(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		stop := b.serve(func(ctx context.Context, _ string) error {
			return fmt.Errorf("error %d", weirnats.Attempt(ctx).Number)
		})
		b.put("a")
		pass(time.Hour)
		l := b.dead()[0]
		equal(b, "tries", l.Tries, 40)
		equal(b, "errors", len(l.Errors), 16)
		equal(b, "first", l.Errors[0].Err, "error 1")
		equal(b, "second", l.Errors[1].Err, "error 26")
		equal(b, "last", l.Errors[15].Err, "error 40")
		noError(b, stop())
	}, weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 40, Wait: time.Second, MostWait: time.Second})))
}

func TestTheLeaseIsRenewedWhileATryRuns(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		var calls atomic.Int32
		run := func(context.Context, string) error { calls.Add(1); time.Sleep(10 * lease); return nil }
		stop, again := b.serve(run), b.serve(run)
		b.put("a")
		pass(11 * lease)
		equal(b, "calls", calls.Load(), 1)
		equal(b, "messages", b.stats().Messages, 0)
		noError(b, stop())
		noError(b, again())
	})
}

func TestALeaseThatIsLostCancelsTheTry(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		b.mem.Fault(func(call string) error {
			if call == "extend" {
				return io.EOF
			}
			return nil
		})
		var all list[error]
		stop := b.serve(func(ctx context.Context, _ string) error {
			if weirnats.Attempt(ctx).Number == 3 {
				return nil
			}
			begin := time.Now()
			<-ctx.Done()
			if ended := time.Since(begin); ended > lease+time.Second {
				b.Errorf("the lease ended after %v", ended)
			}
			all.add(context.Cause(ctx))
			return ctx.Err()
		})
		b.put("a")
		pass(3 * lease)
		causes := all.take()
		equal(b, "tries that were lost", len(causes), 2)
		for _, c := range causes {
			isError(b, c, weirnats.ErrLost)
		}
		equal(b, "messages", b.stats().Messages, 0)
		equal(b, "dead letters", len(b.dead()), 0)
		for _, err := range b.failed.take() {
			isError(b, err, weirnats.ErrLost)
		}
		noError(b, stop())
	})
}

// What the function returns when its lease is lost changes nothing for the process that has the message then, except that it is done.
func TestALateOutcomeHarmsNothing(t *testing.T) {
	for name, outcome := range map[string]error{"nil": nil, "an error": io.EOF, "Permanent": weir.Permanent(io.EOF)} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 2, func(b *bench) {
				var deaf atomic.Bool
				deaf.Store(true)
				b.mem.Fault(func(call string) error {
					if deaf.Load() && call == "extend" {
						return io.EOF
					}
					return nil
				})
				var calls atomic.Int32
				stop := b.serve(func(ctx context.Context, _ string) error {
					if calls.Add(1) == 1 {
						time.Sleep(2 * lease) // although its context ends
						return outcome
					}
					deaf.Store(false)
					time.Sleep(3 * lease)
					return nil
				})
				b.put("a")
				pass(10 * lease)
				equal(b, "calls", calls.Load(), 2)
				equal(b, "messages", b.stats().Messages, 0)
				equal(b, "dead letters", len(b.dead()), 0)
				noError(b, stop())
			})
		})
	}
}

func TestRunLimitEndsATry(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		var tries list[ended]
		stop := b.serve(func(ctx context.Context, _ string) error {
			begin := time.Now()
			<-ctx.Done()
			tries.add(ended{context.Cause(ctx), time.Since(begin)})
			return ctx.Err()
		})
		b.put("a")
		pass(time.Hour)
		all := tries.take()
		equal(b, "tries", len(all), 3)
		for _, try := range all {
			isError(b, try.cause, weirnats.ErrRunLimit)
			if try.took < 2*lease || try.took > 2*lease+time.Second {
				b.Errorf("a try took %v", try.took)
			}
		}
		equal(b, "dead letters", len(b.dead()), 1)
		noError(b, stop())
	}, weirnats.RunLimit(2*lease))
}

type ended struct {
	cause error
	took  time.Duration
}

// A function that hangs in all of its tries keeps no message for ever.
func TestAHungFunctionKeepsNoMessage(t *testing.T) {
	inBubble(t, 8, func(b *bench) {
		end := make(chan struct{})
		var calls atomic.Int32
		stop := b.serve(func(context.Context, string) error { calls.Add(1); <-end; return nil })
		b.put("a")
		pass(5 * time.Hour)
		equal(b, "calls", calls.Load(), 3)
		all := b.dead()
		equal(b, "dead letters", len(all), 1)
		equal(b, "tries", all[0].Tries, 3)
		close(end)
		synctest.Wait()
		noError(b, stop())
	})
}

func TestTheEndOfServe(t *testing.T) {
	for name, c := range map[string]struct {
		obeys bool
		takes time.Duration
		ends  time.Duration // after the end of the context
		done  bool
	}{
		"a function that ends in time":              {false, time.Second, time.Second, true},
		"a function that obeys its context":         {true, time.Hour, 5 * time.Second, false},
		"a function that does not obey its context": {false, 10 * time.Minute, 10 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(b *bench) {
				cause := errors.New("cause")
				for range 1000 {
					b.put("a")
				}
				ctx, cancel := context.WithCancelCause(b.Context())
				done := make(chan error, 1)
				go func() {
					done <- b.Serve(ctx, b.pool, func(ctx context.Context, _ string) error {
						if !c.obeys {
							time.Sleep(c.takes)
							return nil
						}
						select {
						case <-time.After(c.takes):
							return nil
						case <-ctx.Done():
							isError(b, context.Cause(ctx), cause)
							return ctx.Err()
						}
					})
				}()
				synctest.Wait()
				begin := time.Now()
				cancel(cause)
				noError(b, <-done)
				equal(b, "time to the end", time.Since(begin), c.ends)
				s := b.stats()
				equal(b, "leased", b.mem.Held(), 0)
				left := 1000
				if c.done {
					left -= 3
				}
				equal(b, "messages", s.Messages, left)
				equal(b, "errors", len(b.failed.take()), 0)

				var numbers list[int]
				stop := b.serve(func(ctx context.Context, _ string) error {
					numbers.add(weirnats.Attempt(ctx).Number)
					return nil
				})
				for b.stats().Messages > 0 {
					pass(time.Millisecond)
				}
				equal(b, "the highest try", slices.Max(numbers.take()), 1)
				noError(b, stop())
			})
		})
	}
}

// A method of the context of Serve panics, or ends its goroutine, when Serve asks for the cause: the tries end as if it had not.
func TestTriesEndThoughTheContextOfServeIsBroken(t *testing.T) {
	for _, ends := range []func(){func() { panic("on purpose") }, runtime.Goexit} {
		inBubble(t, 1, func(b *bench) {
			b.put("a")
			ctx := &tests.BrokenContext{Context: b.Context(), Ends: ends}
			done := make(chan error, 1)
			go func() {
				done <- b.Serve(ctx, b.pool, func(ctx context.Context, _ string) error {
					<-ctx.Done()
					return context.Cause(ctx)
				})
			}()
			synctest.Wait()
			ctx.Left = 1
			noError(b, b.Close())
			noError(b, <-done)
			equal(b, "leased", b.mem.Held(), 0)
			equal(b, "errors", len(b.failed.take()), 0)
		})
	}
}

// Serve ends although the puller of its message waits for a place of a pool that is busy for long.
func TestServeEndsWhileThePoolIsBusy(t *testing.T) {
	for _, withMessage := range []bool{false, true} {
		inBubble(t, 1, func(b *bench) {
			stop := b.serve(func(context.Context, string) error { return nil })
			noError(b, b.pool.Submit(func() { time.Sleep(time.Hour) }))
			synctest.Wait()
			if withMessage {
				b.put("a")
				synctest.Wait()
				equal(b, "leased", b.mem.Held(), 1)
			}
			begin := time.Now()
			noError(b, stop())
			equal(b, "time to the end", time.Since(begin), 0)
			equal(b, "leased", b.mem.Held(), 0)
		})
		inBubble(t, 1, func(b *bench) { // the puller of the beginning does not even enter the pool
			full := weir.New(1, weir.Queue(0))
			noError(b, full.Submit(func() { time.Sleep(time.Hour) }))
			own := b.pool
			b.pool = full
			stop := b.serve(func(context.Context, string) error { return nil })
			begin := time.Now()
			noError(b, stop())
			equal(b, "time to the end", time.Since(begin), 10*time.Millisecond)
			b.pool = own
			full.Close()
		})
	}
}

func TestServeEndsWithItsPool(t *testing.T) {
	for name, end := range map[string]func(p *weir.Pool){
		"Close":    func(p *weir.Pool) { p.Close() },
		"Shutdown": func(p *weir.Pool) { _, _ = p.Shutdown(context.Background()) },
		"Shutdown, at once": func(p *weir.Pool) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, _ = p.Shutdown(ctx)
		},
	} {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " busy ", busy), func(t *testing.T) {
				inBubble(t, 2, func(b *bench) {
					if busy {
						for range 10 {
							b.put("a")
						}
					}
					done := make(chan error, 1)
					go func() {
						done <- b.Serve(b.Context(), b.pool, func(ctx context.Context, _ string) error {
							<-ctx.Done()
							return ctx.Err()
						})
					}()
					synctest.Wait()
					begin := time.Now()
					end(b.pool)
					isError(b, <-done, weir.ErrClosed)
					if passed := time.Since(begin); passed > 6*time.Second {
						b.Errorf("it took %v", passed)
					}
					s := b.stats()
					equal(b, "leased", b.mem.Held(), 0)
					equal(b, "dead", s.Dead, 0)
					isError(b, b.Serve(b.Context(), b.pool, func(context.Context, string) error { return nil }), weir.ErrClosed)
				})
			})
		}
	}
}

func TestAPoolMayBePausedAndResized(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		var calls atomic.Int32
		stop := b.serve(func(context.Context, string) error { calls.Add(1); time.Sleep(time.Second); return nil })
		b.pool.Pause()
		for range 100 {
			b.put("a")
		}
		pass(time.Hour)
		equal(b, "calls", calls.Load(), 0)
		b.pool.Resume()
		synctest.Wait()
		equal(b, "calls", calls.Load(), 4)
		b.pool.Resize(1)
		pass(10*time.Second + time.Millisecond)
		if n := calls.Load(); n < 12 || n > 15 {
			b.Errorf("%d calls", n)
		}
		b.pool.Resize(100)
		pass(3 * time.Second)
		equal(b, "calls", calls.Load(), 100)
		noError(b, stop())
	})
}

// A pool may drop tasks that are queued for too long, make failed ones again, and refuse when many wait.
func TestPoolsWithOptions(t *testing.T) {
	for name, opts := range map[string][]weir.Option{
		"ExpireAfter": {weir.ExpireAfter(time.Second)},
		"Retry":       {weir.Retry(weir.RetryPolicy{Tries: 5, Panics: true})},
		"MaxWaiting":  {weir.Queue(0), weir.MaxWaiting(1)},
		"Rate":        {weir.Rate(10, time.Second, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 1, func(b *bench) {
				p := newPool(b.T, 1, append(opts, weir.OnError(func(error) {}), weir.OnPanic(func(*weir.Panic) {}))...)
				b.pool = p
				var calls atomic.Int32
				stop := b.serve(func(context.Context, string) error {
					if calls.Add(1) == 1 {
						panic("on purpose")
					}
					return nil
				})
				for range 20 {
					b.put("a")
					_ = p.TrySubmit(func() { time.Sleep(5 * time.Second) })
					b.put("b")
					pass(time.Second)
				}
				pass(10 * time.Minute)
				equal(b, "messages", b.stats().Messages, 0)
				equal(b, "calls", calls.Load(), 41)
				noError(b, stop())
			})
		})
	}
}

func TestServeOnALane(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		own, lane := b.pool, b.pool.Lane(2)
		b.pool = lane
		defer func() { b.pool = own }()
		var now, most atomic.Int32
		for range 50 {
			b.put("a")
		}
		stop := b.serve(func(ctx context.Context, _ string) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			g := lane.Group(ctx) // from the context of the task
			g.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
			return g.Wait()
		})
		pass(time.Minute)
		equal(b, "messages", b.stats().Messages, 0)
		equal(b, "at once", most.Load(), 2)
		noError(b, stop())
	})
}

func TestTwoServesShareAQueue(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		var calls [2]atomic.Int32
		other := weir.New(2)
		defer other.Close()
		run := func(i int) func(context.Context, string) error {
			return func(context.Context, string) error { calls[i].Add(1); time.Sleep(time.Second); return nil }
		}
		first := b.serve(run(0))
		own := b.pool
		b.pool = other
		second := b.serve(run(1))
		b.pool = own
		for range 40 {
			b.put("a")
		}
		pass(11 * time.Second)
		equal(b, "messages", b.stats().Messages, 0)
		equal(b, "calls", calls[0].Load()+calls[1].Load(), 40)
		if n := calls[0].Load(); n < 15 || n > 25 {
			b.Errorf("one of them has %d", n)
		}
		noError(b, first())
		noError(b, second())
	})
}

// A delivery that ends with its process counts as a try.
func TestAMessageThatKillsItsProcessIsADeadLetter(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("bad")
		from, err := b.mem.Receive()
		noError(b, err)
		for range 3 { // processes that end
			noError(b, from.Pull(b.Context(), 1, 0, func(backend.Delivery) bool { return true }))
			pass(lease)
		}
		var calls atomic.Int32
		stop := b.serve(func(context.Context, string) error { calls.Add(1); return nil })
		b.put("good")
		synctest.Wait()
		equal(b, "calls", calls.Load(), 1)
		all := b.dead()
		equal(b, "dead letters", len(all), 1)
		equal(b, "tries", all[0].Tries, 3)
		equal(b, "errors", len(all[0].Errors), 1)
		equal(b, "error", all[0].Errors[0].Err, "weirnats: the process ended during the try, or lost the lease")
		noError(b, stop())
	})
}

func TestAFailureAfterAKillIsCountedOn(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("a")
		from, err := b.mem.Receive()
		noError(b, err)
		noError(b, from.Pull(b.Context(), 1, 0, func(backend.Delivery) bool { return true }))
		pass(lease)
		var numbers list[int]
		stop := b.serve(func(ctx context.Context, _ string) error {
			numbers.add(weirnats.Attempt(ctx).Number)
			return io.EOF
		})
		pass(time.Minute)
		equal(b, "tries", fmt.Sprint(numbers.take()), "[2 3]")
		equal(b, "errors", len(b.dead()[0].Errors), 2)
		noError(b, stop())
	})
}

func TestABackendThatFails(t *testing.T) {
	for _, call := range []string{"pull", "record", "extend", "ack", "give back", "bury"} {
		t.Run(call, func(t *testing.T) {
			inBubble(t, 2, func(b *bench) {
				var broken atomic.Bool
				broken.Store(true)
				b.mem.Fault(func(c string) error {
					if broken.Load() && c == call {
						return io.EOF
					}
					return nil
				})
				calls := map[string]int{}
				var lock sync.Mutex
				stop := b.serve(func(_ context.Context, v string) error {
					lock.Lock()
					defer lock.Unlock()
					if calls[v]++; v == "bad" {
						return io.EOF
					}
					return nil
				})
				b.put("good", "bad")
				pass(3 * lease / 2)
				broken.Store(false)
				pass(10 * lease)
				equal(b, "messages", b.stats().Messages, 0)
				equal(b, "dead letters", len(b.dead()), 1)
				lock.Lock()
				defer lock.Unlock()
				if calls["good"] < 1 || calls["bad"] > 3 {
					b.Errorf("calls are %v", calls)
				}
				noError(b, stop())
			})
		})
	}
}

func TestAQueueThatIsGoneEndsServe(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		var gone atomic.Bool
		b.mem.Fault(func(string) error {
			if gone.Load() {
				return backend.ErrGone
			}
			return nil
		})
		done := make(chan error, 1)
		go func() { done <- b.Serve(b.Context(), b.pool, func(context.Context, string) error { return nil }) }()
		pass(time.Second)
		gone.Store(true)
		isError(b, <-done, weirnats.ErrGone)
		isError(b, b.Put(b.Context(), "a"), weirnats.ErrGone)
	})
}

// A message that ends its process takes those that run next to it along only until it is suspected.
func TestMessagesNextToPoisonSurvive(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		for _, v := range []string{"poison", "a", "b", "c"} {
			b.put(v)
		}
		from, err := b.mem.Receive()
		noError(b, err)
		for range 2 {
			noError(b, from.Pull(b.Context(), 4, 0, func(backend.Delivery) bool { return true }))
			pass(lease)
		}
		var now atomic.Int32
		var ran list[string]
		stop := b.serve(func(ctx context.Context, v string) error {
			defer now.Add(-1)
			if n := now.Add(1); n > 1 {
				b.Errorf("%d suspects run at once", n)
			}
			time.Sleep(time.Second)
			ran.add(fmt.Sprint(v, weirnats.Attempt(ctx).Number))
			return nil
		})
		pass(time.Minute)
		all := ran.take()
		slices.Sort(all)
		equal(b, "tries", strings.Join(all, " "), "a3 b3 c3 poison3")
		noError(b, stop())
		equal(b, "messages", b.stats().Messages, 0)
	})
}

func TestAServerThatCannotWriteIsAnErrorOfPut(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		b.Break(io.EOF)
		err := b.Put(b.Context(), "a")
		if broken, ok := errors.AsType[*weirnats.BrokenError](err); !ok || broken.Queue != "bench" {
			b.Errorf("error is %v", err)
		}
		isError(b, b.TryPut(b.Context(), "a"), io.EOF)
		_, err = b.PutAll(b.Context(), []string{"a"}, nil)
		isError(b, err, io.EOF)
	})
}

// A program that is told to end is killed soon. It does not wait for a server that is away for as long as the leases hold.
func TestServeEndsThoughTheServerIsAway(t *testing.T) {
	for name, outcome := range map[string]error{"done": nil, "not done": errors.New("no")} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 1, func(b *bench) {
				b.put("a")
				stop := b.serve(func(ctx context.Context, _ string) error {
					<-ctx.Done()
					return outcome
				})
				b.mem.Fault(func(string) error { return io.EOF })
				began := time.Now()
				noError(b, stop())
				if took := time.Since(began); took > 20*time.Second {
					b.Errorf("Serve returns after %v", took)
				}
				b.mem.Fault(nil)
			}, weirnats.Lease(time.Hour))
		})
	}
}

func TestALeaseOfDecades(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.put("a")
		tries := 0
		stop := b.serve(func(context.Context, string) error {
			if tries++; tries == 1 {
				return errors.New("not now")
			}
			return nil
		})
		pass(time.Minute)
		noError(b, stop())
		equal(b, "tries", tries, 2)
		equal(b, "messages", b.stats().Messages, 0)
	}, weirnats.Lease(40*365*24*time.Hour))
}
