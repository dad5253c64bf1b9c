package weir_test

import (
	"bytes"
	"context"
	"errors"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// labelledTasks are the ways to run a task with a label.
var labelledTasks = map[string]func(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error{
	"group": func(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error {
		g := p.Group(ctx)
		g.Go(task)
		return g.Wait()
	},
	"subtask": func(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error {
		return p.Do(ctx, func(ctx context.Context) error {
			g := p.Group(ctx)
			g.Go(task)
			return g.Wait()
		})
	},
	"subtask of a subtask": func(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error {
		outer := p.Group(ctx)
		outer.Go(func(ctx context.Context) error {
			inner, cancel := context.WithCancel(ctx)
			defer cancel()
			g := p.Group(inner)
			g.Go(task)
			return g.Wait()
		})
		return outer.Wait()
	},
	"group with workers": func(ctx context.Context, _ *weir.Pool, task func(ctx context.Context) error) error {
		g := weir.NewGroup(ctx, 2)
		g.Go(task)
		return g.Wait()
	},
	"future": func(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error {
		_, err := weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, task(ctx) }).Get(context.Background())
		return err
	},
	"call of Hedge": func(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error {
		_, err := weir.Hedge(ctx, p, time.Hour, func(ctx context.Context) (int, error) { return 0, task(ctx) })
		return err
	},
	"call of Once": func(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error {
		_, err := weir.NewOnce[int, int](p).Do(ctx, 0, func(ctx context.Context) (int, error) { return 0, task(ctx) })
		return err
	},
}

func TestATaskHasItsLabelInProfiles(t *testing.T) {
	request := pprof.WithLabels(t.Context(), pprof.Labels("request", "7"))
	for name, run := range labelledTasks {
		t.Run(name, func(t *testing.T) {
			p := weir.New(2, weir.Name("post"))
			defer p.Close()
			check.OK(t, run(weir.Label(request, "order"), p, func(context.Context) error {
				if labelled("weir.task", "order") == 0 || labelled("request", "7") == 0 {
					t.Error("its goroutine does not have its labels")
				}
				if name != "group with workers" && labelled("weir", "post") == 0 {
					t.Error("its goroutine does not have the label of its pool")
				}
				return nil
			}))
			check.OK(t, p.Do(t.Context(), func(context.Context) error { return nil }))
			eventually(t, "no goroutine has the labels", func() bool { return labelled("weir.task", "order")+labelled("request", "7") == 0 })
		})
	}
}

func TestATaskHasItsLabelInTraces(t *testing.T) {
	for name, run := range labelledTasks {
		t.Run(name, func(t *testing.T) {
			p := weir.New(2)
			defer p.Close()
			var b bytes.Buffer
			check.OK(t, trace.Start(&b))
			err := run(weir.Label(t.Context(), "order 66"), p, func(context.Context) error { return nil })
			trace.Stop()
			check.OK(t, err)
			if !strings.Contains(b.String(), "order 66") {
				t.Error("the trace has no such region")
			}
		})
	}
}

func TestAPanicHasTheLabelOfItsTask(t *testing.T) {
	for name, run := range labelledTasks {
		t.Run(name, func(t *testing.T) {
			p := weir.New(2, weir.Name("post"))
			defer p.Close()
			var err error
			panicked, _ := check.Caught(func() { err = run(weir.Label(t.Context(), "order"), p, explodeInGroup) }).(error)
			if err != nil {
				panicked = err
			}
			var got *weir.Panic
			if !errors.As(panicked, &got) {
				t.Fatalf("got %v, want a panic", panicked)
			}
			check.Equal(t, "label", got.Label, "order")
			if !strings.Contains(got.Error(), `with label "order": boom`) {
				t.Errorf("the message is %q", got.Error())
			}
			eventually(t, "no goroutine has the label", func() bool { return labelled("weir.task", "order") == 0 })
		})
	}
}

func TestTheInnermostLabelCounts(t *testing.T) {
	p := weir.New(2)
	defer p.Close()
	ctx := weir.Label(weir.Label(t.Context(), "outer"), "inner")
	f := weir.Async(ctx, p, func(context.Context) (int, error) { panic(errBoom) })
	_, err := f.Get(t.Context())
	var got *weir.Panic
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a panic", err)
	}
	check.Equal(t, "label", got.Label, "inner")
}

// Each task has handed over the next, and is over.
func TestATaskCostsTheSameHoweverManyHaveHandedOverTheNext(t *testing.T) {
	p := weir.New(1)
	defer p.Close()
	once := weir.NewOnce[int, int](p)
	type body = func(ctx context.Context) error
	run := weir.NewFuncContext(1, func(ctx context.Context, task body) error { return task(ctx) }, weir.On(p))
	for name, run := range map[string]func(ctx context.Context, task body) error{
		"Pool.Go": func(ctx context.Context, task body) error {
			return errors.Join(p.Go(ctx, task), p.WaitContext(t.Context()))
		},
		"FuncContext": func(ctx context.Context, task body) error {
			return errors.Join(run.Go(ctx, task), run.WaitContext(t.Context()))
		},
		"Pool.Do": p.Do,
		"future":  func(ctx context.Context, task body) error { return labelledTasks["future"](ctx, p, task) },
		"Hedge":   func(ctx context.Context, task body) error { return labelledTasks["call of Hedge"](ctx, p, task) },
		"group":   func(ctx context.Context, task body) error { return runIn(ctx, p, task) },
		"Once": func(ctx context.Context, task body) error {
			_, err := once.Do(ctx, 0, func(ctx context.Context) (int, error) { return 0, task(ctx) })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			check.Flat(t, 200, func(n int) (f, end func()) {
				ctx := t.Context()
				for range n {
					check.OK(t, run(context.WithoutCancel(ctx), func(own context.Context) error {
						ctx = own
						return nil
					}))
				}
				return func() { check.OK(t, run(context.WithoutCancel(ctx), succeed)) }, func() {}
			})
		})
	}
}

func TestWhatIsNoLabelIsRefused(t *testing.T) {
	check.Panics(t, `weir: label must not be empty, got ""`, func() { weir.Label(t.Context(), "") })
	check.Panics(t, "weir: context must not be nil, got nil", func() { weir.Label(nil, "order") }) //nolint:staticcheck // that is what is tested
}
