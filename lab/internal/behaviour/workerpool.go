package behaviour

import "github.com/gammazero/workerpool"

// workerpoolPrograms: submitting never waits for room. A pool has neither errors nor contexts. A panic in a
// task ends the program, as the documentation says.
func workerpoolPrograms() programs {
	var open opener = func(limit int) pool {
		p := workerpool.New(limit)
		return pool{submit: p.Do, wait: silent(p.StopWait)}
	}
	return open.programs("01", "04", "05", "23", "24", "reuse").and(programs{
		"03": open.with(2, nilTask(submitsNil)),
		"06": open.with(2, exits(false, "StopWait")),
		"09": func(env Env) error {
			p := workerpool.New(2)
			return nested(env, p.Do, func(task func()) error {
				for range 2 {
					if err := p.DoWait(task); err != nil {
						return err
					}
				}
				return nil
			})
		},
		"13": stopped(workerpool.ErrStopped, func() error {
			p := workerpool.New(2)
			p.Stop()
			return p.Do(func() {})
		}),
		"19": inBubbles(open),
		"20": func(env Env) error {
			env.Note("-1 means %d", workerpool.New(-1).Size())
			return lowLimits(open)(env)
		},
		"21": goroutines(open, "github.com/gammazero/"),

		"wait": noting("by stopping the pool for good", open.with(4, waits)),
	})
}
