package weir_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/race"
)

func TestOnSlowIsCalledOnceForEachSlowTaskWhileItRuns(t *testing.T) {
	for _, d := range []time.Duration{8 * time.Millisecond, 10 * time.Second} {
		for _, share := range []float64{0, 1} { // no task is measured, or each is
			synctest.Test(t, func(t *testing.T) { slowTasksAreFoundOnce(t, d, share) })
		}
	}
}

func slowTasksAreFoundOnce(t *testing.T, d time.Duration, share float64) {
	var found []time.Time // by the one task at a time that the handler is called for
	p := weir.New(8, weir.Measure(share), weir.OnSlow(d, func(r weir.Running) {
		check.Equal(t, "label", r.Label, "slow")
		found = append(found, time.Now())
	}))
	for range 10 {
		time.Sleep(3 * time.Second)
		begin := time.Now()
		done := weir.Async(weir.Label(t.Context(), "slow"), p, func(context.Context) (int, error) {
			time.Sleep(5 * d)
			return 0, nil
		})
		for range 20 {
			check.OK(t, p.Submit(func() { time.Sleep(time.Millisecond) }))
		}
		_, err := done.Get(t.Context())
		check.OK(t, err)
		synctest.Wait()
		check.Equal(t, "calls", len(found), 1)
		if after := found[0].Sub(begin); after < d || after > max(2*d, 20*time.Millisecond) {
			t.Errorf("d %v, share %v: called after %v", d, share, after)
		}
		found = nil
	}
	p.Close()
}

// The watch ends with the last worker, and must begin again with the next.
func TestOnSlowGoesOnAfterAllWorkersHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		p := weir.New(1, weir.IdleTimeout(time.Second), weir.OnSlow(time.Second, func(weir.Running) { calls.Add(1) }))
		for i := range int32(5) {
			check.OK(t, p.Submit(func() { time.Sleep(3 * time.Second) }))
			time.Sleep(time.Hour)
			check.Equal(t, "workers", p.Stats().Workers, 0)
			check.Equal(t, "calls", calls.Load(), i+1)
		}
		p.Close()
	})
}

func TestSeveralHandlersOfSlowTasksHaveTheirOwnTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var short, long atomic.Int32
		p := weir.New(1,
			weir.OnSlow(time.Second, func(weir.Running) { short.Add(1) }),
			weir.OnSlow(time.Minute, func(weir.Running) { long.Add(1) }))
		check.OK(t, p.Submit(func() { time.Sleep(10 * time.Second) }))
		check.OK(t, p.Submit(func() { time.Sleep(10 * time.Minute) }))
		p.Wait()
		check.Equal(t, "calls", fmt.Sprint(short.Load(), long.Load()), "2 1")
		p.Close()
	})
}

func TestAGroupWithWorkersOfItsOwnHasHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		g := weir.NewGroup(t.Context(), 1, weir.OnSlow(time.Second, func(weir.Running) { calls.Add(1) }))
		for i := range int32(2) {
			g.Go(func(context.Context) error {
				time.Sleep(time.Minute)
				return nil
			})
			check.OK(t, g.Wait())
			check.Equal(t, "calls", calls.Load(), i+1)
		}
	})
}

// A handler that panics, or exits, must end neither the program nor the look at the tasks.
func TestAHandlerOfSlowTasksMayPanicAndExit(t *testing.T) {
	log := check.Log(t)
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		begin := time.Now()
		p := weir.New(3, weir.OnSlow(time.Second, func(weir.Running) {
			if after := time.Since(begin); after > 2*time.Second {
				t.Errorf("called after %v", after)
			}
			switch calls.Add(1) {
			case 1:
				panic("handler")
			case 2:
				runtime.Goexit()
			}
		}))
		for range 3 {
			check.OK(t, p.Submit(func() { time.Sleep(time.Minute) }))
		}
		p.Wait()
		check.Equal(t, "calls", calls.Load(), 3)
		p.Close()
	})
	if !strings.Contains(log.String(), "handler panicked") {
		t.Errorf("the log has no panic:\n%s", log)
	}
}

