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

func TestPromise01AcceptedTasksRunOnceOrAreHandedBackAndRejectedOnesNeverRun(t *testing.T) {
	for _, kind := range surfaces {
		for _, queue := range []int{0, 1, 3, 64, weir.Unbounded} {
			for _, limit := range []int{1, 2, 8} {
				t.Run(fmt.Sprintf("%s/limit=%d/queue=%s", kind.name, limit, queueName(queue)), func(t *testing.T) {
					check.Within(time.Minute, func() {
						for seed := range check.Scale(8, 2) {
							everyTaskOnce(t, kind.make, limit, queue, uint64(seed))
						}
					})
				})
			}
		}
	}
}

// everyTaskOnce does all that can be done to a pool at once, closes it in one
// way or another, and checks what became of each task.
func everyTaskOnce(t *testing.T, newPool func(int, func(int), ...weir.Option) surface, limit, queue int, seed uint64) {
	const producers, each = 4, 80
	runs := make([]atomic.Int32, producers*each)
	accepted := make([]bool, producers*each)
	run := func(i int) {
		runs[i].Add(1)
		switch i % 8 {
		case 3:
			panic(i)
		case 5:
			runtime.Goexit()
		case 6:
			runtime.Gosched()
		}
	}
	dice := rand.New(rand.NewPCG(seed, 0))
	opts := []weir.Option{
		weir.Queue(queue),
		weir.OnPanic(func(*weir.Panic) {}),
		weir.IdleTimeout([]time.Duration{0, time.Microsecond, time.Hour}[dice.IntN(3)]),
	}
	if dice.IntN(2) == 0 {
		opts = append(opts, weir.MaxWaiting(1))
	}
	p := newPool(limit, run, opts...)

	var producing, disturbing sync.WaitGroup
	for n := range producers {
		dice := rand.New(rand.NewPCG(seed, uint64(1+n)))
		producing.Go(func() {
			for i := n * each; i < (n+1)*each; i++ {
				var err error
				switch dice.IntN(4) {
				case 0:
					err = p.trySubmit(i)
				case 1:
					ctx, cancel := context.WithCancel(context.Background())
					turns := dice.IntN(6)
					producing.Go(func() {
						yield(turns)
						cancel()
					})
					err = p.submitContext(ctx, i)
				default:
					err = p.submit(i)
				}
				accepted[i] = err == nil
				if err != nil && !errors.Is(err, weir.ErrFull) && !errors.Is(err, weir.ErrClosed) && !errors.Is(err, context.Canceled) {
					t.Errorf("submission failed with %v", err)
				}
			}
		})
	}
	var stop atomic.Bool
	disturb := func(n uint64, f func(dice *rand.Rand)) {
		dice := rand.New(rand.NewPCG(seed, 100+n))
		disturbing.Go(func() {
			for !stop.Load() {
				f(dice)
				yield(dice.IntN(8))
			}
		})
	}
	disturb(0, func(dice *rand.Rand) { p.Resize(1 + dice.IntN(2*limit)) })
	for n := range uint64(2) {
		disturb(1+2*n, func(dice *rand.Rand) {
			p.Pause()
			yield(dice.IntN(8))
			p.Resume()
		})
	}
	disturb(2, func(dice *rand.Rand) {
		ctx, cancel := context.WithCancel(context.Background())
		disturbing.Go(cancel)
		_ = p.WaitContext(ctx) // either outcome is right here
		p.Stats()
	})

	if dice.IntN(2) == 0 {
		yield(dice.IntN(200)) // in the middle of it
	} else {
		producing.Wait()
	}
	var unrun []int
	if dice.IntN(3) == 0 {
		p.Close()
	} else {
		ctx, cancel := context.WithCancel(context.Background())
		turns := dice.IntN(20)
		disturbing.Go(func() {
			yield(turns)
			cancel()
		})
		unrun, _ = p.shutdown(ctx)
	}
	producing.Wait()
	stop.Store(true)
	disturbing.Wait()
	p.Close()

	handedBack := make([]int32, len(runs))
	for _, i := range unrun {
		handedBack[i]++
	}
	var want weir.Stats
	for i := range runs {
		ran, back := runs[i].Load(), handedBack[i]
		switch {
		case accepted[i] && ran+back != 1:
			t.Errorf("seed %d: task %d was accepted, ran %d times and was handed back %d times", seed, i, ran, back)
		case !accepted[i] && ran+back != 0:
			t.Errorf("seed %d: task %d was rejected, ran %d times and was handed back %d times", seed, i, ran, back)
		}
		if accepted[i] {
			want.Accepted++
		} else {
			want.Rejected++
		}
		if ran > 0 && i%8 == 3 {
			want.Panicked++
		}
	}
	want.HandedBack = uint64(len(unrun))
	want.Finished = want.Accepted - want.HandedBack
	got := p.Stats()
	want.Limit, want.Closed = got.Limit, true
	check.Equal(t, fmt.Sprintf("seed %d: stats", seed), got, want)
}
