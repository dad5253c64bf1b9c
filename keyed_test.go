package weir_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestTasksOfAKeyRunInOrderAndThoseOfOthersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(8)
		defer p.Close()
		k := weir.NewKeyed[string](p, 1)
		var ran [3][]int // without a lock: promise 15
		begin := time.Now()
		for i := range 50 {
			submit := k.Submit
			if i%2 == 0 {
				submit = k.TrySubmit
			}
			for key := range ran {
				check.OK(t, submit(fmt.Sprint(key), func() {
					time.Sleep(time.Millisecond)
					ran[key] = append(ran[key], i)
				}))
			}
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		check.Equal(t, "time", time.Since(begin), 50*time.Millisecond)
		for _, of := range ran {
			check.Equal(t, "tasks in order", len(of) == 50 && slices.IsSorted(of), true)
		}
	})
}

// Tasks submit others for their own key, which run behind what waits.
func TestTasksOfAKeySubmitOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		k := weir.NewKeyed[int](p, 1)
		var ran []string
		check.OK(t, k.Submit(1, func() {
			ran = append(ran, "a")
			check.OK(t, k.Submit(1, func() { ran = append(ran, "c") }))
			time.Sleep(time.Millisecond)
		}))
		synctest.Wait()
		check.OK(t, k.Submit(1, func() { ran = append(ran, "d") }))
		p.Close()
		check.Equal(t, "order", fmt.Sprint(ran), "[a c d]")
	})
}

func TestTheLimitOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(8)
		k := weir.NewKeyed[int](p, 3)
		var g check.Gauge
		for range 30 {
			check.OK(t, k.Submit(7, func() {
				g.Enter()
				defer g.Leave()
				time.Sleep(time.Millisecond)
			}))
		}
		p.Close()
		check.Equal(t, "at once", g.Peak.Load(), 3)
		check.Error(t, k.Submit(7, nothing), weir.ErrClosed)
		check.Error(t, k.TrySubmit(8, nothing), weir.ErrClosed)
	})
}

func TestTheQueueOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(8)
		defer p.Close()
		k := weir.NewKeyed[string](p, 1, weir.KeyQueue(2))
		v := check.NewValve()
		for range 3 {
			check.OK(t, k.TrySubmit("full", v.Hold))
		}
		check.Error(t, k.TrySubmit("full", nothing), weir.ErrFull)
		check.OK(t, k.TrySubmit("other", nothing))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		check.Error(t, k.SubmitContext(ctx, "full", nothing), context.DeadlineExceeded)
		v.Open()
	})
}

// A key with many tasks gets no more time than one with few; with ShareBy it gets a part.
func TestKeysTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		k := weir.NewKeyed[string](p, 1, weir.ShareBy(func(key string) int { return len(key) }))
		var used [2]atomic.Int64
		for i, key := range []string{"a", "bbb"} {
			for range 500 {
				check.OK(t, k.Submit(key, func() {
					time.Sleep(time.Millisecond * time.Duration(2-i))
					used[i].Add(int64(2 - i))
				}))
			}
		}
		begin := time.Now()
		check.OK(t, k.Submit("one", nothing))
		time.Sleep(400 * time.Millisecond)
		if ms := used[0].Load(); ms < 95 || ms > 105 {
			t.Errorf("a key with one of four parts has had %d ms of %v", ms, time.Since(begin))
		}
		p.Close()
	})
}

func TestATaskWaitsForAGroupOfItsOwnKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		k := weir.NewKeyed[string](p, 1)
		var ran int
		outer := k.Group(t.Context(), "a")
		outer.Go(func(ctx context.Context) error {
			inner := k.Group(ctx, "a")
			for range 5 {
				inner.Go(func(ctx context.Context) error {
					ran++
					other := k.Group(ctx, "b")
					other.Go(succeed)
					return other.Wait()
				})
			}
			return inner.Wait()
		})
		check.OK(t, outer.Wait())
		check.Equal(t, "ran", ran, 5)
	})
}

func TestGoWithAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Int32
		p := weir.New(2, weir.OnError(func(error) { failed.Add(1) }))
		k := weir.NewKeyed[int](p, 1)
		var ran int
		for i := range 10 {
			check.OK(t, k.Go(t.Context(), 1, func(context.Context) error {
				if ran++; i%2 == 0 {
					return errBoom
				}
				return nil
			}))
		}
		p.Close()
		check.Equal(t, "ran", ran, 10)
		check.Equal(t, "failed", failed.Load(), 5)
	})
}

