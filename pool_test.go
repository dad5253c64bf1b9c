package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
)

func TestTrySubmitAcceptsExactlyLimitAndQueueBlockedTasks(t *testing.T) {
	for _, limit := range []int{1, 3, 64} {
		for _, queue := range []int{0, 1, 2, 3, 7, 31, 32, 33, 100, 1024, 5000} {
			bubble(t, fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				p := weir.New(limit, weir.Queue(queue))
				defer p.Close()
				// Round 0 meets no worker, rounds 1 to 3 idle ones, round 4 none again.
				for round := range 5 {
					if round == 4 {
						time.Sleep(time.Hour)
					}
					v := newValve()
					accepted := 0
					for p.TrySubmit(v.task) == nil {
						accepted++
					}
					equal(t, fmt.Sprintf("accepted in round %d", round), accepted, limit+queue)
					wantError(t, p.TrySubmit(v.task), weir.ErrFull)
					synctest.Wait()
					equal(t, "running", v.running(), limit)
					wantError(t, p.TrySubmit(v.task), weir.ErrFull)
					// One out, one in, and no more.
					for range 3 {
						v.letOne()
						synctest.Wait()
						ok(t, p.TrySubmit(v.task))
						wantError(t, p.TrySubmit(v.task), weir.ErrFull)
					}
					v.open()
					p.Wait()
					equal(t, "ran", int(v.ended.Load()), limit+queue+3)
				}
			})
		}
		bubble(t, fmt.Sprintf("limit=%d/queue=unbounded", limit), func(t *testing.T) {
			p := weir.New(limit, weir.Queue(weir.Unbounded))
			v := newValve()
			for range 100_000 {
				ok(t, p.TrySubmit(v.task))
			}
			synctest.Wait()
			equal(t, "running", v.running(), limit)
			equal(t, "queued", p.Stats().Queued, 100_000-limit)
			v.open()
			p.Close()
			equal(t, "ran", v.ended.Load(), 100_000)
		})
	}
}

func TestAFreeWorkerIsNeverReportedAsFull(t *testing.T) {
	// Whoever has been told that all tasks are over fills the pool again at
	// once, while its workers may still be on their way to rest.
	for _, limit := range []int{1, 3, 8} {
		for _, queue := range []int{0, 1, 3, 32} {
			t.Run(fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				within(time.Minute, func() {
					p := weir.New(limit, weir.Queue(queue))
					defer p.Close()
					g := p.Group(context.Background())
					fill := func(try func(v *valve) bool) {
						v := newValve()
						for i := range limit + queue {
							if !try(v) {
								t.Fatalf("task %d of %d found no room", i, limit+queue)
							}
						}
						if try(v) {
							t.Fatalf("accepted more than %d tasks", limit+queue)
						}
						v.open()
					}
					for range scale(2000, 200) {
						fill(func(v *valve) bool { return p.TrySubmit(v.task) == nil })
						p.Wait()
						fill(func(v *valve) bool { return g.TryGo(v.member) })
						ok(t, g.Wait())
					}
				})
			})
		}
	}
	t.Run("a lone task again and again", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		for range scale(50_000, 5_000) {
			ok(t, p.TrySubmit(nothing))
			p.Wait()
		}
	})
}

func TestQueueZeroHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		v := block(t, p, 2)
		wantError(t, p.TrySubmit(nothing), weir.ErrFull)
		equal(t, "queued", p.Stats().Queued, 0)
		accepted := false
		go func() {
			ok(t, p.Submit(v.task))
			accepted = true
		}()
		synctest.Wait()
		equal(t, "accepted while all workers are busy", accepted, false)
		v.letOne()
		synctest.Wait()
		equal(t, "accepted when one is free", accepted, true)
		equal(t, "started", v.started.Load(), 3)
		v.open()
	})
	bubble(t, "a paused pool has no free worker", func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		p.Pause()
		wantError(t, p.TrySubmit(nothing), weir.ErrFull)
		ran := false
		go func() { ok(t, p.Submit(func() { ran = true })) }()
		synctest.Wait()
		equal(t, "ran while paused", ran, false)
		p.Resume()
		synctest.Wait()
		equal(t, "ran", ran, true)
	})
}

