package weir_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/reuse"
)

// The programs of this file hung when a waiting task gave its place to any queued task. Real
// locks do not block durably, so no bubble can see that: the programs run in real time.

// ends fails the test if the program has not ended after 10 s.
func ends(t *testing.T, program func(), pools ...*weir.Pool) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		program()
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		for _, p := range pools {
			t.Logf("%+v", p.Stats())
		}
		t.Fatalf("the program hangs:\n%s", check.Stacks())
	}
}

// pair is a pool whose tasks wait, and what they wait for elsewhere.
type pair struct {
	p, q  *weir.Pool
	calls *weir.Stateful[int, int]
}

func newPair(limit int, opts ...weir.Option) *pair {
	return &pair{
		p: weir.New(limit, opts...), q: weir.New(limit),
		calls: weir.NewStateful(limit, func() (int, error) { return 0, nil }, func(int, int) { nap() }, nil),
	}
}

// run runs the program, which must end, and closes the pools.
func (x *pair) run(t *testing.T, program func() error) {
	t.Helper()
	var err error
	ends(t, func() {
		err = program()
		x.p.Close()
		x.q.Close()
		x.calls.Close()
	}, x.p, x.q)
	check.OK(t, err)
}

// crowd runs n tasks on the first pool, given from outside, and checks how many of them have begun
// and not ended at once.
func (x *pair) crowd(t *testing.T, n int, task func(ctx context.Context) error) {
	t.Helper()
	var begun check.Gauge
	x.run(t, func() error {
		g := x.p.Group(context.Background())
		for range n {
			g.Go(func(ctx context.Context) error {
				begun.Enter()
				defer begun.Leave()
				return task(ctx)
			})
		}
		return g.Wait()
	})
	if peak, limit := begun.Peak.Load(), x.p.Stats().Limit; peak > int64(limit) {
		t.Errorf("%d tasks from outside had begun at once, the limit is %d", peak, limit)
	}
}

// nap takes 100 µs, in which other goroutines run. The shortest sleep takes ten times as long.
func nap() {
	for start := time.Now(); time.Since(start) < 100*time.Microsecond; {
		runtime.Gosched()
	}
}

func napMember(context.Context) error {
	nap()
	return nil
}

func napEach(ctx context.Context, _ int) error { return napMember(ctx) }

func napMap(ctx context.Context, i int) (int, error) { return i, napMember(ctx) }

func napValue(ctx context.Context) (int, error) { return 1, napMember(ctx) }

// wait is a kind of wait, in a task of x.p.
type wait func(ctx context.Context, x *pair) error

// items is the source of loops and streams.
var items = []int{1, 2, 3}

// slowly is items as a sequence that takes a nap before each.
func slowly() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, i := range items {
			nap()
			if !yield(i) {
				return
			}
		}
	}
}

// waitsElsewhere are waits for work on another pool.
var waitsElsewhere = map[string]wait{
	"group": func(ctx context.Context, x *pair) error {
		g := x.q.Group(ctx)
		g.Go(napMember)
		return g.Wait()
	},
	"Do":   func(ctx context.Context, x *pair) error { return x.q.Do(ctx, napMember) },
	"Each": func(ctx context.Context, x *pair) error { return par.Each(ctx, items, napEach, par.On(x.q)) },
	"Get": func(ctx context.Context, x *pair) error {
		_, err := weir.Async(ctx, x.q, napValue).Get(ctx)
		return err
	},
	"Call": func(ctx context.Context, x *pair) error { return x.calls.Call(ctx, 1) },
	// The path of waits leads back to the first pool: the inner task runs in the place of the outer one.
	"there and back": func(ctx context.Context, x *pair) error {
		g := x.q.Group(ctx)
		g.Go(func(ctx context.Context) error {
			h := x.p.Group(ctx)
			h.Go(napMember)
			return h.Wait()
		})
		return g.Wait()
	},
}

