package weir_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestStatsAreExactAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(3, weir.Queue(4), weir.OnPanic(func(*weir.Panic) {}))
		want := weir.Stats{Limit: 3}
		verify := func(when string) {
			t.Helper()
			synctest.Wait()
			check.Equal(t, when, p.Stats(), want)
		}
		verify("new")

		for _, task := range []func(){nothing, explode, runtime.Goexit} {
			check.OK(t, p.Submit(task))
			p.Wait()
		}
		want.Accepted, want.Finished, want.Panicked = 3, 3, 1
		want.Workers, want.Idle = 1, 1
		verify("after three, one after the other")

		v := block(t, p, 3)
		for range 4 {
			check.OK(t, p.Submit(v.Hold))
		}
		check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go func() { check.Error(t, p.SubmitContext(ctx, nothing), context.Canceled) }()
		}
		want.Accepted, want.Rejected = 10, 1
		want.Workers, want.Idle, want.Running, want.Queued, want.Waiting = 3, 0, 3, 4, 2
		verify("full, with two waiting")

		cancel()
		want.Waiting, want.Rejected = 0, 3
		verify("when they have left")
		check.Error(t, p.SubmitContext(ctx, nothing), context.Canceled)
		want.Rejected = 4
		verify("when one came too late")

		v.LetOne()
		want.Queued, want.Finished = 3, 4
		verify("when one has finished")

		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, context.Canceled)
		check.Equal(t, "handed back", len(unrun), 3)
		want.Queued, want.HandedBack, want.Closed = 0, 3, true
		verify("after Shutdown")
		v.Open()
		p.Close()
		check.Error(t, p.Submit(nothing), weir.ErrClosed)
		want.Rejected, want.Finished, want.Running, want.Workers = 5, 7, 0, 0
		verify("after Close")
		check.Equal(t, "accepted", want.Accepted, want.Finished+uint64(want.Queued)+want.HandedBack)
	})
	t.Run("after a burst", func(t *testing.T) {
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
			check.Equal(t, "accepted", got.Accepted, accepted.Load())
			check.Equal(t, "finished", got.Finished, accepted.Load())
			check.Equal(t, "rejected", got.Rejected, rejected.Load())
			check.Equal(t, "running", got.Running, 0)
			check.Equal(t, "queued", got.Queued, 0)
			p.Close()
		}
	})
}
