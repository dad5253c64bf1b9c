package weir_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestALoopWithoutTasksEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 1)
		r := weir.NewResults[int](g)
		for range 2 {
			for name, loop := range loops(r) {
				check.Equal(t, name, drain(t, loop), 0)
				g.Cancel(errBoom)
				var errs []error
				for v, err := range loop {
					check.Equal(t, "value", v, 0)
					errs = append(errs, err)
				}
				equalSlices(t, name, errs, []error{errBoom})
			}
		}
	})
}

func TestLoopsWithoutKeepGoingEndWithTheFirstError(t *testing.T) {
	check.Bubble(t, "All yields what succeeded, then the error", func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 10))
		r.Go(sleeper(1))
		r.Go(untilEnd)
		r.Go(func(context.Context) (int, error) { time.Sleep(2 * time.Second); return 2, errBoom })
		r.Go(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 3, nil
		})
		var values []int
		var last error
		for v, err := range r.All() {
			check.OK(t, last)
			if last = err; err == nil {
				values = append(values, v)
			}
		}
		equalSlices(t, "values", values, []int{1, 3})
		check.Error(t, last, errBoom)
		equalSlices(t, "failed", failedTasks(t, last), []int{2})
	})
	check.Bubble(t, "Ordered has no gap", func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 10))
		r.Go(gives(0))
		r.Go(sleeper(1))
		r.Go(func(context.Context) (int, error) { time.Sleep(2 * time.Second); return 2, errBoom })
		r.Go(gives(3))
		r.Go(untilEnd)
		var values []int
		var last error
		for v, err := range r.Ordered() {
			check.OK(t, last)
			if last = err; err == nil {
				values = append(values, v)
			}
		}
		equalSlices(t, "values", values, []int{0, 1})
		check.Error(t, last, errBoom)
		equalSlices(t, "failed", failedTasks(t, last), []int{2})
	})
	for _, name := range loopNames {
		check.Bubble(t, name+" of a group that is cancelled gives the cause", func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			r := weir.NewResults[int](p.Group(ctx))
			r.Go(untilEnd)
			for range 5 { // never run
				r.Go(gives(1))
			}
			synctest.Wait()
			cancel(errBoom)
			var errs []error
			for _, err := range loops(r)[name] {
				errs = append(errs, err)
			}
			equalSlices(t, "errors", errs, []error{errBoom})
		})
	}
}

func TestLoopsWithKeepGoingYieldEachErrorAndTheRestLast(t *testing.T) {
	for _, name := range loopNames {
		check.Bubble(t, name, func(t *testing.T) {
			errOther, errCause := errors.New("other"), errors.New("cause")
			g := weir.NewGroup(t.Context(), 2, weir.KeepGoing())
			r := weir.NewResults[int](g)
			others := weir.NewResults[int](g)
			g.Go(func(context.Context) error { return errOther })
			others.Go(failsWith(8))
			r.Go(gives(0))
			r.Go(failsWith(1))
			r.Go(gives(2))
			synctest.Wait()
			r.Go(untilEnd)
			r.Go(untilEnd)
			r.Go(gives(5)) // never runs
			synctest.Wait()
			var values []int
			var errs []error
			for v, err := range loops(r)[name] {
				if values = append(values, v); err != nil {
					errs = append(errs, err)
				}
				if v == 2 {
					g.Cancel(errCause)
				}
			}
			equalSlices(t, "values", values, []int{0, 1, 2, 0, 0, 0})
			if len(errs) != 4 {
				t.Fatalf("got errors %v", errs)
			}
			check.Equal(t, "the first", errs[0].Error(), "task 1: boom")
			running := []string{errs[1].Error(), errs[2].Error()}
			slices.Sort(running)
			equalSlices(t, "those that ran", running, []string{"task 3: context canceled", "task 4: context canceled"})
			check.Equal(t, "parts of the last", len(parts(errs[3])), 3)
			check.Error(t, errs[3], errOther)
			check.Error(t, errs[3], errCause)
			check.Equal(t, "others' results", len(must2(others.Wait())), 1)
		})
		check.Bubble(t, name+" of tasks that the pool hands back", func(t *testing.T) {
			p := weir.New(1)
			r := weir.NewResults[int](p.Group(t.Context(), weir.KeepGoing()))
			for i := range 4 {
				r.Go(sleeper(i))
			}
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // in the middle of the third
				defer cancel()
				unrun, err := p.Shutdown(ctx)
				check.Error(t, err, context.DeadlineExceeded)
				check.Equal(t, "handed back to others", len(unrun), 0)
			}()
			var values []int
			var errs []string
			for v, err := range loops(r)[name] {
				if err != nil {
					check.Error(t, err, weir.ErrClosed)
					errs = append(errs, err.Error())
					continue
				}
				values = append(values, v)
			}
			equalSlices(t, "values", values, []int{0, 1, 2})
			equalSlices(t, "errors", errs, []string{"task 3: weir: pool is closed", "weir: pool is closed"}) // and the cause, as task 2 was cancelled
			p.Close()
		})
	}
}

// must2 is for results whose error is of no interest.
func must2[T any](v T, _ error) T { return v }
