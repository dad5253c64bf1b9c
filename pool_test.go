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
	"github.com/64ed045f/weir/internal/check"
)

func TestTrySubmitAcceptsExactlyLimitAndQueueBlockedTasks(t *testing.T) {
	for _, limit := range []int{1, 3, 64} {
		for _, queue := range []int{0, 1, 2, 3, 7, 31, 32, 33, 100, 1024, check.Scale(5000, 1100)} {
			check.Bubble(t, fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				p := weir.New(limit, weir.Queue(queue))
				defer p.Close()
				// Round 0 meets no worker, rounds 1 to 3 idle ones, round 4 none again.
				for round := range 5 {
					if round == 4 {
						time.Sleep(time.Hour)
					}
					v := check.NewValve()
					accepted := 0
					for p.TrySubmit(v.Hold) == nil {
						accepted++
					}
					check.Equal(t, fmt.Sprintf("accepted in round %d", round), accepted, limit+queue)
					check.Error(t, p.TrySubmit(v.Hold), weir.ErrFull)
					synctest.Wait()
					check.Equal(t, "running", v.Running(), limit)
					check.Error(t, p.TrySubmit(v.Hold), weir.ErrFull)
					// One task ends, one starts, and no more.
					for range 3 {
						v.LetOne()
						synctest.Wait()
						check.OK(t, p.TrySubmit(v.Hold))
						check.Error(t, p.TrySubmit(v.Hold), weir.ErrFull)
					}
					v.Open()
					p.Wait()
					check.Equal(t, "ran", int(v.Ended.Load()), limit+queue+3)
				}
			})
		}
		check.Bubble(t, fmt.Sprintf("limit=%d/queue=unbounded", limit), func(t *testing.T) {
			tasks := check.Scale(100_000, 3_000)
			p := weir.New(limit, weir.Queue(weir.Unbounded))
			v := check.NewValve()
			for range tasks {
				check.OK(t, p.TrySubmit(v.Hold))
			}
			synctest.Wait()
			check.Equal(t, "running", v.Running(), limit)
			check.Equal(t, "queued", p.Stats().Queued, tasks-limit)
			v.Open()
			p.Close()
			check.Equal(t, "ran", int(v.Ended.Load()), tasks)
		})
	}
}

func TestQueueZeroHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		v := block(t, p, 2)
		check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
		check.Equal(t, "queued", p.Stats().Queued, 0)
		var accepted atomic.Bool
		go func() {
			check.OK(t, p.Submit(v.Hold))
			accepted.Store(true)
		}()
		synctest.Wait()
		check.Equal(t, "accepted while all workers are busy", accepted.Load(), false)
		v.LetOne()
		synctest.Wait()
		check.Equal(t, "accepted when one is free", accepted.Load(), true)
		check.Equal(t, "started", v.Started.Load(), 3)
		v.Open()
	})
	check.Bubble(t, "a paused pool has no free worker", func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		p.Pause()
		check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
		var ran atomic.Bool
		go func() { check.OK(t, p.Submit(func() { ran.Store(true) })) }()
		synctest.Wait()
		check.Equal(t, "ran while paused", ran.Load(), false)
		p.Resume()
		synctest.Wait()
		check.Equal(t, "ran", ran.Load(), true)
	})
}

func TestMaxWaitingBoundsTheSubmittersThatWait(t *testing.T) {
	for _, most := range []int{0, 1, 3} {
		check.Bubble(t, fmt.Sprint(most), func(t *testing.T) {
			p := weir.New(1, weir.Queue(1), weir.MaxWaiting(most))
			v := block(t, p, 1)
			check.OK(t, p.Submit(v.Hold))
			var accepted sync.WaitGroup
			for range most {
				accepted.Go(func() { check.OK(t, p.Submit(v.Hold)) })
			}
			synctest.Wait()
			check.Equal(t, "waiting", p.Stats().Waiting, most)
			check.Error(t, p.Submit(v.Hold), weir.ErrFull)
			check.Error(t, p.SubmitContext(t.Context(), v.Hold), weir.ErrFull)
			v.Open()
			accepted.Wait()
			p.Wait()
			check.OK(t, p.Submit(v.Hold))
			p.Close()
			check.Equal(t, "rejected", p.Stats().Rejected, 2)
			check.Equal(t, "ran", int(v.Ended.Load()), most+3)
		})
	}
}

