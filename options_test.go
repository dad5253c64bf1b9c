package weir_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestTheDefaultsAreWhatTheirDocumentationSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		v := check.NewValve()
		accepted := 0
		for p.TrySubmit(v.Hold) == nil {
			accepted++
		}
		check.Equal(t, "accepted by limit and queue", accepted, 2+4096)
		const waiters = 3000
		for range waiters {
			go func() { check.OK(t, p.Submit(nothing)) }()
		}
		synctest.Wait()
		check.Equal(t, "waiting without a bound", p.Stats().Waiting, waiters)
		v.Open()
		p.Wait()
		synctest.Wait()
		check.Equal(t, "workers before the idle timeout", p.Stats().Workers, 2)
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		check.Equal(t, "workers just before the idle timeout", p.Stats().Workers, 2)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		check.Equal(t, "workers after the idle timeout", p.Stats().Workers, 0)
		p.Close()
	})
}

func TestTheLastOfTwoOptionsCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(5), weir.Queue(0))
		v := block(t, p, 1)
		check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
		v.Open()
		p.Close()
	})
}

func TestAnOptionMayServeManyPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := []weir.Option{weir.Queue(1), weir.IdleTimeout(time.Second)}
		p, q := weir.New(1, opts...), weir.NewFunc(2, func(func()) {}, opts...)
		check.Equal(t, "limit", p.Stats().Limit, 1)
		check.Equal(t, "limit", q.Stats().Limit, 2)
		block(t, p, 1).Open()
		p.Close()
		check.OK(t, q.Invoke(nothing))
		q.Close()
	})
}
