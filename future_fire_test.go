package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestFuturesUnderStressAllResolve(t *testing.T) {
	// Each future resolves, and says what became of its task, in all that happens to
	// the pool and to the context.
	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("queue="+queueName(queue), func(t *testing.T) {
			check.Within(time.Minute, func() {
				for seed := range check.Scale(50, 10) {
					futuresUnderFire(t, queue, uint64(seed))
				}
			})
		})
	}
}

func futuresUnderFire(t *testing.T, queue int, seed uint64) {
	const makers, each = 3, 60
	p := weir.New(2, weir.Queue(queue), weir.IdleTimeout(time.Microsecond))
	var runs [makers * each]atomic.Int32
	var making, disturbing sync.WaitGroup
	errCause := errors.New("cause")
	for n := range makers {
		dice := rand.New(rand.NewPCG(seed, uint64(n)))
		making.Go(func() {
			for i := n * each; i < (n+1)*each; i++ {
				way := dice.IntN(8)
				ctx, cancel := context.WithCancelCause(context.Background())
				f := weir.Async(ctx, p, func(context.Context) (int, error) {
					runs[i].Add(1)
					switch way {
					case 0:
						panic(i)
					case 1:
						return exitWithResult(ctx)
					case 2:
						return i, errBoom
					}
					yield(way)
					return i, nil
				})
				turns, watch := dice.IntN(20), dice.IntN(2) == 0
				disturbing.Go(func() {
					yield(turns)
					if way == 7 {
						cancel(errCause)
					}
					if watch {
						<-f.Done()
					}
					value, err := f.Get(context.Background())
					checkFuture(t, i, way, int(runs[i].Load()), value, err, errCause)
					cancel(nil)
				})
			}
		})
	}
	turns := rand.New(rand.NewPCG(seed, 99)).IntN(300)
	disturbing.Go(func() {
		yield(turns)
		if seed%2 == 0 {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		unrun, _ := p.Shutdown(ctx)
		check.Equal(t, "handed back", len(unrun), 0)
	})
	making.Wait()
	disturbing.Wait()
	p.Close()
	s := p.Stats()
	check.Equal(t, fmt.Sprintf("seed %d: accounted for", seed), s.Finished+s.HandedBack, s.Accepted)
}

func checkFuture(t *testing.T, i, way, ran, value int, err, errCause error) {
	p, isPanic := errors.AsType[*weir.Panic](err)
	right := false
	switch {
	case ran > 1:
	case ran == 0:
		right = value == 0 && (errors.Is(err, weir.ErrClosed) || way == 7 && errors.Is(err, errCause))
	case way == 0:
		right = value == 0 && isPanic && p.Value == any(i)
	case way == 1:
		right = value == 0 && errors.Is(err, weir.ErrGoexit)
	case way == 2:
		right = value == i && errors.Is(err, errBoom)
	default:
		right = value == i && err == nil
	}
	if !right {
		t.Errorf("future %d, of kind %d, ran %d times, and gave %v and the error %v", i, way, ran, value, err)
	}
}