// What is known of one task must not be taken for what is known of the next one, also where another caller has just looked.
func TestOnSlowIsCalledForTheTaskAfterASlowOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		p := weir.New(1, weir.Measure(1), weir.Prestart(1), weir.OnSlow(time.Millisecond, func(weir.Running) { calls.Add(1) }))
		time.Sleep(5 * time.Millisecond)
		p.Running(0)
		time.Sleep(time.Millisecond)
		check.OK(t, p.Submit(func() { time.Sleep(5 * time.Millisecond) }))
		check.OK(t, p.Submit(func() { time.Sleep(10 * time.Second) }))
		p.Wait()
		check.Equal(t, "calls", calls.Load(), 2)
		p.Close()
	})
}

// A timer of a bubble must not be used in another one, nor outside.
func TestOnSlowWatchesAPoolInAllBubblesThatUseIt(t *testing.T) {
	var calls atomic.Int32
	p := weir.New(2, weir.IdleTimeout(0), weir.OnSlow(time.Second, func(weir.Running) { calls.Add(1) }))
	run := func(task func()) {
		check.OK(t, p.Submit(task))
		p.Wait()
		eventually(t, "the worker ends", func() bool { return p.Stats().Workers == 0 })
	}
	for i := range int32(3) {
		check.Bubble(t, fmt.Sprint("slow ", i), func(*testing.T) {
			run(func() { time.Sleep(3 * time.Second) })
			time.Sleep(time.Minute)
		})
		check.Equal(t, "calls", calls.Load(), i+1)
		run(nothing)
		check.Bubble(t, fmt.Sprint("short ", i), func(*testing.T) { run(nothing) }) // it ends before the watch looks
	}
	p.Close()
}

func TestOnSlowKeepsNoPoolOrGroupThatIsDropped(t *testing.T) {
	watch := weir.OnSlow(time.Hour, func(weir.Running) {})
	gone := func(what string, made func() (held func() bool)) {
		t.Helper()
		held := made()
		if !check.Tries(1000, func() bool { runtime.GC(); return !held() }) {
			t.Errorf("the %s is still there", what)
		}
	}
	gone("pool", func() func() bool {
		p := weir.New(1, weir.IdleTimeout(0), watch)
		check.OK(t, p.Submit(nothing))
		p.Wait()
		w := weak.Make(p)
		return func() bool { return w.Value() != nil }
	})
	gone("group", func() func() bool {
		g := weir.NewGroup(t.Context(), 1, watch)
		g.Go(succeed)
		check.OK(t, g.Wait())
		w := weak.Make(g)
		return func() bool { return w.Value() != nil }
	})
}

// Each worker that comes must be watched, whatever others do that end in the same moment.
func TestOnSlowWatchesEachWorkerWhileOthersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		p := weir.New(8, weir.IdleTimeout(0), weir.OnSlow(time.Second, func(weir.Running) { calls.Add(1) }))
		for i := range int32(check.Scale(300, 100)) {
			for range 7 {
				check.OK(t, p.Submit(nothing))
			}
			check.OK(t, p.Submit(func() { time.Sleep(2500 * time.Millisecond) }))
			p.Wait()
			check.Equal(t, "calls", calls.Load(), i+1)
		}
		p.Close()
	})
}

func TestCloseWaitsForTheHandlerOfSlowTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, entered, over := make(chan struct{}), make(chan struct{}), false
		p := weir.New(1, weir.OnSlow(time.Second, func(weir.Running) {
			close(entered)
			<-release
			over = true
		}))
		check.OK(t, p.Submit(func() { time.Sleep(5 * time.Second) }))
		<-entered
		p.Wait()

		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Shutdown(late) // waits no longer than its context
		check.OK(t, err)

		var closers sync.WaitGroup
		for range 2 {
			closers.Go(func() {
				p.Close()
				check.Equal(t, "the handler has returned", over, true)
			})
		}
		synctest.Wait()
		close(release)
		closers.Wait()
		time.Sleep(time.Hour)
	})
}

func TestLogSlowLogsStackAndLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where time goes on only when the task is stuck
		log := check.Log(t)
		p := weir.New(1, weir.Name("mail"), weir.LogSlow(10*time.Millisecond))
		release := make(chan struct{})
		done := weir.Async(weir.Label(t.Context(), "order 7"), p, func(context.Context) (int, error) {
			stuckInOne(release)
			return 0, nil
		})
		time.Sleep(time.Second)
		close(release)
		_, err := done.Get(t.Context())
		check.OK(t, err)
		p.Close()
		for _, want := range []string{"task is slow", "mail", "order 7", "stuckInOne", slog.LevelWarn.String()} {
			if want == "stuckInOne" && check.Race { // then the task has a goroutine of its own
				continue
			}
			if !strings.Contains(log.String(), want) {
				t.Errorf("%q is not in the log:\n%s", want, log)
			}
		}
	})
}

func TestOnFullIsCalledWhenAPoolIsFullOnceASecond(t *testing.T) {
	submits := map[string]func(*weir.Pool) error{
		"Submit":        func(p *weir.Pool) error { return p.Submit(nothing) },
		"SubmitContext": func(p *weir.Pool) error { return p.SubmitContext(context.Background(), nothing) },
		"TrySubmit":     func(p *weir.Pool) error { return p.TrySubmit(nothing) },
		"Group.Go": func(p *weir.Pool) error {
			g := p.Group(context.Background())
			g.Go(func(context.Context) error { return nil })
			return g.Wait()
		},
		"Group.TryGo": func(p *weir.Pool) error {
			p.Group(context.Background()).TryGo(func(context.Context) error { return nil })
			return nil
		},
		"Do": func(p *weir.Pool) error {
			return p.Do(context.Background(), func(context.Context) error { return nil })
		},
	}
	for name, submit := range submits {
		for _, queue := range []int{0, 3} {
			check.Bubble(t, fmt.Sprintf("%s/queue=%d", name, queue), func(t *testing.T) {
				var calls []weir.Stats
				p := weir.New(2, weir.Queue(queue), weir.OnFull(func(s weir.Stats) { calls = append(calls, s) }))
				v := block(t, p, 2)
				for range queue {
					check.OK(t, p.TrySubmit(nothing))
				}
				synctest.Wait()
				check.Equal(t, "calls before it is full", len(calls), 0)
				for range 10 {
					go func() { _ = submit(p) }()
					synctest.Wait()
				}
				check.Equal(t, "calls", len(calls), 1)
				check.Equal(t, "queued", calls[0].Queued, queue)
				time.Sleep(time.Second)
				go func() { _ = submit(p) }()
				synctest.Wait()
				check.Equal(t, "calls after a second", len(calls), 2)
				v.Open()
				p.Close()
				check.Error(t, p.TrySubmit(nothing), weir.ErrClosed)
				time.Sleep(time.Hour)
				check.Error(t, p.Submit(nothing), weir.ErrClosed)
				check.Equal(t, "calls of a closed pool", len(calls), 2)
			})
		}
	}
}

func TestAHandlerOfAFullPoolMayUseThePoolAndPanic(t *testing.T) {
	log := check.Log(t)
	synctest.Test(t, func(t *testing.T) {
		var p *weir.Pool
		p = weir.New(1, weir.Queue(0), weir.OnFull(func(s weir.Stats) {
			check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
			p.Resize(s.Limit + 1)
			panic("handler")
		}))
		v := block(t, p, 1)
		check.OK(t, p.Submit(v.Hold)) // has the place that the handler has made
		v.Open()
		p.Close()
	})
	if !strings.Contains(log.String(), "handler panicked") {
		t.Errorf("the log has no panic:\n%s", log)
	}
}

