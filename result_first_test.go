package weir_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestFirstTakesTheFirstSuccessAndEndsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		r := weir.NewResults[int](p.Group(t.Context(), weir.KeepGoing()))
		for range 3 {
			var ended atomic.Int32
			loser := func(ctx context.Context) (int, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				ended.Add(1)
				return 9, nil
			}
			begin := time.Now()
			r.Go(loser)
			r.Go(failsWith(1))
			r.Go(sleeper(2))
			r.Go(loser)
			r.Go(loser)
			value, err := r.First()
			check.OK(t, err)
			check.Equal(t, "value", value, 2)
			check.Equal(t, "losers that have ended", ended.Load(), 3)
			check.Equal(t, "after", time.Since(begin), 3*time.Second)
		}
	})
	check.Bubble(t, "that was there before", func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 4))
		r.Go(gives(1))
		r.Go(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 2, nil
		})
		synctest.Wait()
		value, err := r.First()
		check.OK(t, err)
		check.Equal(t, "value", value, 1)
	})
}

func TestFirstOfFailuresGivesAllErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 4, weir.KeepGoing(), weir.PanicsAsErrors())
		r := weir.NewResults[int](g)
		r.Go(func(context.Context) (int, error) { time.Sleep(time.Second); return 1, errBoom })
		r.Go(explodeWithResult)
		r.Go(exitWithResult)
		value, err := r.First()
		check.Equal(t, "value", value, 0)
		equalSlices(t, "failed", failedTasks(t, err), []int{0, 1, 2})
		check.Error(t, err, errBoom)
		check.Error(t, err, weir.ErrGoexit)
	})
	check.Bubble(t, "without KeepGoing the first of them", func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 4))
		r.Go(untilEnd)
		r.Go(failsWith(1))
		_, err := r.First()
		equalSlices(t, "failed", failedTasks(t, err), []int{1})
	})
	check.Bubble(t, "of a cancelled race the cause", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("cause")
		r := weir.NewResults[int](weir.NewGroup(ctx, 1, weir.KeepGoing()))
		r.Go(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, errBoom
		})
		r.Go(gives(1)) // never runs
		synctest.Wait()
		cancel(cause)
		_, err := r.First()
		check.Error(t, err, cause)
		check.Error(t, err, errBoom)
	})
}

func TestFirstPanicsAsATaskDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 4, weir.KeepGoing()))
		r.Go(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			panic(errBoom)
		})
		synctest.Wait()
		r.Go(gives(1))
		p, isPanic := check.Caught(func() { _, _ = r.First() }).(*weir.Panic)
		check.Equal(t, "panicked", isPanic, true)
		check.Error(t, p, errBoom)
		r.Go(gives(2))
		value, err := r.First()
		check.OK(t, err)
		check.Equal(t, "value", value, 2)
	})
}
