package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// waitChain is a task that holds a lock while it waits for a task, which waits for another one, and so on, in one way after the other, on
// pools and lanes that are drawn.
type waitChain struct {
	links []waitLink
	cuts  []time.Duration // the time-outs of the links; 0 for none
}

// waitLink is one wait of a chain: one of the ways, and where the next task runs.
type waitLink struct {
	way int
	on  *weir.Pool
}

// A task holds a lock over its wait. Other tasks of the pool want the lock, and tasks of its lanes come back from Blocking meanwhile.
func TestALockHeldOverAnyChainOfWaitsHangsNothing(t *testing.T) {
	n := check.Size(100, 1000, 30000)
	if check.Race {
		n = 100
	}
	for seed := range uint64(n) {
		check.Bubble(t, fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 9))
			few := func() int { return 1 + r.IntN(2) }
			queue := func() weir.Option { return weir.Queue(r.IntN(3)) }
			p, q := weir.New(few(), queue()), weir.New(few(), queue())
			outer := p.Lane(few(), queue())
			family := []*weir.Pool{p, outer, outer.Lane(few(), queue()), p.Lane(few(), queue())}
			lock := make(chan struct{}, 1)
			c := drawChain(r, family, []*weir.Pool{q, q.Lane(1, queue())})
			begun, first := check.NewValve(), family[r.IntN(len(family))]
			go func() {
				check.OK(t, first.Do(context.Background(), func(ctx context.Context) error {
					lock <- struct{}{}
					begun.Hold()
					time.Sleep(10 * time.Second)
					err := c.run(ctx, len(c.links)-1)
					<-lock
					if slices.Max(c.cuts) > 0 {
						return nil
					}
					return err
				}))
			}()
			synctest.Wait()
			begun.Open()
			for range r.IntN(4) {
				on, rest := family[r.IntN(len(family))], time.Duration(1+r.IntN(30))*time.Second
				go func() {
					check.OK(t, on.Go(t.Context(), func(ctx context.Context) error {
						weir.Blocking(ctx, func() { time.Sleep(rest) })
						return nil
					}))
				}()
			}
			for range r.IntN(4) { // on p: in a lane they could take all its places
				go func() { check.OK(t, p.Submit(func() { lock <- struct{}{}; <-lock })) }()
			}
			time.Sleep(time.Hour)
			for _, pool := range []*weir.Pool{p, q} {
				hasItsPlaces(t, pool, pool.Stats().Limit)
				pool.Close()
			}
		})
	}
}

// drawChain draws a chain over the pool and the lanes of a family, and those of another one.
func drawChain(r *rand.Rand, family, others []*weir.Pool) *waitChain {
	n := 2 + r.IntN(5)
	c := &waitChain{links: make([]waitLink, n), cuts: make([]time.Duration, n)}
	cuts := r.IntN(2) == 0
	for i := range c.links {
		l := waitLink{r.IntN(ways), family[r.IntN(len(family))]}
		if l.way <= byDo && r.IntN(3) == 0 {
			l.on = others[r.IntN(len(others))]
		}
		c.links[i] = l
		if cuts && r.IntN(3) == 0 {
			c.cuts[i] = time.Duration(1+r.IntN(30)) * time.Second
		}
	}
	for i := n - 1; i >= 0; i-- { // the task with the lock must not call Blocking itself
		if l := &c.links[i]; l.way == byBlocking {
			l.way = byGroup
		}
		if l := c.links[i].way; l != byDo && l != byOthersFirst {
			break
		}
	}
	return c
}

const (
	byGroup = iota
	byDo
	byNewGroup
	byStream
	bySequence
	bySlice
	byResults
	byBlocking
	byOthersFirst // which are over before the next one begins
	byFuture
	byHedge
	byKeyed
	byOnce
	byRetry
	ways
)

// run waits for the rest of the chain, from link i on.
func (c *waitChain) run(ctx context.Context, i int) error {
	if i < 0 {
		time.Sleep(time.Second)
		return nil
	}
	if cut := c.cuts[i]; cut > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cut)
		defer cancel()
	}
	on := c.links[i].on
	next := func(ctx context.Context) error { return c.run(ctx, i-1) }
	valued := func(ctx context.Context) (int, error) { return 0, next(ctx) }
	short := func(ctx context.Context, _ int) (int, error) { return 0, c.run(ctx, min(i-1, 1)) } // where several wait for the rest
	switch c.links[i].way {
	case byGroup:
		return runIn(ctx, on, next)
	case byDo:
		return on.Do(ctx, next)
	case byNewGroup:
		g := weir.NewGroup(ctx, 1)
		g.Go(next)
		return g.Wait()
	case byStream:
		same := func(_ context.Context, i int) (int, error) { return i, nil }
		for _, err := range par.Stream(ctx, par.Pipe(slices.Values([]int{1, 2, 3}), same, par.On(on)), short, par.On(on)) {
			if err != nil {
				return err
			}
		}
		return nil
	case bySequence:
		return par.Each(ctx, slices.Values([]int{1, 2}), discard(short))
	case bySlice:
		return par.Each(ctx, []int{1, 2}, discard(short), par.On(on))
	case byResults:
		results := weir.NewResults[int](on.Group(ctx))
		results.Go(valued)
		for _, err := range results.All() {
			if err != nil {
				return err
			}
		}
		return nil
	case byBlocking:
		weir.Blocking(ctx, func() { time.Sleep(20 * time.Second) })
		return next(ctx)
	case byOthersFirst:
		none := func(context.Context) (int, error) { return 0, nil }
		_, once := weir.NewOnce[int, int](on).Do(ctx, 1, none)
		_, future := weir.Async(ctx, on, none).Get(ctx)
		return errors.Join(once, future, next(ctx))
	case byFuture:
		_, err := weir.Async(ctx, on, valued).Get(ctx)
		return err
	case byHedge:
		_, err := weir.Hedge(ctx, on, time.Second, valued, func(ctx context.Context) (int, error) { return short(ctx, 0) })
		return err
	case byKeyed:
		g := weir.NewKeyed[int](on, 1).Group(ctx, 1)
		g.Go(next)
		return g.Wait()
	case byOnce:
		_, err := weir.NewOnce[int, int](on).Do(ctx, 1, valued)
		return err
	default:
		g, tries := on.Group(ctx, weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Second})), 0
		g.Go(func(ctx context.Context) error {
			if tries++; tries < 3 {
				return errors.New("again")
			}
			return next(ctx)
		})
		return g.Wait()
	}
}

// discard is fn for an Each.
func discard(fn func(context.Context, int) (int, error)) func(context.Context, int) error {
	return func(ctx context.Context, i int) error {
		_, err := fn(ctx, i)
		return err
	}
}
