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
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestStatefulUnderStressLosesNothing(t *testing.T) {
	for _, limit := range []int{1, 3} {
		for _, queue := range []int{0, 2, 64} {
			t.Run(fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				check.Within(time.Minute, func() { stressStateful(t, limit, queue) })
			})
		}
	}
}

func stressStateful(t *testing.T, limit, queue int) {
	const clients = 4
	each := check.Scale(2000, 200)
	s := shop{t: t}
	var opens, used, refused, panicked atomic.Int64
	p := weir.NewStateful(limit, func() (*handle, error) {
		if opens.Add(1)%5 == 0 {
			return nil, errBoom
		}
		return s.take()
	}, (*handle).use, s.giveBack, weir.Queue(queue), weir.IdleTimeout(time.Microsecond),
		weir.OnOpenError(func(*weir.OpenError) { refused.Add(1) }),
		weir.OnPanic(func(*weir.Panic) { panicked.Add(1) }))
	var all sync.WaitGroup
	for range clients {
		dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
		all.Go(func() {
			for range each {
				task := func() { used.Add(1) }
				fault := dice.IntN(20)
				if fault == 0 {
					task = func() { used.Add(1); explode() }
				}
				if dice.IntN(2) == 0 {
					check.OK(t, p.Invoke(task))
					continue
				}
				err := p.Call(context.Background(), task)
				_, unopened := errors.AsType[*weir.OpenError](err)
				switch {
				case unopened:
					refused.Add(1)
				case fault == 0:
					check.Error(t, err, errBoom)
					panicked.Add(1)
				default:
					check.OK(t, err)
				}
			}
		})
	}
	all.Wait()
	p.Close()
	s.empty()
	check.Equal(t, "used or refused", used.Load()+refused.Load(), int64(clients*each))
	check.Equal(t, "panics", int64(p.Stats().Panicked), panicked.Load())
	check.Equal(t, "handed back", int64(p.Stats().HandedBack), refused.Load())
	if peak := s.open.Peak.Load(); peak > int64(limit) {
		t.Errorf("%d values at once, limit %d", peak, limit)
	}
}

func BenchmarkStateful(b *testing.B) {
	open := func() (int, error) { return 0, nil }
	b.Run("Invoke", func(b *testing.B) {
		p := weir.NewStateful(64, open, func(int, int) {}, nil)
		defer p.Close()
		b.ReportAllocs()
		for b.Loop() {
			check.OK(b, p.Invoke(0))
		}
	})
	b.Run("FuncPool", func(b *testing.B) {
		p := weir.NewFunc(64, func(int) {})
		defer p.Close()
		b.ReportAllocs()
		for b.Loop() {
			check.OK(b, p.Invoke(0))
		}
	})
	b.Run("Call", func(b *testing.B) {
		p := weir.NewStateful(64, open, func(int, int) {}, nil)
		defer p.Close()
		b.ReportAllocs()
		for b.Loop() {
			check.OK(b, p.Call(context.Background(), 0))
		}
	})
}

// Of two calls of Resize at once, the same one must set the limit and how many values may be open.
func TestStatefulIsResizedByOneCallAtATime(t *testing.T) {
	p := weir.NewStateful(2, func() (int, error) { return 0, nil }, func(_ int, meet func()) { meet() }, nil, weir.IdleTimeout(0))
	defer p.Close()
	for range check.Scale(30_000, 2000) {
		var resizing sync.WaitGroup
		var ready atomic.Int32
		for limit := range 2 {
			resizing.Go(func() {
				for ready.Add(1); ready.Load() < 2; {
					runtime.Gosched() // both begin together
				}
				p.Resize(1 + limit)
			})
		}
		resizing.Wait()
		var met sync.WaitGroup
		limit := p.Stats().Limit
		met.Add(limit)
		for range limit {
			check.OK(t, p.Invoke(func() { met.Done(); met.Wait() }))
		}
		check.Within(time.Minute, met.Wait)
	}
}