func TestMaxWaitingBoundsThoseWhoWait(t *testing.T) {
	for _, most := range []int{0, 1, 3} {
		bubble(t, fmt.Sprint(most), func(t *testing.T) {
			p := weir.New(1, weir.Queue(1), weir.MaxWaiting(most))
			v := block(t, p, 1)
			ok(t, p.Submit(v.task))
			var accepted sync.WaitGroup
			for range most {
				accepted.Go(func() { ok(t, p.Submit(v.task)) })
			}
			synctest.Wait()
			equal(t, "waiting", p.Stats().Waiting, most)
			wantError(t, p.Submit(v.task), weir.ErrFull)
			wantError(t, p.SubmitContext(t.Context(), v.task), weir.ErrFull)
			v.open()
			accepted.Wait()
			p.Wait()
			ok(t, p.Submit(v.task))
			p.Close()
			equal(t, "rejected", p.Stats().Rejected, 2)
			equal(t, "ran", int(v.ended.Load()), most+3)
		})
	}
}

func TestPauseStopsStartsAndNothingElse(t *testing.T) {
	bubble(t, "tasks that run go on, accepted ones queue", func(t *testing.T) {
		p := weir.New(2, weir.Queue(3))
		defer p.Close()
		running := block(t, p, 1)
		p.Pause()
		p.Pause()
		v := newValve()
		for range 3 {
			ok(t, p.Submit(v.task))
		}
		wantError(t, p.TrySubmit(v.task), weir.ErrFull)
		waiting := make(chan error, 1)
		go func() { waiting <- p.Submit(v.task) }()
		synctest.Wait()
		running.open()
		synctest.Wait()
		equal(t, "ended while paused", running.ended.Load(), 1)
		equal(t, "started while paused", v.started.Load(), 0)
		equal(t, "queued", p.Stats().Queued, 3)
		equal(t, "waiting", p.Stats().Waiting, 1)
		p.Resize(4) // a new limit does not end the pause
		synctest.Wait()
		equal(t, "started while paused", v.started.Load(), 0)
		p.Resume()
		synctest.Wait()
		equal(t, "running after Resume", v.running(), 4)
		ok(t, <-waiting)
		p.Resume()
		v.open()
	})
	bubble(t, "Wait waits for the paused", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		p.Pause()
		ok(t, p.Submit(nothing))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		wantError(t, p.WaitContext(ctx), context.DeadlineExceeded)
		p.Resume()
		p.Wait()
	})
	for _, queue := range []int{1, 10, weir.Unbounded} {
		bubble(t, "Close runs what was accepted/queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			p.Pause()
			n := min(queue, 1000)
			var ran atomic.Int32
			for range n {
				ok(t, p.Submit(func() { ran.Add(1) }))
			}
			p.Close()
			equal(t, "ran", int(ran.Load()), n)
			p.Pause()
			p.Resume()
		})
	}
	bubble(t, "Shutdown hands back what was paused", func(t *testing.T) {
		p := weir.New(1)
		p.Pause()
		ok(t, p.Submit(nothing))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		// Shutdown ends the pause: the task has run or was handed back.
		p.Close()
		equal(t, "tasks", p.Stats().Finished+uint64(len(unrun)), 1)
		equal(t, "an error if and only if something was handed back", err != nil, len(unrun) > 0)
	})
}

