package par_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

// No call begins behind one that has failed, even before the consumer has come to it.
func TestNothingBeginsBehindAnError(t *testing.T) {
	for kind := range 4 {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			fn := func(_ context.Context, i int) (int, error) {
				calls.Add(1)
				if i == 1 {
					return 0, errBoom
				}
				return 0, nil
			}
			for _, err := range anyStream(t.Context(), kind, 10, fn, par.Limit(1), par.Ahead(5)) {
				synctest.Wait()
				equal(t, "calls", calls.Load(), 2)
				if err != nil {
					wantError(t, err, errBoom)
				}
			}
		})
	}
}

// What the consumer has dropped is not kept alive by the stream.
func TestAStreamKeepsNothingAlive(t *testing.T) {
	type box struct{ _ [64]byte }
	const n = 20 // fewer than a stream has places for
	for _, unordered := range []bool{false, true} {
		var items [n]weak.Pointer[box]
		source := func(yield func(*box) bool) {
			for i := range n {
				b := new(box)
				items[i] = weak.Make(b)
				if !yield(b) {
					return
				}
			}
		}
		opts := []par.StreamOption{par.Ahead(2 * n)}
		if unordered {
			opts = append(opts, par.Unordered())
		}
		taken := 0
		for _, err := range par.Stream(t.Context(), source, func(_ context.Context, b *box) (*box, error) { return b, nil }, opts...) {
			ok(t, err)
			if taken++; taken == n-4 {
				runtime.GC()
				runtime.GC()
				alive := 0
				for i := range taken - 1 {
					if items[i].Value() != nil {
						alive++
					}
				}
				equal(t, "alive", alive, 0)
			}
		}
	}
}

// In a pool that had no room a helper comes alone, so that its first result is not held
// up by others.
func TestTheFirstResultFromAPausedPoolIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		p.Pause()
		time.AfterFunc(time.Second, p.Resume)
		begin := time.Now()
		for i, err := range par.Stream(t.Context(), upTo(3), func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Second)
			if i > 0 {
				time.Sleep(time.Minute)
			}
			return i, nil
		}, par.On(p), par.Limit(2)) {
			ok(t, err)
			if i == 0 {
				equal(t, "first result after", time.Since(begin), 2*time.Second)
			}
		}
	})
}
