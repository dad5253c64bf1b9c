package weirnats_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/mem"
)

// putKeys puts values like "a1", each with its first letter as the key.
func (b *bench) putKeys(values ...string) {
	b.Helper()
	for _, v := range values {
		noError(b, b.Put(b.Context(), v, weirnats.Key(v[:1])))
	}
}

func TestMessagesWithAKeyRunInOrder(t *testing.T) {
	for _, limit := range []int{1, 3, 64} {
		inBubble(t, limit, func(b *bench) {
			const keys, each = 20, 30
			last := make([]atomic.Int32, keys)
			var running [keys]atomic.Int32
			var now, most, calls atomic.Int32
			stop := b.serve(func(ctx context.Context, v string) error {
				var key, n int
				_, err := fmt.Sscan(v, &key, &n)
				noError(b, err)
				most.Store(max(most.Load(), now.Add(1)))
				if running[key].Add(1) > 1 {
					b.Errorf("two of key %d run at once", key)
				}
				if before := last[key].Swap(int32(n)); int(before) != n-1 {
					b.Errorf("%d of key %d comes after %d", n, key, before)
				}
				equal(b, "key", weirnats.Attempt(ctx).Key, fmt.Sprint("key ", key))
				time.Sleep(time.Second)
				running[key].Add(-1)
				now.Add(-1)
				calls.Add(1)
				return nil
			})
			for n := range each {
				for key := range keys {
					noError(b, b.Put(b.Context(), fmt.Sprint(key, " ", n+1), weirnats.Key(fmt.Sprint("key ", key))))
				}
			}
			pass(keys*each*time.Second/time.Duration(min(limit, keys)) + 10*time.Second)
			equal(b, "calls", calls.Load(), keys*each)
			equal(b, "messages", b.stats().Messages, 0)
			equal(b, "at once", most.Load(), int32(min(limit, keys)))
			noError(b, stop())
		})
	}
}

// While a message waits for its next try no place is held, and none of its key runs; all others do.
func TestABackOffHoldsTheKey(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		var order list[string]
		stop := b.serve(func(ctx context.Context, v string) error {
			n := weirnats.Attempt(ctx).Number
			order.add(fmt.Sprint(v, ".", n))
			if v == "a1" && n < 3 {
				return weir.RetryAfter(io.EOF, time.Hour)
			}
			return nil
		})
		b.putKeys("a1", "a2", "b1")
		b.put("x")
		pass(time.Minute)
		b.putKeys("a3", "b2")
		pass(time.Minute)
		equal(b, "running", b.pool.Stats().Running, 0)
		equal(b, "held", b.mem.Held(), 3)
		all := order.take()
		slices.Sort(all)
		equal(b, "tries", strings.Join(all, " "), "a1.1 b1.1 b2.1 x.1")
		pass(3 * time.Hour)
		equal(b, "tries", strings.Join(order.take(), " "), "a1.2 a1.3 a2.1 a3.1")
		equal(b, "messages", b.stats().Messages, 0)
		noError(b, stop())
	}, weirnats.Partitions(1))
}

// The lease of a message counts from the pull that it came with, which must not be almost over when a message comes.
func TestMessagesWithAKeyRunOnceWithAShortLease(t *testing.T) {
	for _, lease := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond, time.Second} {
		t.Run(lease.String(), func(t *testing.T) {
			inBubble(t, 4, func(b *bench) {
				var ran list[string]
				stop := b.serve(func(ctx context.Context, v string) error {
					ran.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number))
					return nil
				})
				want := ""
				for i := range 30 {
					noError(b, b.Put(b.Context(), fmt.Sprint(i), weirnats.Key(fmt.Sprint(i%3))))
					want += fmt.Sprint(i, ".1 ")
					pass(390 * time.Millisecond)
				}
				pass(time.Minute)
				equal(b, "runs", strings.Join(ran.take(), " ")+" ", want)
				noError(b, stop())
			}, weirnats.Partitions(4), weirnats.Lease(lease))
		})
	}
}