func TestPoolsShowATaskOfAKeyThatHasNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Name("keys without places"))
		defer p.Close()
		k := weir.NewKeyed[string](p, 1)
		release := make(chan struct{})
		defer close(release)
		check.OK(t, k.Go(t.Context(), "a", func(ctx context.Context) error {
			weir.Blocking(ctx, func() { <-release })
			return nil
		}))
		synctest.Wait()
		shown := 0
		for info := range weir.Pools() {
			if info.Name != "keys without places" || info.Kind != "Keyed[string]" {
				continue
			}
			for _, task := range info.Running(0) {
				check.Equal(t, "what the task waits for", task.Waits, "blocking")
				shown++
			}
		}
		check.Equal(t, "tasks shown", shown, 1)
	})
}

func TestStatsOfKeysTellThatTheyWaitForTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Name("rated keys"), weir.Rate(1, time.Second, 1))
		k := weir.NewKeyed[string](p, 1)
		throttled := func() (is bool) {
			synctest.Wait()
			for info := range weir.Pools() {
				is = is || info.Name == "rated keys" && info.Kind == "Keyed[string]" && info.Stats().Throttled
			}
			return is
		}
		check.OK(t, k.Submit("a", nothing))
		check.Equal(t, "throttled by the only task", throttled(), false)
		check.OK(t, k.Submit("a", nothing))
		check.OK(t, k.Submit("b", nothing))
		check.Equal(t, "throttled by the next ones", throttled(), true)
		time.Sleep(2 * time.Second)
		check.Equal(t, "throttled after their turns", throttled(), false)
		p.Close()
	})
}

// The handlers of the pool hold, except for that of slow tasks: each key would need a watch.
func TestHandlersOfThePoolOfKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics, slow, full atomic.Int32
		p := weir.New(1,
			weir.OnPanic(func(*weir.Panic) { panics.Add(1) }),
			weir.OnSlow(time.Second, func(weir.Running) { slow.Add(1) }),
			weir.OnFull(func(weir.Stats) { full.Add(1) }))
		k := weir.NewKeyed[int](p, 1, weir.KeyQueue(1))
		check.OK(t, k.Submit(1, func() { time.Sleep(time.Hour); panic(1) }))
		synctest.Wait()
		check.OK(t, k.TrySubmit(1, nothing))
		check.Error(t, k.TrySubmit(1, nothing), weir.ErrFull)
		check.OK(t, p.Submit(func() { time.Sleep(time.Hour) }))
		time.Sleep(3 * time.Hour)
		check.Equal(t, "panics", panics.Load(), 1)
		check.Equal(t, "full", full.Load(), 1)
		check.Equal(t, "slow", slow.Load(), 1)
		p.Close()
	})
}

// Exact order, no key twice at once, and nothing left.
func TestManyKeysLeaveNothing(t *testing.T) {
	weir.Watch()                 // then each lane is listed
	data := make([]byte, 32<<20) // of a program, in which garbage is collected less often
	n := check.Scale(50_000, 30_000)
	if check.Race {
		n = 5_000 // the heap is not measured
	}
	p := weir.New(8, weir.Queue(64))
	defer p.Close()
	k := weir.NewKeyed[int](p, 1)
	last := make([]atomic.Int64, n)
	busy := make([]atomic.Bool, n)
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, uint64(n-1))
	before := heap()
	var done sync.WaitGroup
	done.Add(n)
	room := make(chan struct{}, 1000) // what keeps count of the keys that are in use at once keeps its room for a while
	for i := range n {
		room <- struct{}{}
		key := int(zipf.Uint64())
		if i%2 == 0 {
			key = i // each second one comes but once
		}
		check.OK(t, k.Submit(key, func() {
			defer done.Done()
			defer func() { <-room }()
			if busy[key].Swap(true) {
				t.Errorf("key %d runs twice at once", key)
			}
			if was := last[key].Swap(int64(i + 1)); was > int64(i) {
				t.Errorf("key %d: task %d after %d", key, i, was-1)
			}
			busy[key].Store(false)
		}))
	}
	done.Wait()
	check.Until(t, "no worker has a task", func() bool { s := p.Stats(); return s.Workers == s.Idle })
	check.Until(t, "the keys have left the heap", func() bool { return check.Race || heap() <= before+1<<20 })
	runtime.KeepAlive(k)
	runtime.KeepAlive(data)
}

// Nor does a group that was not made, as an option panicked.
func TestAGroupWithAWrongOptionLeavesItsKey(t *testing.T) {
	if check.Race {
		return // the heap is not measured
	}
	p := weir.New(1)
	defer p.Close()
	k := weir.NewKeyed[int](p, 1)
	before := heap()
	for key := range 5000 {
		if check.Caught(func() { k.Group(t.Context(), key, nil) }) == nil {
			t.Fatal("no panic")
		}
	}
	check.Until(t, "the keys have left the heap", func() bool { return heap() <= before+1<<20 })
	runtime.KeepAlive(k)
}

