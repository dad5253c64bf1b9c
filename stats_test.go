package weir_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
)

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
