package weir_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise11WhatIsNotUsedCostsNothing(t *testing.T) {
	t.Run("at import", func(t *testing.T) {
		check.Equal(t, "goroutines when the program began", goroutinesAtStart, 1)
	})
	t.Run("an unused pool", func(t *testing.T) {
		const pools, budget = 10_000, 1024
		keep := make([]any, 2*pools)
		before := check.Goroutines("")
		for _, newPool := range []func() any{
			func() any { return weir.New(64) },
			func() any { return weir.NewFunc(64, func(string) {}) },
		} {
			var from, to runtime.MemStats
			runtime.ReadMemStats(&from)
			for i := range pools {
				keep[i] = newPool()
			}
			runtime.ReadMemStats(&to)
			if each := (to.TotalAlloc - from.TotalAlloc) / pools; each > budget && !check.Race { // which needs more
				t.Errorf("%T costs %d bytes, more than %d", keep[0], each, budget)
			}
		}
		runtime.KeepAlive(keep)
		if n := check.Goroutines(""); n > before {
			t.Errorf("%d goroutines have come", n-before)
		}
	})
	check.Bubble(t, "a group after Wait", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 8, weir.Prestart(4))
		for range 3 {
			v := check.NewValve()
			for range 8 {
				g.Go(v.Member)
			}
			v.Open()
			check.OK(t, g.Wait())
			noWorkers(t)
		}
	})
	check.Bubble(t, "a pool dropped without Close", func(t *testing.T) {
		noWorkers(t)
		block(t, weir.New(8), 8).Open()
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		check.Equal(t, "goroutines just before the idle timeout", workerGoroutines(), 8)
		time.Sleep(time.Nanosecond)
		noWorkers(t)
	})
}

func TestIdleWorkersEndWhenTheirTimeIsOver(t *testing.T) {
	const timeout = time.Minute
	workers := func(t *testing.T, p *weir.Pool, want int) {
		t.Helper()
		synctest.Wait()
		check.Equal(t, "workers", p.Stats().Workers, want)
	}
	check.Bubble(t, "to the nanosecond", func(t *testing.T) {
		p := weir.New(4, weir.IdleTimeout(timeout))
		defer p.Close()
		for range 3 {
			block(t, p, 4).Open()
			p.Wait()
			time.Sleep(timeout - 1)
			workers(t, p, 4)
			time.Sleep(time.Nanosecond)
			workers(t, p, 0)
		}
	})
	for name, opt := range map[string]weir.Option{
		"the newest is used again, the oldest expire":  weir.Prestart(0),
		"also where they are there from the beginning": weir.Prestart(4),
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(4, weir.IdleTimeout(timeout), opt)
			defer p.Close()
			v := block(t, p, 4)
			for range 4 {
				v.LetOne() // they become idle a second after each other
				time.Sleep(time.Second)
			}
			for range 100 {
				check.OK(t, p.Submit(nothing))
				time.Sleep(timeout / 100)
			}
			// The one that was used is there; the other three are gone.
			workers(t, p, 1)
			time.Sleep(timeout - timeout/100 - 1)
			workers(t, p, 1)
			time.Sleep(time.Nanosecond)
			workers(t, p, 0)
		})
	}
	check.Bubble(t, "each in its own time", func(t *testing.T) {
		p := weir.New(4, weir.IdleTimeout(timeout))
		defer p.Close()
		v := block(t, p, 4)
		for range 4 {
			v.LetOne()
			time.Sleep(time.Second)
		}
		time.Sleep(timeout - 4*time.Second)
		for left := 3; left >= 0; left-- {
			workers(t, p, left)
			time.Sleep(time.Second)
		}
	})
	check.Bubble(t, "busy ones never", func(t *testing.T) {
		p := weir.New(2, weir.IdleTimeout(timeout))
		defer p.Close()
		check.OK(t, p.Submit(nothing))
		v := block(t, p, 1)
		time.Sleep(10 * timeout)
		workers(t, p, 1)
		check.Equal(t, "running", v.Running(), 1)
		v.Open()
	})
	check.Bubble(t, "at once with 0", func(t *testing.T) {
		p := weir.New(2, weir.IdleTimeout(0))
		defer p.Close()
		for range 3 {
			block(t, p, 2).Open()
			p.Wait()
			workers(t, p, 0)
		}
	})
}

