package weir_test

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestFuncPoolCallsItsFunctionOnceWithEachArgument(t *testing.T) {
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("queue="+queueName(queue), func(t *testing.T) {
			const n = 1000
			var calls [3 * n]atomic.Int32
			p := weir.NewFunc(4, func(i int) { calls[i].Add(1) }, weir.Queue(queue))
			ctx := context.Background()
			for i := range n {
				check.OK(t, p.Invoke(3*i))
				check.OK(t, p.InvokeContext(ctx, 3*i+1))
				if p.TryInvoke(3*i+2) != nil {
					calls[3*i+2].Add(1) // never to be called with it
				}
			}
			p.Wait()
			for i := range calls {
				check.Equal(t, "calls", calls[i].Load(), 1)
			}
			p.Close()
			check.Error(t, p.Invoke(0), weir.ErrClosed)
			check.Error(t, p.InvokeContext(ctx, 0), weir.ErrClosed)
			check.Error(t, p.TryInvoke(0), weir.ErrClosed)
		})
	}
}

func TestFuncPoolTakesArgumentsOfAnyType(t *testing.T) {
	type large struct{ words [20]int }
	sum := 0
	values := weir.NewFunc(1, func(l large) { sum += l.words[19] })
	for i := range 10 {
		check.OK(t, values.Invoke(large{[20]int{19: i}}))
	}
	values.Close()
	check.Equal(t, "sum", sum, 45)

	empty := 0
	nothings := weir.NewFunc(1, func(struct{}) { empty++ })
	for range 10 {
		check.OK(t, nothings.Invoke(struct{}{}))
	}
	nothings.Close()
	check.Equal(t, "empty", empty, 10)

	var nils int
	pointers := weir.NewFunc(1, func(p *int) {
		if p == nil {
			nils++
		}
	})
	check.OK(t, pointers.Invoke(nil))
	pointers.Close()
	check.Equal(t, "nil is an argument like others", nils, 1)
}

func TestFuncPoolHandsArgumentsBackInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		p := weir.NewFunc(2, func(int) { v.Hold() })
		for i := range 10 {
			check.OK(t, p.Invoke(i))
		}
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errBoom)
		unrun, err := p.Shutdown(ctx)
		check.Error(t, err, errBoom)
		check.Equal(t, "arguments 2 to 9", slices.Equal(unrun, []int{2, 3, 4, 5, 6, 7, 8, 9}), true)
		check.Equal(t, "handed back", p.Stats().HandedBack, 8)
		v.Open()
		p.Close()
	})
}

func TestFuncPoolWaitsForRoomAsPoolDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		p := weir.NewFunc(1, func(int) { v.Hold() }, weir.Queue(1))
		check.OK(t, p.Invoke(1))
		check.OK(t, p.Invoke(2))
		check.Error(t, p.TryInvoke(3), weir.ErrFull)
		ctx, cancel := context.WithCancelCause(t.Context())
		left, came := make(chan error, 1), make(chan error, 1)
		go func() { left <- p.InvokeContext(ctx, 4) }()
		go func() { came <- p.Invoke(5) }()
		synctest.Wait()
		cancel(errBoom)
		check.Error(t, <-left, errBoom)
		v.Open()
		check.OK(t, <-came)
		p.Close()
		check.Equal(t, "ran", v.Ended.Load(), 3)
	})
}

func TestFuncPoolReportsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values []any
		p := weir.NewFunc(1, func(i int) {
			if i == 2 {
				runtime.Goexit()
			}
			panic(i)
		}, weir.OnPanic(func(p *weir.Panic) { values = append(values, p.Value) }), weir.Name("numbers"))
		for i := range 4 {
			check.OK(t, p.Invoke(i))
		}
		p.Close()
		check.Equal(t, "values", slices.Equal(values, []any{0, 1, 3}), true)
		check.Equal(t, "panicked", p.Stats().Panicked, 3)
		check.Equal(t, "finished", p.Stats().Finished, 4)
	})
}