func TestADeadLetterReleasesItsKey(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		var order list[string]
		fails := errors.New("on purpose")
		stop := b.serve(func(ctx context.Context, v string) error {
			order.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number))
			switch v {
			case "a1":
				return fails
			case "a2":
				return weir.Permanent(fails)
			case "a3":
				panic("on purpose")
			}
			return nil
		})
		b.putKeys("a1", "a2", "a3", "a4")
		pass(time.Minute)
		equal(b, "tries", strings.Join(order.take(), " "), "a1.1 a1.2 a1.3 a2.1 a3.1 a3.2 a3.3 a4.1")
		letters := b.dead()
		equal(b, "dead letters", len(letters), 3)
		for i, tries := range []int{3, 1, 3} {
			equal(b, "key", letters[i].Key, "a")
			equal(b, "tries", letters[i].Tries, tries)
			equal(b, "errors", len(letters[i].Errors), tries)
		}
		// Replayed, it has its key again.
		fails = nil
		noError(b, b.Replay(b.Context(), letters[0].ID))
		pass(time.Minute)
		equal(b, "tries", strings.Join(order.take(), " "), "a1.1")
		noError(b, stop())
	})
}

func TestTheEndOfServeWithKeys(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		var order list[string]
		fails := true
		stop := b.serve(func(ctx context.Context, v string) error {
			order.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number))
			switch {
			case v == "b1" && fails:
				return weir.RetryAfter(io.EOF, time.Hour)
			case v == "a1" && fails:
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		b.putKeys("b1", "b2", "a1", "a2")
		pass(time.Minute)
		noError(b, stop())
		equal(b, "held", b.mem.Held(), 0)
		equal(b, "tries", strings.Join(order.take(), " "), "b1.1 a1.1")

		// Another process has all at once, except what is not due.
		fails = false
		begin := time.Now()
		stop = b.serve(func(ctx context.Context, v string) error {
			order.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number, " after ", time.Since(begin).Round(time.Minute)))
			return nil
		})
		pass(2 * time.Hour)
		equal(b, "tries", strings.Join(order.take(), ", "), "a1.1 after 0s, a2.1 after 0s, b1.2 after 59m0s, b2.1 after 59m0s")
		noError(b, stop())
	}, weirnats.Partitions(1), weirnats.Grace(0))
}

// A process that is killed has messages of two keys. Those that come later of these keys wait until its leases end, those of other keys do not.
func TestADeadHolderHoldsUpItsKeysForALease(t *testing.T) {
	inBubble(t, 4, func(b *bench) {
		b.putKeys("a1", "b1", "a2", "c1")
		from, err := b.mem.Partition(0)
		noError(b, err)
		noError(b, from.Pull(b.Context(), 2, 0, func(backend.Delivery, backend.Turn) bool { return true }))
		begin := time.Now()
		var order list[string]
		stop := b.serve(func(ctx context.Context, v string) error {
			order.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number, " after ", time.Since(begin)))
			return nil
		})
		pass(20 * time.Second)
		if all := order.take(); len(all) != 1 || !strings.HasPrefix(all[0], "c1.1 after 10") { // when the other process has not pulled for long enough
			b.Errorf("tries are %q", all)
		}
		pass(time.Minute)
		all := order.take()
		equal(b, "tries", len(all), 3)
		a, second := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "a1.2 after 30") }), slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "a2.1 after 30") })
		if a < 0 || second < a {
			b.Errorf("tries are %q", all)
		}
		noError(b, stop())
	}, weirnats.Partitions(1))
}