func TestResizeIsLive(t *testing.T) {
	bubble(t, "a higher limit starts queued tasks at once", func(t *testing.T) {
		p := weir.New(1)
		v := newValve()
		for range 10 {
			ok(t, p.Submit(v.task))
		}
		for _, limit := range []int{2, 3, 7} {
			p.Resize(limit)
			synctest.Wait()
			equal(t, "running", v.running(), limit)
			equal(t, "limit", p.Stats().Limit, limit)
		}
		p.Resize(weir.Unbounded)
		synctest.Wait()
		equal(t, "running", v.running(), 10)
		v.open()
		p.Close()
	})
	bubble(t, "a higher limit lets waiting submitters in", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		v := block(t, p, 1)
		for range 3 {
			go func() { ok(t, p.Submit(v.task)) }()
		}
		synctest.Wait()
		equal(t, "waiting", p.Stats().Waiting, 3)
		p.Resize(3)
		synctest.Wait()
		equal(t, "running", v.running(), 3)
		equal(t, "waiting", p.Stats().Waiting, 1)
		p.Resize(1)
		v.open()
		p.Wait()
		synctest.Wait()
		p.Close()
		equal(t, "ran", v.ended.Load(), 4)
	})
	bubble(t, "a lower limit ends idle workers at once", func(t *testing.T) {
		p := weir.New(8)
		block(t, p, 8).open()
		synctest.Wait() // all are idle: of those on their way to it, a few more might end
		p.Resize(3)
		synctest.Wait()
		equal(t, "workers", p.Stats().Workers, 3)
		p.Resize(8)
		block(t, p, 8).open()
		p.Close()
	})
	bubble(t, "a lower limit ends busy workers when they are done", func(t *testing.T) {
		p := weir.New(8)
		v := block(t, p, 8)
		p.Resize(3)
		v.open()
		p.Wait()
		synctest.Wait()
		equal(t, "workers", p.Stats().Workers, 3)
		p.Close()
	})
}

func TestIdleWorkersEndWhenTheirTimeIsOver(t *testing.T) {
	const timeout = time.Minute
	workers := func(t *testing.T, p *weir.Pool, want int) {
		t.Helper()
		synctest.Wait()
		equal(t, "workers", p.Stats().Workers, want)
	}
	bubble(t, "to the nanosecond", func(t *testing.T) {
		p := weir.New(4, weir.IdleTimeout(timeout))
		defer p.Close()
		for range 3 {
			block(t, p, 4).open()
			p.Wait()
			time.Sleep(timeout - 1)
			workers(t, p, 4)
			time.Sleep(time.Nanosecond)
			workers(t, p, 0)
		}
	})
	bubble(t, "the newest is used again, the oldest expire", func(t *testing.T) {
		p := weir.New(4, weir.IdleTimeout(timeout))
		defer p.Close()
		v := block(t, p, 4)
		for range 4 {
			v.letOne() // they come to rest a second after each other
			time.Sleep(time.Second)
		}
		for range 100 {
			ok(t, p.Submit(nothing))
			time.Sleep(timeout / 100)
		}
		// The one that was used is there; the other three are gone.
		workers(t, p, 1)
		time.Sleep(timeout - timeout/100 - 1)
		workers(t, p, 1)
		time.Sleep(time.Nanosecond)
		workers(t, p, 0)
	})
	bubble(t, "each in its own time", func(t *testing.T) {
		p := weir.New(4, weir.IdleTimeout(timeout))
		defer p.Close()
		v := block(t, p, 4)
		for range 4 {
			v.letOne()
			time.Sleep(time.Second)
		}
		time.Sleep(timeout - 4*time.Second)
		for left := 3; left >= 0; left-- {
			workers(t, p, left)
			time.Sleep(time.Second)
		}
	})
	bubble(t, "busy ones never", func(t *testing.T) {
		p := weir.New(2, weir.IdleTimeout(timeout))
		defer p.Close()
		ok(t, p.Submit(nothing))
		v := block(t, p, 1)
		time.Sleep(10 * timeout)
		workers(t, p, 1)
		equal(t, "running", v.running(), 1)
		v.open()
	})
	bubble(t, "at once with 0", func(t *testing.T) {
		p := weir.New(2, weir.IdleTimeout(0))
		defer p.Close()
		for range 3 {
			block(t, p, 2).open()
			p.Wait()
			workers(t, p, 0)
		}
	})
}

func TestPrestartedWorkersAreThereAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(8, weir.Prestart(5), weir.IdleTimeout(time.Minute))
		defer p.Close()
		equal(t, "workers", p.Stats().Workers, 5)
		synctest.Wait()
		equal(t, "idle", p.Stats().Idle, 5)
		block(t, p, 8).open()
		p.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		equal(t, "workers after the idle timeout", p.Stats().Workers, 0)
		weir.New(8, weir.Prestart(8)).Close()
		weir.New(8, weir.Prestart(0)).Close()
	})
}

func TestStatsAreExactAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(3, weir.Queue(4), weir.OnPanic(func(*weir.Panic) {}))
		want := weir.Stats{Limit: 3}
		check := func(when string) {
			t.Helper()
			synctest.Wait()
			equal(t, when, p.Stats(), want)
		}
		check("new")

		for _, task := range []func(){nothing, explode, runtime.Goexit} {
			ok(t, p.Submit(task))
			p.Wait()
		}
		want.Accepted, want.Finished, want.Panicked = 3, 3, 1
		want.Workers, want.Idle = 1, 1
		check("after three, one after the other")

		v := block(t, p, 3)
		for range 4 {
			ok(t, p.Submit(v.task))
		}
		wantError(t, p.TrySubmit(nothing), weir.ErrFull)
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go func() { wantError(t, p.SubmitContext(ctx, nothing), context.Canceled) }()
		}
		want.Accepted, want.Rejected = 10, 1
		want.Workers, want.Idle, want.Running, want.Queued, want.Waiting = 3, 0, 3, 4, 2
		check("full, with two waiting")

		cancel()
		want.Waiting, want.Rejected = 0, 3
		check("when they have left")
		wantError(t, p.SubmitContext(ctx, nothing), context.Canceled)
		want.Rejected = 4
		check("when one came too late")

		v.letOne()
		want.Queued, want.Finished = 3, 4
		check("when one has finished")

		unrun, err := p.Shutdown(ctx)
		wantError(t, err, context.Canceled)
		equal(t, "handed back", len(unrun), 3)
		want.Queued, want.HandedBack = 0, 3
		check("after Shutdown")
		v.open()
		p.Close()
		wantError(t, p.Submit(nothing), weir.ErrClosed)
		want.Rejected, want.Finished, want.Running, want.Workers = 5, 7, 0, 0
		check("after Close")
		equal(t, "accepted", want.Accepted, want.Finished+uint64(want.Queued)+want.HandedBack)
	})
	t.Run("after a storm", func(t *testing.T) {
		for _, queue := range []int{0, 1, 33, weir.Unbounded} {
			p := weir.New(4, weir.Queue(queue))
			var accepted, rejected atomic.Uint64
			var producing sync.WaitGroup
			for range 3 {
				producing.Go(func() {
					for range 2000 {
						if p.TrySubmit(nothing) == nil {
							accepted.Add(1)
						} else {
							rejected.Add(1)
						}
						p.Stats()
					}
				})
			}
			producing.Wait()
			p.Wait()
			got := p.Stats()
			equal(t, "accepted", got.Accepted, accepted.Load())
			equal(t, "finished", got.Finished, accepted.Load())
			equal(t, "rejected", got.Rejected, rejected.Load())
			equal(t, "running", got.Running, 0)
			equal(t, "queued", got.Queued, 0)
			p.Close()
		}
	})
}