func TestPauseStopsStartsAndNothingElse(t *testing.T) {
	check.Bubble(t, "tasks that run go on, accepted ones queue", func(t *testing.T) {
		p := weir.New(2, weir.Queue(3))
		defer p.Close()
		running := block(t, p, 1)
		p.Pause()
		p.Pause()
		v := check.NewValve()
		for range 3 {
			check.OK(t, p.Submit(v.Hold))
		}
		check.Error(t, p.TrySubmit(v.Hold), weir.ErrFull)
		waiting := make(chan error, 1)
		go func() { waiting <- p.Submit(v.Hold) }()
		synctest.Wait()
		running.Open()
		synctest.Wait()
		check.Equal(t, "ended while paused", running.Ended.Load(), 1)
		check.Equal(t, "started while paused", v.Started.Load(), 0)
		check.Equal(t, "queued", p.Stats().Queued, 3)
		check.Equal(t, "waiting", p.Stats().Waiting, 1)
		p.Resize(4) // a new limit does not end the pause
		synctest.Wait()
		check.Equal(t, "started while paused", v.Started.Load(), 0)
		p.Resume()
		synctest.Wait()
		check.Equal(t, "running after Resume", v.Running(), 4)
		check.OK(t, <-waiting)
		p.Resume()
		v.Open()
	})
	check.Bubble(t, "Wait waits for the paused", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		p.Pause()
		check.OK(t, p.Submit(nothing))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		check.Error(t, p.WaitContext(ctx), context.DeadlineExceeded)
		p.Resume()
		p.Wait()
	})
	for _, queue := range []int{1, 10, weir.Unbounded} {
		check.Bubble(t, "Close runs what was accepted/queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			p.Pause()
			n := min(queue, 1000)
			var ran atomic.Int32
			for range n {
				check.OK(t, p.Submit(func() { ran.Add(1) }))
			}
			p.Close()
			check.Equal(t, "ran", int(ran.Load()), n)
			p.Pause()
			p.Resume()
		})
	}
	for _, limit := range []int{1, 8} {
		check.Bubble(t, fmt.Sprintf("Shutdown at once starts nothing that was paused/limit=%d", limit), func(t *testing.T) {
			const tasks = 1000
			for range check.Scale(50, 20) {
				p := weir.New(limit, weir.Prestart(limit))
				p.Pause()
				for range tasks {
					check.OK(t, p.Submit(nothing))
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				unrun, err := p.Shutdown(ctx)
				check.Error(t, err, context.Canceled)
				check.Equal(t, "tasks handed back", len(unrun), tasks)
				p.Close()
				check.Equal(t, "tasks that ran", p.Stats().Finished, 0)
			}
		})
	}
}

func TestWaitEndsWithTheTasksOfBeforeTheCall(t *testing.T) {
	for _, queue := range []int{1, 8, 1024, weir.Unbounded} {
		check.Bubble(t, "queue="+queueName(queue), func(t *testing.T) {
			p := weir.New(2, weir.Queue(queue))
			early, late := block(t, p, 1), check.NewValve()
			waits := make(chan int, 3)
			wait := func(n int) {
				go func() {
					p.Wait()
					waits <- n
				}()
				synctest.Wait()
			}
			wait(1)
			check.OK(t, p.Submit(late.Hold)) // blocks until the first Wait has returned
			synctest.Wait()
			check.Equal(t, "late tasks that run", late.Running(), 1)
			early.Open()
			check.Equal(t, "Wait that returned", <-waits, 1)
			wait(2)
			check.OK(t, p.Submit(nothing))
			synctest.Wait()
			check.Equal(t, "Waits that returned while a task of before runs", len(waits), 0)
			late.Open()
			check.Equal(t, "Wait that returned", <-waits, 2)
			wait(3)
			check.Equal(t, "Wait that returned", <-waits, 3)
			p.Close()
		})
	}
	check.Bubble(t, "many at once, some of which leave", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		var returned, left atomic.Int32
		v := check.NewValve()
		ctx, cancel := context.WithCancel(t.Context())
		for range 10 {
			check.OK(t, p.Submit(v.Hold))
			go func() {
				p.Wait()
				returned.Add(1)
			}()
			go func() {
				check.Error(t, p.WaitContext(ctx), context.Canceled)
				left.Add(1)
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		check.Equal(t, "left", left.Load(), 10)
		check.Equal(t, "returned", returned.Load(), 0)
		for range 8 {
			v.LetOne()
			synctest.Wait()
		}
		// Two are left, the last ones or not: the waits of before may be over.
		if n := returned.Load(); n > 9 {
			t.Errorf("%d Waits returned while two tasks run", n)
		}
		v.Open()
		synctest.Wait()
		check.Equal(t, "returned", returned.Load(), 10)
	})
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("never too early/queue="+queueName(queue), func(t *testing.T) {
			check.Within(time.Minute, func() {
				// Each producer counts its own tasks, and sees them all done after each
				// Wait, no matter what the others do.
				p := weir.New(3, weir.Queue(queue), weir.IdleTimeout(time.Microsecond), weir.OnPanic(func(*weir.Panic) {}))
				var producing sync.WaitGroup
				for producer := range 4 {
					dice := rand.New(rand.NewPCG(uint64(producer), 5))
					producing.Go(func() {
						var done atomic.Int64
						for submitted := int64(0); submitted < int64(check.Scale(5_000, 1_000)); {
							for range 1 + dice.IntN(5) {
								submitted++
								n := submitted
								check.OK(t, p.Submit(func() {
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
							check.Equal(t, "done after Wait", done.Load(), submitted)
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
		check.Error(t, err, errBoom)
		check.Equal(t, "the cause itself", errors.Is(err, context.Canceled), false)
	}
	check.Equal(t, "rejected", p.Stats().Rejected, 10)
	check.OK(t, p.SubmitContext(context.Background(), nothing))
}

func TestAContextHasNoInfluenceOnceTheTaskIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		v := block(t, p, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ran := false
		check.OK(t, p.SubmitContext(ctx, func() { ran = true }))
		cancel()
		v.Open()
		p.Close()
		check.Equal(t, "ran", ran, true)
	})
}

func TestDefaultIsOnePool(t *testing.T) {
	check.Equal(t, "the same each time", weir.Default(), weir.Default())
	check.Equal(t, "limit", weir.Default().Stats().Limit, 10_000)
}