func TestAKeyThatNoMapTakes(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	k := weir.NewKeyed[any](p, 1)
	check.Equal(t, "it panics", check.Caught(func() { _ = k.Submit([]int{1}, nothing) }) != nil, true)
	check.OK(t, k.Submit("a", nothing))
}

func TestAKeyThatIsNotEqualToItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		k := weir.NewKeyed[float64](p, 1)
		var ran atomic.Int32
		for range 10 {
			check.OK(t, k.Submit(math.NaN(), func() { ran.Add(1) }))
		}
		p.Close()
		check.Equal(t, "ran", ran.Load(), 10)
	})
}

// A group is of its key as long as it is used, also when nothing of the key runs meanwhile.
func TestAGroupKeepsItsKey(t *testing.T) {
	p := weir.New(8)
	defer p.Close()
	k := weir.NewKeyed[string](p, 1)
	g := k.Group(t.Context(), "a")
	g.Go(succeed)
	check.OK(t, g.Wait())
	var gauge check.Gauge
	task := func() {
		gauge.Enter()
		defer gauge.Leave()
		yield(10)
	}
	for range 1000 {
		check.OK(t, k.Submit("b", nothing)) // takes a lane that is free
		g.Go(func(context.Context) error { task(); return nil })
		check.OK(t, k.Submit("a", task))
	}
	check.OK(t, g.Wait())
	p.Wait()
	check.Equal(t, "at once", gauge.Peak.Load(), 1)
}

func BenchmarkKeyed(b *testing.B) {
	for _, keys := range []int{1, 16, 1 << 20} {
		b.Run(fmt.Sprint(keys, " keys"), func(b *testing.B) {
			p := weir.New(2)
			defer p.Close()
			k := weir.NewKeyed[int](p, 1)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				check.OK(b, k.Submit(i%keys, nothing))
			}
		})
	}
}

// The Retry of a pool lets the next task of a key pass between two tries; a Retrier called by the task keeps the key's turn.
func TestTheTurnOfAKeyBetweenTwoTries(t *testing.T) {
	for _, inTask := range []bool{false, true} {
		check.Bubble(t, fmt.Sprint("in the task ", inTask), func(t *testing.T) {
			retry := weir.Retry(weir.RetryPolicy{Tries: 2, Wait: time.Second})
			p := weir.New(4, retry)
			k := weir.NewKeyed[string](p, 1)
			order, tried := "", false
			first := func(context.Context) error {
				if !tried {
					tried = true
					return weir.RetryAfter(errBoom, time.Second)
				}
				order += "1"
				return nil
			}
			check.OK(t, k.Go(t.Context(), "a", func(ctx context.Context) error {
				if inTask {
					return retry.Do(ctx, first)
				}
				return first(ctx)
			}))
			check.OK(t, k.Go(t.Context(), "a", func(context.Context) error { order += "2"; return nil }))
			p.Close()
			want := "21"
			if inTask {
				want = "12"
			}
			check.Equal(t, "order", order, want)
		})
	}
}

// What the handlers of a pool hold may hold a future that was made in a task of a key, and so the group of that task.
func TestAGroupOfAKeyIsCollectedWithItsPool(t *testing.T) {
	type server struct {
		pool  *weir.Pool
		keyed *weir.Keyed[int]
		last  *weir.Future[int]
	}
	gone := make(chan struct{})
	func() {
		s := &server{}
		s.pool = weir.New(1, weir.OnPanic(func(*weir.Panic) { _ = s.last }))
		s.keyed = weir.NewKeyed[int](s.pool, 1)
		g := s.keyed.Group(t.Context(), 7)
		g.Go(func(ctx context.Context) error {
			s.last = weir.Async(ctx, s.pool, func(context.Context) (int, error) { return 1, nil })
			return nil
		})
		check.OK(t, g.Wait())
		_, _ = s.last.Get(t.Context()) // the end of the group may have cancelled it
		s.pool.Close()
		runtime.AddCleanup(s, func(struct{}) { close(gone) }, struct{}{})
	}()
	check.Until(t, "the pool is collected", func() bool {
		runtime.GC()
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
}

func TestKeysLeaveNothingBehindAfterShutdown(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	k := weir.NewKeyed[*[64]byte](p, 1)
	over := make(chan struct{})
	check.OK(t, p.Submit(func() { <-over }))
	submit := func() weak.Pointer[[64]byte] {
		key := new([64]byte)
		check.OK(t, k.Submit(key, func() {}))
		return weak.Make(key)
	}
	gone := submit()
	for range 100 { // some lanes of keys that were in use are kept for others
		submit()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unrun, err := p.Shutdown(ctx)
	check.Equal(t, "error", err != nil, true)
	check.Equal(t, "tasks handed back", len(unrun), 101)
	runtime.GC()
	check.Equal(t, "the Keyed refers to the key", gone.Value() != nil, false)
	close(over)
	runtime.KeepAlive(k)
}