func TestWaitEndsWithTheTasksOfBeforeTheCall(t *testing.T) {
	for _, queue := range []int{1, 8, 1024, weir.Unbounded} {
		bubble(t, "queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			early, late := block(t, p, 1), newValve()
			waits := make(chan int, 3)
			wait := func(n int) {
				go func() {
					p.Wait()
					waits <- n
				}()
				synctest.Wait()
			}
			wait(1)
			ok(t, p.Submit(late.task)) // blocks until the first Wait has returned
			synctest.Wait()
			equal(t, "late tasks that run", late.running(), 1)
			early.open()
			equal(t, "Wait that returned", <-waits, 1)
			wait(2)
			ok(t, p.Submit(nothing))
			synctest.Wait()
			equal(t, "Waits that returned while a task of before runs", len(waits), 0)
			late.open()
			equal(t, "Wait that returned", <-waits, 2)
			wait(3)
			equal(t, "Wait that returned", <-waits, 3)
			p.Close()
		})
	}
	bubble(t, "many at once, some of which leave", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		var returned, left atomic.Int32
		v := newValve()
		ctx, cancel := context.WithCancel(t.Context())
		for range 10 {
			ok(t, p.Submit(v.task))
			go func() {
				p.Wait()
				returned.Add(1)
			}()
			go func() {
				wantError(t, p.WaitContext(ctx), context.Canceled)
				left.Add(1)
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		equal(t, "left", left.Load(), 10)
		equal(t, "returned", returned.Load(), 0)
		for range 8 {
			v.letOne()
			synctest.Wait()
		}
		// Two are left, the last ones or not: the waits of before may be over.
		if n := returned.Load(); n > 9 {
			t.Errorf("%d Waits returned while two tasks run", n)
		}
		v.open()
		synctest.Wait()
		equal(t, "returned", returned.Load(), 10)
	})
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("never too early/queue="+queueName(queue), func(t *testing.T) {
			within(time.Minute, func() {
				// Each producer counts its own tasks, and sees them all done after each
				// Wait, whatever the others do.
				p := weir.New(3, weir.Queue(queue), weir.IdleTimeout(time.Microsecond), weir.OnPanic(func(*weir.Panic) {}))
				var producing sync.WaitGroup
				for producer := range 4 {
					dice := rand.New(rand.NewPCG(uint64(producer), 5))
					producing.Go(func() {
						var done atomic.Int64
						for submitted := int64(0); submitted < int64(scale(20_000, 2_000)); {
							for range 1 + dice.IntN(5) {
								submitted++
								n := submitted
								ok(t, p.Submit(func() {
									done.Add(1)
									switch n % 50 {
									case 7:
										panic(n)
									case 13:
										runtime.Goexit()
									case 20, 40:
										runtime.Gosched()
									}
								}))
							}
							if dice.IntN(4) == 0 {
								ctx, cancel := context.WithCancel(context.Background())
								cancel()
								_ = p.WaitContext(ctx) // leaves, or not
							}
							p.Wait()
							equal(t, "done after Wait", done.Load(), submitted)
						}
					})
				}
				producing.Wait()
				p.Close()
			})
		})
	}
}