// Messages that wait behind others of their key as their process is killed have not been tried, and become no dead letters. The first of a key may have been. The leases of the first ones
// may end last.
func TestWhatWaitsBehindItsKeyLosesNoTry(t *testing.T) {
	for _, late := range []bool{false, true} {
		inBubble(t, 4, func(b *bench) {
			b.putKeys("a1", "b1", "a2", "a3", "c1")
			for range 3 { // processes that are killed
				pass(2 * lease)
				from, err := b.mem.Partition(0)
				noError(b, err)
				n := 0
				noError(b, from.Pull(b.Context(), 4, 0, func(d backend.Delivery, _ backend.Turn) bool {
					n++
					if late && string(d.Message().Data) == `"a1"` {
						time.AfterFunc(time.Second, func() { noError(b, d.Extend(b.Context())) })
					}
					return true
				}))
				equal(b, "deliveries", n, 4)
			}
			pass(lease - time.Second)
			begin := time.Now()
			b.mem.Fault(func(call string) error { // the first of a key is here for longer than the others take to come
				if call == "bury" && time.Since(begin) < 10*time.Second {
					return io.EOF
				}
				return nil
			})
			var tries list[string]
			stop := b.serve(func(ctx context.Context, v string) error {
				tries.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number))
				return nil
			})
			pass(2 * time.Minute)
			noError(b, stop())
			all := tries.take()
			slices.Sort(all)
			equal(b, "tries", strings.Join(all, " "), "a2.1 a3.1 c1.1")
			equal(b, "dead letters", len(b.dead()), 2)
		}, weirnats.Partitions(1), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 1})))
	}
}

// A process without a free place leaves partitions to one that has some, with what it has not begun.
func TestABusyProcessLeavesItsPartitions(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		hold := make(chan struct{})
		var here, there atomic.Int32
		stop := b.serve(func(context.Context, string) error { here.Add(1); <-hold; return nil })
		for i := range 40 {
			noError(b, b.Put(b.Context(), "v", weirnats.Key(fmt.Sprint(i))))
		}
		pass(time.Second)
		equal(b, "calls", here.Load(), 2)
		own, other := b.pool, weir.New(8)
		defer other.Close()
		b.pool = other
		second := b.serve(func(context.Context, string) error { there.Add(1); return nil })
		b.pool = own
		pass(time.Minute)
		equal(b, "calls in the other process", there.Load(), 38)
		equal(b, "messages", b.stats().Messages, 2)
		close(hold)
		pass(time.Second)
		equal(b, "messages", b.stats().Messages, 0)
		noError(b, stop())
		noError(b, second())
	}, weirnats.Partitions(4))
}

// What a busy process leaves comes at once also if the server starts again just then, and not when its old lease ends.
func TestWhatABusyProcessLeavesComesAtOnceAfterARestart(t *testing.T) {
	inBubble(t, 8, func(b *bench) {
		hold := make(chan struct{})
		stop := b.serve(func(context.Context, string) error { <-hold; return nil })
		b.putKeys("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l") // eight run, four wait
		pass(time.Second)
		pull := func(most int, wait time.Duration) (n int) {
			from, err := b.mem.Partition(0)
			if err == nil {
				err = from.Pull(b.Context(), most, wait, func(backend.Delivery, backend.Turn) bool { n++; return true })
			}
			if err != nil {
				b.Error(err)
			}
			return n
		}
		before := pull(1, lease)
		synctest.Wait()
		b.mem.Restart()
		after := pull(3, time.Second)
		close(hold)
		noError(b, stop())
		equal(b, "messages that another process gets", before, 1)
		equal(b, "messages that it gets after a restart", after, 3)
	}, weirnats.Partitions(1))
}

// That holds for a single message too, for which a process has room but no place.
func TestABusyProcessLeavesALoneMessage(t *testing.T) {
	inBubble(t, 8, func(b *bench) {
		var here, there atomic.Int32
		stop := b.serve(func(context.Context, string) error { here.Add(1); return nil })
		b.putKeys("a1")
		pass(5 * time.Second)
		for range 8 {
			noError(b, b.pool.Submit(func() { time.Sleep(time.Hour) }))
		}
		own, other := b.pool, weir.New(8)
		defer other.Close()
		b.pool = other
		second := b.serve(func(context.Context, string) error { there.Add(1); return nil })
		b.pool = own
		b.putKeys("a2")
		pass(time.Minute)
		equal(b, "calls in the first process", here.Load(), 1)
		equal(b, "calls in the other process", there.Load(), 1)
		noError(b, stop())
		noError(b, second())
	})
}

