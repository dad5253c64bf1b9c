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
	Name:  "later",
	Title: "Rates, retries and hedged calls",
	About: "What a turn of a rate costs that comes at once, what retries cost where nothing fails and how long tasks with back-offs take on two places, and what a hedged call costs whose first is fast.",
	Experiments: func(s Scale) []Experiment {
		if !s.Full {
			return []Experiment{backOffs(s)}
		}
		return []Experiment{turns(s), tries(s), backOffs(s), hedges(s)}
	},
}

// once returns a contender that performs one operation after the other.
func once(name string, one func() error) Contender {
	return Contender{Name: name, Measure: func(m *Meter) { m.calls(one) }}
}

// onPool is like once, for an operation on a pool of Weir, which it makes and closes.
func onPool(name string, on func(p *weir.Pool) func() error, opts ...weir.Option) Contender {
	return Contender{Name: name, Measure: func(m *Meter) {
		p := weir.New(64, opts...)
		defer p.Close()
		m.calls(on(p))
	}}
}

func (m *Meter) calls(one func() error) {
	m.throughput(func(n int) {
		for range n {
			must(one())
		}
	})
}

// turns measures turns of a rate that is never reached, so that no turn has to wait.
func turns(s Scale) Experiment {
	const n = 1_000_000_000
	ctx := context.Background()
	task := func(p *weir.Pool) func() error { return func() error { return p.Submit(nothing) } }
	ours, theirs, others := weir.Rate(n, time.Second, n), rate.NewLimiter(n, n), ratelimiter.NewBursty[any](n, time.Second)
	return Experiment{
		ID:    id(s.Cores, "turn"),
		About: "a turn of a rate that is far higher than what comes; weir.Pool is a task without a rate, weir.RatedPool one with",
		Contenders: []Contender{
			onPool("weir.Pool", task),
			onPool("weir.RatedPool", task, weir.Rate(n, time.Second, n)),
			once("weir.Wait", func() error { return ours.Wait(ctx) }),
			once("x-time", func() error { return theirs.Wait(ctx) }),
			once("failsafe-go", func() error { return others.AcquirePermit(ctx) }),
		},
	}
}

// tries measures calls that succeed at the first try.
func tries(s Scale) Experiment {
	ctx := context.Background()
	succeeds := func(context.Context) error { return nil }
	ours := weir.Retry(weir.RetryPolicy{Tries: 4})
	theirs := failsafe.With(retrypolicy.NewBuilder[any]().WithMaxRetries(3).Build())
	return Experiment{
		ID:    id(s.Cores, "try"),
		About: "a call that succeeds and would be tried again",
		Contenders: []Contender{
			once("weir.Retry", func() error { return ours.Do(ctx, succeeds) }),
			once("failsafe-go", func() error { return theirs.Run(func() error { return succeeds(ctx) }) }),
			once(peer.Go, func() error { return succeeds(ctx) }), // only the call
		},
	}
}

// backOffs measures tasks that wait between their tries.
func backOffs(s Scale) Experiment {
	const tasks, fails, pause, limit = 20, 3, 10 * time.Millisecond, 2
	failed := errors.New("failed")
	contender := func(name string, fail func() error, retried func(call func(context.Context) error) func(context.Context) error, opts ...weir.GroupOption) Contender {
		return Contender{Name: name, Measure: func(m *Meter) {
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
			m.Add("ns/op", float64(time.Since(begin).Nanoseconds()))
		}}
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
	theirs := failsafe.With(hedgepolicy.NewWithDelay[int](time.Second))
	return Experiment{
		ID:    id(s.Cores, "hedge"),
		About: "a call that returns at once, so that no second one is made",
		Contenders: []Contender{
			onPool("weir.Hedge", func(p *weir.Pool) func() error {
				return func() error {
					_, err := weir.Hedge(ctx, p, time.Second, fast, fast)
					return err
				}
			}),
			once("failsafe-go", func() error {
				_, err := theirs.Get(func() (int, error) { return fast(ctx) })
				return err
			}),
		},
	}
}