// waitsAtHome are waits for work on the task's own pool.
var waitsAtHome = map[string]wait{
	"group": func(ctx context.Context, x *pair) error { return groupAtHome(ctx, x) },
	"group with a limit": func(ctx context.Context, x *pair) error {
		return groupAtHome(ctx, x, weir.Limit(1))
	},
	"All": func(ctx context.Context, x *pair) error {
		for _, err := range resultsAtHome(ctx, x).All() {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"Ordered": func(ctx context.Context, x *pair) error {
		for _, err := range resultsAtHome(ctx, x).Ordered() {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"First": func(ctx context.Context, x *pair) error {
		_, err := resultsAtHome(ctx, x).First()
		return err
	},
	"Get": func(ctx context.Context, x *pair) error {
		_, err := weir.Async(ctx, x.p, napValue).Get(ctx)
		return err
	},
	"stream of a channel": func(ctx context.Context, x *pair) error {
		c := make(chan int, len(items))
		go func() {
			defer close(c)
			for i := range slowly() {
				c <- i
			}
		}()
		for _, err := range par.Stream(ctx, c, napMap, par.On(x.p)) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"stream of a sequence": func(ctx context.Context, x *pair) error {
		for _, err := range par.Stream(ctx, slowly(), napMap, par.On(x.p)) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"map of a sequence": func(ctx context.Context, x *pair) error {
		_, err := par.Map(ctx, slices.Values(items), napMap, par.On(x.p), par.Limit(1))
		return err
	},
	"map of a slice": func(ctx context.Context, x *pair) error {
		_, err := par.Map(ctx, items, napMap, par.On(x.p))
		return err
	},
	"Do": func(ctx context.Context, x *pair) error { return x.p.Do(ctx, napMember) },
}

func groupAtHome(ctx context.Context, x *pair, opts ...weir.GroupOption) error {
	g := x.p.Group(ctx, opts...)
	for range items {
		g.Go(napMember)
	}
	return g.Wait()
}

func resultsAtHome(ctx context.Context, x *pair) *weir.Results[int] {
	r := weir.NewResults[int](x.p.Group(ctx))
	for range items {
		r.Go(napValue)
	}
	return r
}

// hold runs held while it keeps other tasks out.
type hold func(ctx context.Context, held func() error) error

// locks are what a task may hold. Each entry makes a lock, and the function that closes it.
var locks = map[string]func() (hold, func()){
	"mutex": func() (hold, func()) {
		var mu sync.Mutex
		return func(_ context.Context, held func() error) error {
			mu.Lock()
			defer mu.Unlock()
			return held()
		}, nothing
	},
	"channel": func() (hold, func()) {
		slot := make(chan struct{}, 1)
		return func(_ context.Context, held func() error) error {
			slot <- struct{}{}
			defer func() { <-slot }()
			return held()
		}, nothing
	},
	"lease": func() (hold, func()) {
		k := reuse.NewKeeper(reuse.KeeperConfig[int]{
			Capacity: 1,
			Open:     func(context.Context) (int, error) { return 1, nil },
		})
		return func(ctx context.Context, held func() error) error {
			return k.Use(ctx, func(int) error { return held() })
		}, k.Close
	},
}

// lockOver runs tasks that hold a lock over a wait: each kind of lock over each of the waits.
func lockOver(t *testing.T, waits map[string]wait) {
	for kind, lock := range locks {
		for name, wait := range waits {
			for _, limit := range []int{1, 4} {
				t.Run(fmt.Sprintf("%s/%s/limit=%d", kind, name, limit), func(t *testing.T) {
					hold, end := lock()
					x := newPair(limit)
					x.crowd(t, 50, func(ctx context.Context) error {
						return hold(ctx, func() error { return wait(ctx, x) })
					})
					end()
				})
			}
		}
	}
}

func TestPromise09ALockHeldOverAWaitForAnotherPoolHangsNothing(t *testing.T) {
	lockOver(t, waitsElsewhere)
}

func TestPromise09ALockHeldOverAWaitForTheOwnPoolHangsNothing(t *testing.T) {
	lockOver(t, waitsAtHome)
}

// A task accepted later waits for what the first does after its own wait. At limit 1 it must not
// have the place of the first.
func TestPromise09AWaitingTaskLendsItsPlaceToNoneThatIsQueued(t *testing.T) {
	for where, waits := range map[string]map[string]wait{"elsewhere": waitsElsewhere, "at home": waitsAtHome} {
		for name, wait := range waits {
			t.Run(where+"/"+name, func(t *testing.T) {
				x := newPair(1)
				x.run(t, func() error {
					accepted, done := make(chan struct{}), make(chan struct{})
					g := x.p.Group(context.Background())
					g.Go(func(ctx context.Context) error {
						defer close(done)
						<-accepted
						for range 10 {
							if err := wait(ctx, x); err != nil {
								return err
							}
						}
						return nil
					})
					g.Go(func(context.Context) error {
						<-done
						return nil
					})
					close(accepted)
					return g.Wait()
				})
			})
		}
	}
}