func TestShutdownHandsBackInOrder(t *testing.T) {
	for _, queue := range []int{1, 5, 40, weir.Unbounded} {
		bubble(t, "queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			v := block(t, p, 2)
			var order []int
			n := min(queue, 1000)
			for i := range n {
				ok(t, p.Submit(func() { order = append(order, i) }))
			}
			waiting := make(chan error, 1)
			if queue != weir.Unbounded {
				go func() { waiting <- p.Submit(nothing) }()
			} else {
				waiting <- weir.ErrClosed
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errBoom)
			defer cancel()
			begin := time.Now()
			unrun, err := p.Shutdown(ctx)
			wantError(t, err, errBoom)
			equal(t, "after", time.Since(begin), time.Minute)
			wantError(t, <-waiting, weir.ErrClosed)
			equal(t, "handed back", len(unrun), n)
			equal(t, "tasks that run are left alone", v.running(), 2)
			for _, task := range unrun {
				task()
			}
			equal(t, "in order", slices.IsSorted(order), true)
			equal(t, "each once", len(slices.Compact(order)), n)
			unrun, err = p.Shutdown(ctx)
			equal(t, "handed back again", len(unrun), 0)
			wantError(t, err, errBoom)
			v.open()
			p.Close()
			unrun, err = p.Shutdown(t.Context())
			ok(t, err)
			equal(t, "handed back after Close", len(unrun), 0)
		})
	}
	bubble(t, "nothing, when all has run in time", func(t *testing.T) {
		p := weir.New(2)
		for range 10 {
			ok(t, p.Submit(func() { time.Sleep(time.Second) }))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		unrun, err := p.Shutdown(ctx)
		ok(t, err)
		equal(t, "handed back", len(unrun), 0)
		equal(t, "finished", p.Stats().Finished, 10)
	})
	bubble(t, "members of a group go back to the group", func(t *testing.T) {
		p := weir.New(2)
		v := block(t, p, 2)
		fresh, failing := p.Group(t.Context(), weir.KeepGoing()), p.Group(t.Context())
		started := func(context.Context) error { t.Error("started"); return nil }
		plain := 0
		for range 3 {
			fresh.Go(started)
			ok(t, p.Submit(func() { plain++ }))
			failing.Go(started)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		unrun, err := p.Shutdown(ctx)
		wantError(t, err, context.Canceled)
		equal(t, "plain tasks handed back", len(unrun), 3)
		for _, task := range unrun {
			task()
		}
		equal(t, "plain tasks", plain, 3)
		err = fresh.Wait()
		wantError(t, err, weir.ErrClosed)
		for i := range 3 {
			if text := fmt.Sprintf("task %d: %v", i, weir.ErrClosed); !strings.Contains(err.Error(), text) {
				t.Errorf("%q is not in %q", text, err)
			}
		}
		wantError(t, failing.Wait(), weir.ErrClosed)
		v.open()
		p.Close()
	})
}

func TestAnUnboundedQueueGivesMemoryBack(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what has finalizers, or was in a sync.Pool
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	p := weir.New(2, weir.Queue(weir.Unbounded))
	defer p.Close()
	for range 2 {
		before := heap()
		v := newValve()
		for range 1_000_000 {
			ok(t, p.Submit(v.task))
		}
		queued := heap()
		if queued < before+8_000_000 {
			t.Errorf("a queue of a million tasks takes %d bytes only: this test measures nothing", queued-before)
		}
		v.open()
		p.Wait()
		if after := heap(); after > before+1<<19 {
			t.Errorf("%d bytes before a million tasks were queued, %d while, %d when they had run", before, queued, after)
		}
	}
}

func TestAPoolThatIsDroppedIsCollected(t *testing.T) {
	dropped := make(chan weak.Pointer[weir.Pool], 1)
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		block(t, p, 4).open()
		p.Wait()
		dropped <- weak.Make(p)
		time.Sleep(time.Hour)
	})
	gone := <-dropped
	if !tries(100, func() bool { runtime.GC(); return gone.Value() == nil }) {
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
				ok(t, p.Submit(func() { big[0]++ }))
			}
			p.Wait()
			// The last task of each worker may be held until it rests.
			eventually(t, "the workers rest", func() bool { s := p.Stats(); return s.Idle == s.Workers })
			for i := range gone {
				if !tries(10, func() bool { runtime.GC(); return gone[i].Value() == nil }) {
					t.Errorf("what task %d used is still there", i)
				}
			}
		})
	}
}

func TestALimitOfAMillionAndNone(t *testing.T) {
	for _, limit := range []int{1_000_000, weir.Unbounded} {
		bubble(t, queueName(limit), func(t *testing.T) {
			p := weir.New(limit, weir.Queue(0))
			block(t, p, 5_000).open()
			p.Wait()
			equal(t, "limit", p.Stats().Limit, limit)
			p.Resize(limit)
			p.Close()
		})
	}
}

func TestSubmitContextWithADoneContextIsRefused(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errBoom)
	for range 10 {
		err := p.SubmitContext(ctx, func() { t.Error("ran") })
		wantError(t, err, errBoom)
		equal(t, "the cause itself", errors.Is(err, context.Canceled), false)
	}
	equal(t, "rejected", p.Stats().Rejected, 10)
	ok(t, p.SubmitContext(context.Background(), nothing))
}

func TestAContextHasNoInfluenceOnceTheTaskIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ran := false
		ok(t, p.SubmitContext(ctx, func() { ran = true }))
		cancel()
		v.open()
		p.Close()
		equal(t, "ran", ran, true)
	})
}

func TestDefaultIsOnePool(t *testing.T) {
	equal(t, "the same each time", weir.Default(), weir.Default())
	equal(t, "limit", weir.Default().Stats().Limit, 10_000)
}