// A message that goes back while it waits for its next try leaves no timer behind, which would keep the function.
func TestServeThatHasEndedKeepsNothingUntilTheNextTry(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		type large [1 << 20]byte
		serve := func() weak.Pointer[large] {
			v := new(large)
			stop := b.serve(func(context.Context, string) error {
				v[0]++
				return weir.RetryAfter(errors.New("not now"), 24*time.Hour)
			})
			pass(5 * time.Second)
			noError(b, stop())
			return weak.Make(v)
		}
		b.putKeys("a")
		kept := []weak.Pointer[large]{serve(), serve()}
		pass(time.Minute)
		runtime.GC()
		for i, v := range kept {
			if v.Value() != nil {
				b.Errorf("what call %d of Serve had is kept", i)
			}
		}
	})
}

// RunLimit bounds each try, and not the time in between.
func TestRunLimitWithAKey(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		var tries list[string]
		stop := b.serve(func(ctx context.Context, v string) error {
			begin := time.Now()
			if v == "a1" && weirnats.Attempt(ctx).Number < 3 {
				<-ctx.Done()
			}
			tries.add(fmt.Sprint(v, ".", weirnats.Attempt(ctx).Number, " ", context.Cause(ctx), " ", time.Since(begin).Round(time.Minute)))
			return weir.RetryAfter(context.Cause(ctx), time.Hour)
		})
		b.putKeys("a1", "a2")
		pass(5 * time.Hour)
		text := "a1.1 weirnats: try has taken too long 10m0s, a1.2 weirnats: try has taken too long 10m0s, a1.3 <nil> 0s, a2.1 <nil> 0s"
		equal(b, "tries", strings.Join(tries.take(), ", "), text)
		noError(b, stop())
	}, weirnats.RunLimit(10*time.Minute))
}

// A message that ends its process, also between tries that fail, is a dead letter when its tries are used up.
func TestPoisonWithAKey(t *testing.T) {
	inBubble(t, 1, func(b *bench) {
		b.putKeys("a1", "a2")
		for try := 1; try <= 4; try++ {
			b.mem.Fault(nil)
			var numbers list[int]
			ctx, kill := context.WithCancel(b.Context())
			stop := b.serve(func(c context.Context, v string) error {
				if v == "a1" {
					if n := numbers.add(weirnats.Attempt(c).Number); n == 1 && try == 1 {
						return io.EOF
					}
					kill()
					<-c.Done()
				}
				return c.Err()
			})
			<-ctx.Done()
			b.mem.Fault(func(string) error { return io.EOF })
			noError(b, stop())
			b.mem.Fault(nil)
			if want := map[int]string{1: "[1 2]", 2: "[3]", 3: "[4]", 4: "[5]"}[try]; fmt.Sprint(numbers.take()) != want {
				b.Errorf("tries of process %d are not %s", try, want)
			}
			pass(2 * lease)
		}
		var last list[string]
		stop := b.serve(func(_ context.Context, v string) error { last.add(v); return nil })
		pass(time.Minute)
		equal(b, "messages that run", strings.Join(last.take(), " "), "a2")
		equal(b, "tries", b.dead()[0].Tries, 5)
		noError(b, stop())
	}, weirnats.Grace(0), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 5, Wait: time.Second, MostWait: time.Second})))
}

// A function that ignores the end of its lease holds up its key for another lease at most.
func TestAHungFunctionKeepsNoKey(t *testing.T) {
	inBubble(t, 8, func(b *bench) {
		end := make(chan struct{})
		var order list[string]
		stop := b.serve(func(_ context.Context, v string) error {
			order.add(v)
			if v == "a1" {
				<-end
			}
			return nil
		})
		b.putKeys("a1", "a2")
		pass(5 * time.Hour)
		equal(b, "tries", strings.Join(order.take(), " "), "a1 a1 a1 a2")
		equal(b, "dead letters", len(b.dead()), 1)
		close(end)
		synctest.Wait()
		noError(b, stop())
	})
}

