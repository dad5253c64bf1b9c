package weir_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// failWith is an error that only the task with its number makes.
type failWith struct{ task int }

func (e *failWith) Error() string { return fmt.Sprintf("failed with %d", e.task) }

func TestGroupSaysWhichTaskFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 1)
		for i := range 5 {
			g.Go(func(context.Context) error {
				if i >= 3 {
					return &failWith{i}
				}
				return nil
			})
		}
		err := g.Wait()
		var failure *weir.TaskError
		var own *failWith
		if !errors.As(err, &failure) || !errors.As(err, &own) {
			t.Fatalf("Wait returned %v", err)
		}
		check.Equal(t, "index", failure.Index, 3)
		check.Equal(t, "the task's own error", own.task, 3)
		check.Equal(t, "message", err.Error(), "task 3: failed with 3")
	})
}

func TestTheFirstErrorCancelsTheGroupWithItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 4)
		causes := make(chan error, 2)
		for range 2 {
			g.Go(func(ctx context.Context) error {
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return ctx.Err() // comes second, and is not what Wait returns
			})
		}
		synctest.Wait() // both run: a task that has not begun would never begin
		g.Go(func(context.Context) error { return errBoom })
		err := g.Wait()
		check.Error(t, err, errBoom)
		for range 2 {
			check.Equal(t, "cause seen by a task", <-causes, err)
		}
	})
}

func TestKeepGoingJoinsAllErrorsInTheOrderOfSubmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 8, weir.KeepGoing())
		var ran atomic.Int32
		for i := range 8 {
			g.Go(func(ctx context.Context) error {
				time.Sleep(time.Duration(8-i) * time.Second) // the last ends first
				ran.Add(1)
				switch {
				case ctx.Err() != nil:
					t.Error("the group was cancelled")
				case i == 5:
					runtime.Goexit()
				case i%2 == 1:
					return &failWith{i}
				}
				return nil
			})
		}
		err := g.Wait()
		check.Equal(t, "ran", ran.Load(), 8)
		joined, isJoined := err.(interface{ Unwrap() []error })
		if !isJoined {
			t.Fatalf("Wait returned %v", err)
		}
		var got []int
		for _, err := range joined.Unwrap() {
			var failure *weir.TaskError
			if !errors.As(err, &failure) {
				t.Fatalf("%v does not say which task", err)
			}
			got = append(got, failure.Index)
		}
		check.Equal(t, "failed tasks", fmt.Sprint(got), "[1 3 5 7]")
		check.Equal(t, "message", err.Error(), "task 1: failed with 1\ntask 3: failed with 3\n"+
			"task 5: weir: task called runtime.Goexit\ntask 7: failed with 7")
		check.Error(t, err, weir.ErrGoexit)
	})
	check.Bubble(t, "with the cause of a cancellation last", func(t *testing.T) {
		cause := errors.New("cause")
		g := weir.NewGroup(t.Context(), 2, weir.KeepGoing())
		g.Go(func(context.Context) error { return errBoom })
		g.Go(untilCancelled)
		synctest.Wait()
		g.Cancel(cause)
		check.Equal(t, "message", g.Wait().Error(), "task 0: boom\ncause")
	})
	check.Bubble(t, "a panic cancels", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.KeepGoing())
		g.Go(untilCancelled)
		g.Go(explodeInGroup)
		if _, isPanic := check.Caught(func() { _ = g.Wait() }).(*weir.Panic); !isPanic {
			t.Error("Wait did not panic")
		}
	})
	check.Bubble(t, "a panic is an error like others, with PanicsAsErrors", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 1, weir.KeepGoing(), weir.PanicsAsErrors())
		ran := 0
		for range 3 {
			g.Go(func(context.Context) error { ran++; panic(errBoom) })
		}
		err := g.Wait()
		check.Equal(t, "ran", ran, 3)
		for i := range 3 {
			if !strings.Contains(err.Error(), fmt.Sprintf("task %d: weir: task panicked: boom", i)) {
				t.Errorf("no trace of task %d in %v", i, err)
			}
		}
	})
}

func TestGoFailsATaskThatThePoolDoesNotTake(t *testing.T) {
	check.Bubble(t, "ErrClosed", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		v := block(t, p, 1)
		g := p.Group(t.Context(), weir.KeepGoing())
		var blocked sync.WaitGroup
		blocked.Go(func() { g.Go(succeed) })
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			p.Close()
			close(closed)
		}()
		blocked.Wait()
		g.Go(succeed)
		err := g.Wait()
		check.Error(t, err, weir.ErrClosed)
		check.Equal(t, "message", err.Error(), "task 0: weir: pool is closed\ntask 1: weir: pool is closed")
		v.Open()
		<-closed
	})
	check.Bubble(t, "ErrFull beyond MaxWaiting", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0), weir.MaxWaiting(0))
		defer p.Close()
		v := block(t, p, 1)
		g := p.Group(t.Context())
		g.Go(succeed)
		err := g.Wait()
		check.Error(t, err, weir.ErrFull)
		check.Equal(t, "message", err.Error(), "task 0: weir: pool is full")
		v.Open()
	})
}

