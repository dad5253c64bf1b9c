package weir_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
)

func TestTheDefaultsAreWhatTheirDocumentationSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		v := newValve()
		accepted := 0
		for p.TrySubmit(v.task) == nil {
			accepted++
		}
		equal(t, "accepted by limit and queue", accepted, 2+4096)
		const waiters = 3000
		for range waiters {
			go func() { ok(t, p.Submit(nothing)) }()
		}
		synctest.Wait()
		equal(t, "waiting without a bound", p.Stats().Waiting, waiters)
		v.open()
		p.Wait()
		synctest.Wait()
		equal(t, "workers before the idle timeout", p.Stats().Workers, 2)
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		equal(t, "workers just before the idle timeout", p.Stats().Workers, 2)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		equal(t, "workers after the idle timeout", p.Stats().Workers, 0)
		p.Close()
	})
}

func TestTheLastOfTwoOptionsCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(5), weir.Queue(0))
		v := block(t, p, 1)
		wantError(t, p.TrySubmit(nothing), weir.ErrFull)
		v.open()
		p.Close()
	})
}

func TestAnOptionMayServeManyPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := []weir.Option{weir.Queue(1), weir.IdleTimeout(time.Second)}
		p, q := weir.New(1, opts...), weir.NewFunc(2, func(func()) {}, opts...)
		equal(t, "limit", p.Stats().Limit, 1)
		equal(t, "limit", q.Stats().Limit, 2)
		block(t, p, 1).open()
		p.Close()
		ok(t, q.Invoke(nothing))
		q.Close()
	})
}
