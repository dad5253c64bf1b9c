package behaviour

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panjf2000/ants/v2"
)

func newAnts(limit int, options ...ants.Option) *ants.Pool {
	p, err := ants.NewPool(limit, options...)
	if err != nil {
		panic(err)
	}
	return p
}

// countedAnts is a pool whose tasks are counted.
func countedAnts(p *ants.Pool) pool {
	counted := counted(p.Submit)
	counted.resize, counted.end = p.Tune, p.Release
	return counted
}

// antsPrograms: a pool has neither errors nor contexts, and waits for its tasks only when it is released.
func antsPrograms() programs {
	var open opener = func(limit int) pool { return countedAnts(newAnts(limit)) }
	var bare opener = func(limit int) pool {
		p := newAnts(limit)
		return pool{submit: p.Submit, wait: func() error { return p.ReleaseContext(context.Background()) }, end: p.Release}
	}
	// Scenario 01: the purge of idle workers, once a second, makes up for a lost wake-up. With
	// ants.WithDisablePurge the submission waits forever.
	return open.programs("01", "02", "09", "23", "reuse", "resize").and(bare.programs("24")).and(programs{
		"03": func(env Env) error {
			p := newAnts(2)
			defer p.Release()
			return nilTask(func(pool) error { return p.Submit(nil) })(env, countedAnts(p))
		},
		"04": func(Env) error {
			p := newAnts(1)
			g := newGate()
			if err := p.Submit(g.task); err != nil {
				return err
			}
			if err := returned("the first ReleaseTimeout", p.ReleaseTimeout(settled), ants.ErrTimeout); err != nil {
				return err
			}
			g.open()
			if err := p.ReleaseTimeout(time.Second); err != nil {
				return fmt.Errorf("the second ReleaseTimeout: %w", err)
			}
			return nil
		},
		"05": func(env Env) error {
			p := newAnts(huge())
			defer p.Release()
			env.Step("Cap is %d; Submit", p.Cap())
			return runAll(env, countedAnts(p))
		},
		"06": open.with(2, exits(false, "Wait")),
		"07": func(Env) error {
			panicked := make(chan any, 10)
			p := newAnts(2, ants.WithPanicHandler(func(value any) { panicked <- value }))
			defer p.Release()
			return handled(countedAnts(p), panicked)
		},
		"13": stopped(ants.ErrPoolClosed, func() error {
			p := newAnts(2)
			p.Release()
			return p.Submit(func() {})
		}),
		"19": bubbles(func(env Env, _ func(string)) error {
			p := newAnts(2)
			if err := inBubble(env, countedAnts(p)); err != nil {
				return err
			}
			return p.ReleaseTimeout(time.Second)
		}),
		"20": noting("both mean no limit", lowLimits(open)),
		"21": goroutines(open, "github.com/panjf2000/ants/"),
		"22": func(Env) error {
			p, err := ants.NewMultiPool(2, 2, ants.RoundRobin)
			if err != nil {
				return err
			}
			g := newGate()
			defer g.open()
			if err := p.Submit(g.task); err != nil {
				return err
			}
			err = p.ReleaseTimeout(settled)
			if !errors.Is(err, ants.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("neither ErrTimeout nor context.DeadlineExceeded: %w", err)
			}
			return nil
		},

		"wait": noting("by releasing the pool for good", bare.with(4, waits)),
	})
}