func TestWorkersOfOneBurstEnd(t *testing.T) {
	const tasks, stay = 200, 64
	again := func(p *weir.Pool) {
		release := make(chan struct{})
		for range tasks {
			check.OK(t, p.Submit(func() { <-release }))
		}
		for range 2 { // one worker runs both
			synctest.Wait()
			check.OK(t, p.Submit(func() {}))
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
	}
	for name, want := range map[string]struct {
		opts  []weir.Option
		tasks func(p *weir.Pool)
		left  int
	}{
		"none has a second task":     {nil, func(p *weir.Pool) { block(t, p, tasks).Open() }, stay},
		"one has a second task":      {nil, again, tasks + 1},
		"as many as are prestarted":  {[]weir.Option{weir.Prestart(100)}, func(p *weir.Pool) { block(t, p, tasks).Open() }, 100},
		"those that an option keeps": {[]weir.Option{weir.IdleTimeout(time.Minute)}, func(p *weir.Pool) { block(t, p, tasks).Open() }, tasks},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := weir.New(2*tasks, want.opts...)
			defer p.Close()
			synctest.Wait() // a prestarted worker that has not rested yet looks like one that comes back for a task
			want.tasks(p)
			p.Wait()
			synctest.Wait()
			check.Equal(t, "workers", p.Stats().Workers, want.left)
			block(t, p, 2*tasks).Open() // as many as the limit allows
		})
	}
}

func TestPrestartedWorkersAreThereAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(8, weir.Prestart(5), weir.IdleTimeout(time.Minute))
		defer p.Close()
		check.Equal(t, "workers", p.Stats().Workers, 5)
		synctest.Wait()
		check.Equal(t, "idle", p.Stats().Idle, 5)
		block(t, p, 8).Open()
		p.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		check.Equal(t, "workers after the idle timeout", p.Stats().Workers, 0)
		weir.New(8, weir.Prestart(8)).Close()
		weir.New(weir.Unbounded, weir.Prestart(8)).Close()
		weir.New(8, weir.Prestart(0)).Close()
	})
}

func TestAnUnboundedQueueGivesMemoryBack(t *testing.T) {
	tasks := check.Scale(250_000, 50_000)
	if check.Race {
		tasks = 5_000 // nothing is measured
	}
	p := weir.New(2, weir.Queue(weir.Unbounded))
	defer p.Close()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	run := func(v *check.Valve) { v.Open(); p.Wait() }
	handBack := func(v *check.Valve) { _, _ = p.Shutdown(done); run(v) }
	for _, end := range []func(v *check.Valve){run, run, handBack} {
		before := heap()
		v := check.NewValve()
		for range tasks {
			check.OK(t, p.Submit(v.Hold))
		}
		queued := heap()
		// Twice what may stay, at least, or not to give it back would not show.
		if queued < before+24*uint64(tasks) {
			t.Errorf("a queue of %d tasks takes %d bytes only: this test measures nothing", tasks, queued-before)
		}
		end(v)
		if after := heap(); after > before+1<<19 {
			t.Errorf("%d bytes before %d tasks were queued, %d while, %d when they had run, or were handed back", before, tasks, queued, after)
		}
	}
}

func TestAPoolThatIsDroppedIsCollected(t *testing.T) {
	dropped := make(chan weak.Pointer[weir.Pool], 1)
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		block(t, p, 4).Open()
		p.Wait()
		dropped <- weak.Make(p)
		time.Sleep(time.Hour)
	})
	gone := <-dropped
	if !check.Tries(100, func() bool { runtime.GC(); return gone.Value() == nil }) {
		t.Error("the pool is still there")
	}
}

func TestAFinishedTaskIsNotKeptAlive(t *testing.T) {
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			defer p.Close()
			var gone [8]weak.Pointer[[1024]byte]
			for i := range gone {
				big := new([1024]byte)
				gone[i] = weak.Make(big)
				check.OK(t, p.Submit(func() { big[0]++ }))
			}
			p.Wait()
			// The last task of each worker may be held until it rests.
			eventually(t, "the workers rest", func() bool { s := p.Stats(); return s.Idle == s.Workers })
			for i := range gone {
				if !check.Tries(10, func() bool { runtime.GC(); return gone[i].Value() == nil }) {
					t.Errorf("what task %d used is still there", i)
				}
			}
		})
	}
}

// A worker that gives way before it rests waits behind goroutines that compute, for tens of
// milliseconds, and the task that is submitted meanwhile waits with it.
func TestAWorkerThatFindsNothingRestsWithoutGivingWay(t *testing.T) {
	if check.Race {
		t.Skip("a task has a goroutine of its own, for which its worker gives way")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := weir.New(1)
	defer p.Close()
	rested := 0
	const rounds = 20
	for range rounds {
		ended := make(chan struct{})
		check.OK(t, p.Submit(func() { close(ended) }))
		<-ended // one processor: the worker goes on until it gives way
		rested += p.Stats().Idle
	}
	if rested < rounds/2 { // the runtime itself may interrupt it now and then
		t.Errorf("the worker had come to rest in %d of %d rounds", rested, rounds)
	}
}