// By then the task is counted in, and has a place under the group's limit.
func TestAHandlerOfAFullPoolMayExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		p := weir.New(1, weir.Queue(0), weir.OnFull(func(weir.Stats) {
			calls++
			runtime.Goexit()
		}))
		v := block(t, p, 1)
		check.Equal(t, "the submitter exits", check.Exits(func() { check.Error(t, p.TrySubmit(nothing), weir.ErrFull) }), false)
		g := p.Group(t.Context(), weir.Limit(1))
		time.Sleep(fullPause)
		check.Equal(t, "the submitter exits", check.Exits(func() { check.Equal(t, "accepted", g.TryGo(succeed), false) }), false)
		time.Sleep(fullPause)
		var ran atomic.Bool
		go g.Go(func(context.Context) error {
			ran.Store(true)
			return nil
		})
		synctest.Wait()
		check.Equal(t, "calls", calls, 3)
		v.Open()
		check.OK(t, g.Wait())
		check.Equal(t, "the task has run", ran.Load(), true)
		p.Close()
	})
}

const fullPause = time.Second // of OnFull

func TestOnFullIsCalledForAPausedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []weir.Stats
		p := weir.New(2, weir.Queue(1), weir.OnFull(func(s weir.Stats) { calls = append(calls, s) }))
		p.Pause()
		check.OK(t, p.Submit(nothing))
		check.Equal(t, "calls before it is full", len(calls), 0)
		check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
		synctest.Wait()
		check.Equal(t, "calls", len(calls), 1)
		time.Sleep(fullPause)
		go func() { check.OK(t, p.Submit(nothing)) }()
		synctest.Wait()
		check.Equal(t, "calls", len(calls), 2)
		check.Equal(t, "paused", calls[1].Paused, true)
		p.Resume()
		p.Close()
	})
}

// Where there is room OnFull costs no look at each worker.
func TestOnFullCostsTheSameHoweverManyWorkersThereAre(t *testing.T) {
	for _, queue := range []int{0, 64} {
		check.Flat(t, 200, func(n int) (f, end func()) {
			p := weir.New(n+10, weir.Queue(queue), weir.OnFull(func(weir.Stats) { t.Error("full") }))
			v := check.NewValve()
			for range n {
				check.OK(t, p.Submit(v.Hold))
			}
			eventually(t, "the tasks have begun", func() bool { return v.Running() == n })
			ran := make(chan struct{})
			task := func() { ran <- struct{}{} }
			f = func() {
				for range 10 {
					check.OK(t, p.Submit(task))
					<-ran
					check.OK(t, p.SubmitContext(context.Background(), task))
					<-ran
				}
			}
			return f, func() {
				v.Open()
				p.Close()
			}
		})
	}
}

// Under the race detector the calls must be seen to follow one another, though nothing else orders the goroutines that submit. The clock of a
// bubble is years behind, so a second has passed since the call there.
func TestCallsOfOnFullAreOrdered(t *testing.T) {
	calls := 0
	var total atomic.Int32 // the calls, for this goroutine: a submitter is not ordered after them
	v := check.NewValve()
	p := weir.NewFunc(1, func(struct{}) { v.Hold() }, weir.Queue(0), weir.OnFull(func(weir.Stats) {
		calls++
		total.Store(int32(calls))
	}))
	check.OK(t, p.Invoke(struct{}{}))
	eventually(t, "the task has begun", func() bool { return v.Running() == 1 })
	var called atomic.Bool
	var second sync.WaitGroup
	second.Go(func() {
		for first := false; !first; runtime.Gosched() {
			race.Unseen(func() { first = called.Load() })
		}
		check.Error(t, p.TryInvoke(struct{}{}), weir.ErrFull)
	})
	synctest.Test(t, func(t *testing.T) {
		check.Error(t, p.TryInvoke(struct{}{}), weir.ErrFull)
		race.Unseen(func() { called.Store(true) })
	})
	second.Wait()
	v.Open()
	p.Close()
	check.Equal(t, "calls", total.Load(), 2)
}
