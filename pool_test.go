package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
)

func TestTrySubmitAcceptsExactlyLimitAndQueueBlockedTasks(t *testing.T) {
	for _, limit := range []int{1, 3, 64} {
		for _, queue := range []int{0, 1, 2, 3, 7, 31, 32, 33, 100, 1024, scale(5000, 1500)} {
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
			tasks := scale(100_000, 10_000)
			p := weir.New(limit, weir.Queue(weir.Unbounded))
			v := newValve()
			for range tasks {
				ok(t, p.TrySubmit(v.task))
			}
			synctest.Wait()
			equal(t, "running", v.running(), limit)
			equal(t, "queued", p.Stats().Queued, tasks-limit)
			v.open()
			p.Close()
			equal(t, "ran", int(v.ended.Load()), tasks)
		})
	}
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
		if len(unrun) > 0 { // else the task had been taken, and perhaps not finished
			wantError(t, err, context.Canceled)
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
						for submitted := int64(0); submitted < int64(scale(20_000, 1_000)); {
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
