package behaviour

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
)

// pondPrograms use futures, groups and sub-pools where these fit. Queues are unbounded, unless a program says
// otherwise.
func pondPrograms() programs {
	with := func(options ...pond.Option) opener {
		return func(limit int) pool {
			p := pond.NewPool(limit, options...)
			return pool{submit: p.Go, wait: silent(p.StopAndWait), resize: p.Resize}
		}
	}
	open := with()
	var inGroup opener = func(limit int) pool {
		g := pond.NewPool(limit).NewGroup()
		return pool{submit: always(func(task func()) { g.Submit(task) }), wait: g.Wait}
	}
	groupedWith := func(options ...pond.Option) grouper {
		return func(ctx context.Context, limit int) group {
			g := pond.NewPool(limit, options...).NewGroupContext(ctx)
			return group{func(task func(context.Context) error) {
				g.SubmitErr(func() error { return task(g.Context()) })
			}, g.Wait}
		}
	}
	grouped := groupedWith()
	return open.programs("02", "05", "23", "24", "reuse").and(inGroup.programs("wait")).and(grouped.programs()).and(programs{
		"01": with(pond.WithQueueSize(4096)).with(1, goexits), // so that the queue cannot hold millions of tasks
		"03": func(env Env) error {
			p := pond.NewPool(2)
			return nilTask(func(pool) error {
				err := p.Submit(nil).Wait()
				if errors.Is(err, pond.ErrPanic) {
					return pond.ErrPanic // without its stack
				}
				return err
			})(env, pool{submit: p.Go, wait: silent(p.StopAndWait)})
		},
		"04": func(Env) error {
			p := pond.NewPool(1)
			g := newGate()
			if err := p.Go(g.task); err != nil {
				return err
			}
			select {
			case <-p.Stop().Done():
				return errors.New("stopped while a task runs")
			case <-time.After(settled):
			}
			g.open()
			if err := p.Stop().Wait(); err != nil {
				return fmt.Errorf("the second Stop: %w", err)
			}
			return nil
		},
		"06": inGroup.with(2, exits(true, "Wait of the group")),
		"07": func(Env) error {
			p := pond.NewPool(2)
			return panics(func(task func()) error { return p.NewGroup().Submit(task).Wait() })
		},
		"08": grouped.again(", of which the documentation does not speak"),
		"09": func(env Env) error {
			p := pond.NewPool(2)
			return nested(env, p.Go,
				func(task func()) error { return p.NewGroup().Submit(task, task).Wait() })
		},
		"10": func(env Env) error {
			// A group returns only the first error and the results before it.
			env.Note("with a future for each task; a group drops results after the first error")
			p := pond.NewResultPool[int](4)
			futures := make([]pond.ResultTask[int], 10)
			for i := range futures {
				futures[i] = p.SubmitErr(func() (int, error) { return numbered(i) })
			}
			var results []int
			var failure error
			for _, future := range futures {
				result, err := future.Wait()
				results = append(results, result)
				failure = errors.Join(failure, err)
			}
			return inOrder(results, failure)
		},
		"12": manyResults(func(tasks int) ([]int, error) {
			group := pond.NewResultPool[int](1).NewGroup()
			for i := range tasks {
				group.Submit(func() int { return i })
			}
			return group.Wait()
		}),
		"13": func(Env) error {
			after := func(stop func(p pond.Pool)) error {
				return stopped(pond.ErrPoolStopped, func() error {
					p := pond.NewPool(2)
					stop(p)
					return p.Go(func() {})
				})(Env{})
			}
			err := after(func(p pond.Pool) { p.Stop() }) // returns a future, for callers that want to wait
			if err != nil && after(pond.Pool.StopAndWait) == nil {
				err = fmt.Errorf("%w (but never after StopAndWait)", err)
			}
			return err
		},
		"14": func(env Env) error {
			for _, given := range []struct {
				to   string
				open func(ctx context.Context) pond.TaskGroup
			}{
				{"group", func(ctx context.Context) pond.TaskGroup { return pond.NewPool(4).NewSubpool(2).NewGroupContext(ctx) }},
				{"pool", func(ctx context.Context) pond.TaskGroup {
					return pond.NewPool(4, pond.WithContext(ctx)).NewSubpool(2).NewGroup()
				}},
			} {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				group := given.open(ctx)
				for range 8 {
					group.Submit(func() { <-group.Context().Done() })
				}
				time.Sleep(settled)
				cancel()
				env.Step("Wait of the group, with a context given to the %s", given.to)
				if err := returned("Wait", group.Wait(), context.Canceled); err != nil {
					return err
				}
			}
			return nil
		},
		"15": func(env Env) error {
			p := pond.NewPool(1, pond.WithQueueSize(0), pond.WithNonBlocking(true))
			busy := newGate()
			if err := p.Go(busy.task); err != nil {
				return err
			}
			<-busy.started
			var ran atomic.Bool
			task, accepted := p.NewSubpool(1).TrySubmit(func() { ran.Store(true) })
			busy.open()
			env.Step("accepted: %t; Wait of the task", accepted)
			err := task.Wait()
			if accepted != ran.Load() || accepted != (err == nil) {
				return fmt.Errorf("accepted: %t, ran: %t, error: %w", accepted, ran.Load(), err)
			}
			return nil
		},
		"16": func(env Env) error {
			p := pond.NewPool(4)
			part := p.NewSubpool(1)
			first := newGate()
			if err := part.Go(first.task); err != nil {
				return err
			}
			<-first.started
			var ran atomic.Int32
			var futures [4]pond.Task
			for i := range futures {
				futures[i] = part.Submit(func() { ran.Add(1) })
			}
			time.AfterFunc(settled, first.open)
			env.Step("StopAndWait of the pool")
			p.StopAndWait()
			refused := 0
			for i, future := range futures {
				env.Step("StopAndWait has returned, %d of 4 ran; Wait of the future of task %d", ran.Load(), i+1)
				if future.Wait() != nil {
					refused++
				}
			}
			return accounted(env, ran.Load(), refused)
		},
		"17": func(env Env) error {
			err := groupedWith(pond.WithQueueSize(0)).leave(env)
			if err == nil {
				return nil
			}
			// A pool can be given a context too, but that ends it for all its users.
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			p := pond.NewPool(1, pond.WithQueueSize(0), pond.WithContext(ctx))
			var occupied error
			whole := leave(
				func(task func()) { occupied = p.Go(task) },
				func() { _ = p.Go(func() {}) }, // the scenario asks only whether it returns
				cancel)
			if errors.Join(occupied, whole) == nil {
				return fmt.Errorf("the group's context: %w (a context of the whole pool does end the wait)", err)
			}
			return fmt.Errorf("the group's context, and the pool's too: %w", err)
		},
		"19": bubbles(func(env Env, part func(string)) error {
			p := pond.NewPool(2)
			part("a group")
			g := p.NewGroup()
			err := inBubble(env, pool{submit: always(func(task func()) { g.Submit(task) }), wait: g.Wait})
			if err != nil {
				return err
			}
			part("StopAndWait")
			p.StopAndWait()
			return nil
		}),
		"20": func(env Env) error {
			if err := open.with(0, runAll)(env); err != nil {
				return fmt.Errorf("limit 0: %w", err)
			}
			err := told(func() error { return open.with(-1, runAll)(env) })
			if err == nil {
				return errors.New("-1 is not refused")
			}
			env.Note("0 means no limit; -1: %v", err)
			return nil
		},
		"21": goroutines(open, "github.com/alitto/pond/"),

		"resize": with(pond.WithQueueSize(16)).with(2, resize),
	})
}
