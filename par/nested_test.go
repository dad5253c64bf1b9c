package par_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// inside runs f in a task of a pool, for pools of all kinds.
func inside(t *testing.T, f func(t *testing.T, ctx context.Context, p *weir.Pool)) {
	for name, p := range map[string]func() *weir.Pool{
		"limit 1":           func() *weir.Pool { return weir.New(1) },
		"limit 1, no queue": func() *weir.Pool { return weir.New(1, weir.Queue(0)) },
		"limit 3":           func() *weir.Pool { return weir.New(3, weir.Queue(1)) },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			p := p()
			defer p.Close()
			g := p.Group(t.Context())
			g.Go(func(ctx context.Context) error {
				f(t, ctx, p)
				return nil
			})
			check.OK(t, g.Wait())
		})
	}
}

func TestLoopsNestInATaskOfTheirPool(t *testing.T) {
	inside(t, func(t *testing.T, ctx context.Context, p *weir.Pool) {
		limit := int64(p.Stats().Limit)
		for kind := range 4 {
			var running check.Gauge
			var calls atomic.Int32
			var nest func(ctx context.Context, depth int) error
			nest = func(ctx context.Context, depth int) error {
				_, err := anyMap(ctx, kind, 5, func(ctx context.Context, i int) (int, error) {
					running.Enter()
					time.Sleep(time.Second)
					running.Leave()
					calls.Add(1)
					if depth == 0 {
						return 0, nil
					}
					return 0, nest(ctx, depth-1)
				}, par.On(p), par.Limit(3))
				return err
			}
			check.OK(t, nest(ctx, 2))
			check.Equal(t, "calls", calls.Load(), 5+25+125)
			if peak := running.Peak.Load(); peak > limit {
				t.Errorf("source %d: %d at once, the limit is %d", kind, peak, limit)
			}
		}
		got, err := par.Reduce(ctx, upTo(100), add, par.On(p))
		check.OK(t, err)
		check.Equal(t, "sum", got, 4950)
		numbers := upTo(20_000)
		slices.Reverse(numbers)
		par.Sort(numbers, par.On(p), par.Limit(4))
		check.Equal(t, "sorted", slices.IsSorted(numbers), true)
	})
}

// A task holds a lock over a stream on its own pool, and another task has begun that waits for the lock. The calls of each stage get the place of the
// first one, as the last stage waits for all of them.
func TestALockHeldOverAStreamOfStagesHangsNothing(t *testing.T) {
	double := func(_ context.Context, i int) (int, error) { return 2 * i, nil }
	for stages := 1; stages <= 4; stages++ {
		check.Bubble(t, fmt.Sprint(stages), func(t *testing.T) {
			p := weir.New(2)
			defer p.Close()
			lock := make(chan struct{}, 1) // a mutex at which a bubble sees a goroutine blocked
			held := make(chan struct{})
			check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
				lock <- struct{}{}
				defer func() { <-lock }()
				close(held)
				synctest.Wait() // the other task has begun, and waits for the lock
				pipeline := par.Pipe([]int{1, 2, 3}, double, par.On(p))
				for range stages - 1 {
					pipeline = par.Pipe(pipeline, double, par.On(p))
				}
				for _, err := range pipeline.All(ctx) {
					check.OK(t, err)
				}
				return nil
			}))
			check.OK(t, p.Go(t.Context(), func(context.Context) error {
				<-held
				lock <- struct{}{}
				<-lock
				return nil
			}))
			p.Wait()
		})
	}
}

func TestStreamsNestInATaskOfTheirPool(t *testing.T) {
	inside(t, func(t *testing.T, ctx context.Context, p *weir.Pool) {
		slow := func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Second)
			return i, nil
		}
		for kind := range 4 {
			for _, stages := range []int{1, 2, 3} {
				for _, unordered := range []bool{false, true} {
					opts := []par.StreamOption{par.On(p), par.Limit(3), par.Ahead(5)}
					if unordered {
						opts = append(opts, par.Unordered())
					}
					pipeline := anyPipe(kind, 50, slow, opts...)
					for range stages - 1 {
						pipeline = par.Pipe(pipeline, slow, opts...)
					}
					sum := 0
					for i, err := range pipeline.All(ctx) {
						check.OK(t, err)
						sum += i
						time.Sleep(time.Second) // keeps the place
					}
					check.Equal(t, "sum", sum, 49*50/2)
					for i, err := range pipeline.All(ctx) {
						if check.OK(t, err); unordered || i == 10 {
							break
						}
					}
				}
			}
		}
	})
}

// The end of the source wakes a consumer only if no result is left to come: on waking, a consumer whose place is in use
// would go on in an extra place, and lend that to another call.
func TestStreamsInATaskKeepTheLimitOfItsPool(t *testing.T) {
	for _, limit := range []int{1, 3} {
		check.Bubble(t, fmt.Sprint(limit), func(t *testing.T) {
			p := weir.New(limit)
			defer p.Close()
			var running check.Gauge
			slow := func(_ context.Context, i int) (int, error) {
				running.Enter()
				defer running.Leave()
				time.Sleep(time.Second)
				return i, nil
			}
			check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
				for kind := range 4 {
					pipeline := anyPipe(kind, 8, slow, par.On(p), par.Limit(4))
					for range 2 {
						for _, err := range pipeline.All(ctx) {
							check.OK(t, err)
						}
						pipeline = par.Pipe(pipeline, slow, par.On(p), par.Limit(4))
					}
				}
				return nil
			}))
			check.Equal(t, "calls at once", running.Peak.Load(), int64(limit))
		})
	}
}