func TestFailuresAreAllErrorsOfTasks(t *testing.T) {
	fail := func(i int) *weir.TaskError { return &weir.TaskError{Index: i, Err: errBoom} }
	nested := &weir.TaskError{Index: 3, Err: errors.Join(fail(30), fail(31))}
	for _, test := range []struct {
		name string
		err  error
		want []int
	}{
		{"nil", nil, nil},
		{"another error", errBoom, nil},
		{"one", fail(2), []int{2}},
		{"joined", errors.Join(fail(0), errBoom, fail(5)), []int{0, 5}},
		{"wrapped", fmt.Errorf("request: %w", errors.Join(fail(1), fmt.Errorf("and %w, %w", fail(4), context.Canceled))), []int{1, 4}},
		{"of a task that had tasks", errors.Join(nested, fail(6)), []int{3, 6}},
	} {
		var got []int
		for failure := range weir.Failures(test.err) {
			got = append(got, failure.Index)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
		for failure := range weir.Failures(test.err) {
			check.Equal(t, test.name, failure.Index, test.want[0])
			break
		}
	}
	g := weir.NewGroup(t.Context(), 2, weir.KeepGoing())
	for range 3 {
		g.Go(func(context.Context) error { return errBoom })
	}
	index := 0
	for failure := range weir.Failures(g.Wait()) {
		check.Equal(t, "index", failure.Index, index)
		index++
	}
	check.Equal(t, "failures", index, 3)
}

// A group that is cancelled with the error of another group's task has that as its cause, but not among its failures.
func TestFailuresAreOfTheGroupItself(t *testing.T) {
	p := weir.New(3)
	defer p.Close()
	for _, keepGoing := range []bool{false, true} {
		for name, inner := range map[string]func(ctx context.Context, task func(ctx context.Context) error) error{
			"a group on the pool": func(ctx context.Context, task func(ctx context.Context) error) error {
				return waitFor(p.Group(ctx, goesOn(keepGoing)...), task)
			},
			"a group with workers of its own": func(ctx context.Context, task func(ctx context.Context) error) error {
				if keepGoing {
					return waitFor(weir.NewGroup(ctx, 1, weir.KeepGoing()), task)
				}
				return waitFor(weir.NewGroup(ctx, 1), task)
			},
			"a group without tasks": func(ctx context.Context, task func(ctx context.Context) error) error {
				_ = task(ctx)
				return p.Group(ctx).Wait()
			},
			"results": func(ctx context.Context, task func(ctx context.Context) error) error {
				results := weir.NewResults[int](p.Group(ctx, goesOn(keepGoing)...))
				results.Go(func(ctx context.Context) (int, error) { return 0, task(ctx) })
				var errs []error
				for _, err := range results.All() {
					errs = append(errs, err)
				}
				return errors.Join(errs...)
			},
			"a stream": func(ctx context.Context, task func(ctx context.Context) error) error {
				var errs []error
				var options []par.StreamOption
				if keepGoing {
					options = append(options, par.KeepGoing())
				}
				call := func(ctx context.Context, _ int) (int, error) { return 0, task(ctx) }
				for _, err := range par.Stream(ctx, []int{0}, call, options...) {
					errs = append(errs, err)
				}
				return errors.Join(errs...)
			},
			"a loop": func(ctx context.Context, task func(ctx context.Context) error) error {
				if keepGoing {
					return par.Each(ctx, []int{0}, func(ctx context.Context, _ int) error { return task(ctx) }, par.KeepGoing())
				}
				return par.Each(ctx, []int{0}, func(ctx context.Context, _ int) error { return task(ctx) })
			},
		} {
			var indices []int
			var err error
			g := p.Group(t.Context())
			g.Go(succeed)
			begun := make(chan struct{})
			g.Go(func(ctx context.Context) error {
				err = inner(ctx, func(ctx context.Context) error {
					close(begun)
					<-ctx.Done()
					return io.ErrUnexpectedEOF
				})
				for failure := range weir.Failures(err) {
					indices = append(indices, failure.Index)
				}
				return err
			})
			g.Go(func(context.Context) error { <-begun; return errBoom })
			failed, ok := errors.AsType[*weir.TaskError](g.Wait())
			check.Equal(t, name+": index", ok && failed.Index == 2, true)
			check.Equal(t, name+": the cause is in the error", errors.Is(err, errBoom), true)
			fails := keepGoing && name != "a group without tasks" && name != "a stream" // which ends with its context
			if want := map[bool]string{false: "[]", true: "[0]"}[fails]; fmt.Sprint(indices) != want {
				t.Errorf("%s, keeps going: %t: failures %v of %v, want %s", name, keepGoing, indices, err, want)
			}
		}
	}
}

func goesOn(keepGoing bool) []weir.GroupOption {
	if keepGoing {
		return []weir.GroupOption{weir.KeepGoing()}
	}
	return nil
}

func waitFor(g *weir.Group, task func(ctx context.Context) error) error {
	g.Go(task)
	return g.Wait()
}

// A task may hand the failure of its group up to the context that the group was made from: it is still the group's own.
func TestAFailureThatIsHandedUpIsStillOfTheGroup(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, first, second func(ctx context.Context) error) error{
		"a group": func(ctx context.Context, first, second func(ctx context.Context) error) error {
			g := weir.NewGroup(ctx, 2)
			g.Go(first)
			return waitFor(g, second)
		},
		"a loop": func(ctx context.Context, first, second func(ctx context.Context) error) error {
			return par.Each(ctx, []func(context.Context) error{first, second}, func(ctx context.Context, f func(context.Context) error) error { return f(ctx) }, par.Limit(2))
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		begun := make(chan struct{})
		err := wait(ctx, func(context.Context) error { <-begun; return errBoom }, func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			cancel(context.Cause(ctx))
			return nil
		})
		failures := 0
		for failure := range weir.Failures(err) {
			check.Equal(t, name+": index", failure.Index, 0)
			failures++
		}
		check.Equal(t, name+": failures", failures, 1)
	}
}
