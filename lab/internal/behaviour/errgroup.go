package behaviour

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// errgroupPrograms: a group starts a goroutine for each task. By design, a panic in a task ends the program.
func errgroupPrograms() programs {
	limited := func(limit int) *errgroup.Group {
		g := new(errgroup.Group)
		g.SetLimit(limit)
		return g
	}
	var open opener = func(limit int) pool {
		g := limited(limit)
		return pool{
			submit: always(func(task func()) { g.Go(func() error { task(); return nil }) }),
			wait:   g.Wait,
			resize: func(limit int) {
				if err := g.Wait(); err != nil { // the limit must not change while tasks run
					panic(err)
				}
				g.SetLimit(limit)
			},
		}
	}
	var grouped grouper = func(ctx context.Context, limit int) group {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(limit)
		return group{func(task func(context.Context) error) { g.Go(func() error { return task(ctx) }) }, g.Wait}
	}
	return open.programs("01", "02", "05", "09", "23", "24", "reuse", "wait").and(grouped.programs()).and(programs{
		"03": open.with(2, nilTask(func(pool) error {
			g := limited(2)
			g.Go(nil)
			return g.Wait()
		})),
		"04": func(Env) error {
			g := limited(2)
			g.Go(func() error { return errBoom })
			for range 2 {
				if err := returned("Wait", g.Wait(), errBoom); err != nil {
					return err
				}
			}
			return nil
		},
		"06": open.with(2, exits(true, "Wait")),
		"08": grouped.again(", which the documentation advises against"),
		"19": inBubbles(open),
		"20": func(env Env) error {
			env.Step("limit -1")
			if err := open.with(-1, runAll)(env); err != nil {
				return err
			}
			env.Step("limit 0, documented to let no task in")
			return open.with(0, runAll)(env)
		},
		"21": goroutines(open, "golang.org/x/sync/"),
	})
}