func TestKeysOfMessagesThatArePutAtOnce(t *testing.T) {
	inBubble(t, 8, func(b *bench) {
		var order list[string]
		run := func(_ context.Context, v string) error { order.add(v); return nil }
		values := []string{"a1", "b1", "a2", "b2", "a3", "a4", "a5"}
		done := make(chan error, 1)
		go func() {
			n, err := b.PutAll(b.Context(), values, func(i int) string { return fmt.Sprint(i % 6) }, func(i int) string { return values[i][:1] })
			equal(b, "values", n, len(values))
			done <- err
		}()
		pass(time.Second) // it waits for room
		equal(b, "messages", b.stats().Messages, 4)
		stop := b.serve(run)
		noError(b, <-done)
		pass(time.Second)
		all := order.take()
		all = slices.DeleteFunc(all, func(v string) bool { return v[0] != 'a' })
		equal(b, "order", strings.Join(all, " "), "a1 a2 a3 a4")
		noError(b, stop())
	}, weirnats.MaxMessages(4))
}

// The partition that is the first to wait for room holds a large message by then, and pulls no more. The room is for the next one.
func TestAPartitionThatCannotUseRoomLeavesIt(t *testing.T) {
	inBubble(t, 2, func(b *bench) {
		var order list[string]
		stop := b.serve(func(_ context.Context, v string) error {
			if order.add(v[:1]); v[0] == 'l' {
				time.Sleep(time.Minute)
			}
			return nil
		})
		b.putKeys("a1")
		pass(30 * time.Second)
		free := make(chan struct{})
		for range 2 { // tasks of the program take all places
			noError(b, b.pool.Go(b.Context(), func(context.Context) error {
				<-free
				return nil
			}))
		}
		b.putKeys("l" + strings.Repeat("x", 1<<20-3)) // the largest value here: with its quotes as much as a partition may hold
		pass(30 * time.Second)                        // the pulls of all partitions have ended, so that all wait for room
		close(free)
		pass(100 * time.Millisecond)
		b.putKeys("b1")
		pass(100 * time.Millisecond)
		equal(b, "calls", strings.Join(order.take(), ""), "alb")
		pass(time.Hour)
		noError(b, stop())
	})
}

// farLists is a backend whose server takes a quarter of a second for each message of a list.
type farLists struct{ *mem.Queue }

type farList struct{ backend.Partition }

func (q farLists) Partition(i int) (backend.Partition, error) {
	p, err := q.Queue.Partition(i)
	return farList{p}, err
}

func (p farList) List(ctx context.Context, last uint64) (map[uint64]string, error) {
	all, err := p.Partition.List(ctx, last)
	select {
	case <-time.After(time.Duration(len(all)) * time.Second / 4):
		return all, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A process has ended with as many messages of a partition as it may have, and the server is far. The next process runs them.
func TestMessagesOfAnEndedProcessRunWhereTheServerIsFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to farLists
		q := weirnats.OpenOn[string]("a", func(s backend.Settings) backend.Queue {
			to.Queue = mem.New(s)
			return to
		}, quiet, weirnats.Partitions(1))
		for i := range backend.MostHeld {
			noError(t, q.Put(t.Context(), "x", weirnats.Key(fmt.Sprint(i))))
		}
		ended, err := to.Queue.Partition(0)
		noError(t, err)
		noError(t, ended.Pull(t.Context(), backend.MostHeld, time.Second, func(backend.Delivery, backend.Turn) bool { return true }))
		var calls atomic.Int32
		p := weir.New(4)
		stop := serve(t, q, p, func(context.Context, string) error { calls.Add(1); return nil })
		pass(10 * time.Minute)
		equal(t, "calls", calls.Load(), backend.MostHeld)
		stop()
		noError(t, ended.Close(t.Context()))
		noError(t, q.Close())
		p.Close()
	})
}
