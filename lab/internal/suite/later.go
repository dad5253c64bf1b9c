package suite

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"golang.org/x/time/rate"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/lab/internal/peer"
)

var laterSuite = Suite{
	Name:    "later",
	Title:   "Rates, retries and hedged calls",
	About:   "What a turn of a rate costs that comes at once, what retries cost where nothing fails and how long tasks with back-offs take on two places, and what a hedged call costs whose first is fast.",
	LeftOut: "all but the back-offs",
	Experiments: func(s Scale) []Experiment {
		if !s.Full {
			return []Experiment{backOffs(s)}
		}
		return []Experiment{turns(s), tries(s), backOffs(s), hedges(s)}
	},
}

// once makes a contender that performs one operation after the other.
func once(name string, open func() (one func() error, end func())) Contender {
	return measured(name, func(m *Meter) {
		one, end := open()
		defer end()
		m.throughput(func(n int) {
			for range n {
				must(one())
			}
		})
	})
}

// turns measures turns of a rate that is never reached, so that no turn has to wait.
func turns(s Scale) Experiment {
	const n = 1_000_000_000
	ctx := context.Background()
	rated := func(name string, opts ...weir.Option) Contender {
		return once(name, func() (func() error, func()) {
			p := weir.New(64, opts...)
			return func() error { return p.Submit(nothing) }, p.Close
		})
	}
	return Experiment{
		ID:    id(s.Cores, "turn"),
		About: "a turn of a rate that is far higher than what comes; weir.Pool is a task without a rate, weir.RatedPool one with",
		Contenders: []Contender{
			rated("weir.Pool"),
			rated("weir.RatedPool", weir.Rate(n, time.Second, n)),
			once("weir.Wait", func() (func() error, func()) {
				r := weir.Rate(n, time.Second, n)
				return func() error { return r.Wait(ctx) }, func() {}
			}),
			once("x-time", func() (func() error, func()) {
				r := rate.NewLimiter(n, n)
				return func() error { return r.Wait(ctx) }, func() {}
			}),
			once("failsafe-go", func() (func() error, func()) {
				r := ratelimiter.NewBursty[any](n, time.Second)
				return func() error { return r.AcquirePermit(ctx) }, func() {}
			}),
		},
	}
}

// tries measures calls that succeed at the first try.
func tries(s Scale) Experiment {
	ctx := context.Background()
	succeeds := func(context.Context) error { return nil }
	return Experiment{
		ID:    id(s.Cores, "try"),
		About: "a call that succeeds and would be tried again",
		Contenders: []Contender{
			once("weir.Retry", func() (func() error, func()) {
				r := weir.Retry(weir.RetryPolicy{Tries: 4})
				return func() error { return r.Do(ctx, succeeds) }, func() {}
			}),
			once("failsafe-go", func() (func() error, func()) {
				e := failsafe.With(retrypolicy.NewBuilder[any]().WithMaxRetries(3).Build())
				return func() error { return e.Run(func() error { return succeeds(ctx) }) }, func() {}
			}),
			once(peer.Go, func() (func() error, func()) { // only the call
				return func() error { return succeeds(ctx) }, func() {}
			}),
		},
	}
}

// backOffs measures tasks that wait between their tries.
func backOffs(s Scale) Experiment {
	const tasks, fails, pause, limit = 20, 3, 10 * time.Millisecond, 2
	failed := errors.New("failed")
	contender := func(name string, fail func() error, retried func(call func(context.Context) error) func(context.Context) error, opts ...weir.GroupOption) Contender {
		return measured(name, func(m *Meter) {
			p := weir.New(limit)
			defer p.Close()
			begin := time.Now()
			g := p.Group(context.Background(), opts...)
			for range tasks {
				var calls atomic.Int32
				g.Go(retried(func(context.Context) error {
					if calls.Add(1) <= fails {
						return fail()
					}
					return nil
				}))
			}
			must(g.Wait())
			m.N = 1
			m.set("ns/op", float64(time.Since(begin).Nanoseconds()))
		})
	}
	plain := func(call func(context.Context) error) func(context.Context) error { return call }
	executor := failsafe.With(retrypolicy.NewBuilder[any]().WithMaxRetries(fails).WithDelay(pause).Build())
	return Experiment{
		ID:     id(s.Cores, "backoff", "tasks", tasks, "fails", fails, "limit", limit),
		About:  "tasks that fail three times, with a back-off of 10 ms after each, on a pool of two: until all have ended",
		Turn:   tasks * fails * pause / limit,
		Rounds: pick(s, 0, 3),
		Contenders: []Contender{
			contender("weir.Retry", func() error { return weir.RetryAfter(failed, pause) }, plain, weir.Retry(weir.RetryPolicy{Tries: fails + 1})),
			contender("failsafe-go", func() error { return failed }, func(call func(context.Context) error) func(context.Context) error {
				return func(ctx context.Context) error { return executor.Run(func() error { return call(ctx) }) }
			}),
		},
	}
}

// hedges measures calls that need no second call.
func hedges(s Scale) Experiment {
	ctx := context.Background()
	fast := func(context.Context) (int, error) { return 1, nil }
	return Experiment{
		ID:    id(s.Cores, "hedge"),
		About: "a call that returns at once, so that no second one is made",
		Contenders: []Contender{
			once("weir.Hedge", func() (func() error, func()) {
				p := weir.New(64)
				return func() error {
					_, err := weir.Hedge(ctx, p, time.Second, fast, fast)
					return err
				}, p.Close
			}),
			once("failsafe-go", func() (func() error, func()) {
				e := failsafe.With(hedgepolicy.NewWithDelay[int](time.Second))
				return func() error {
					_, err := e.Get(func() (int, error) { return fast(ctx) })
					return err
				}, func() {}
			}),
		},
	}
}
