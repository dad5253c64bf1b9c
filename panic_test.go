package weir_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise07APanicLosesNeitherWorkerNorSlotNorWaiter(t *testing.T) {
	// full checks that all workers are still there, by limit tasks that need each other.
	full := func(t *testing.T, p *weir.Pool, limit int) {
		t.Helper()
		block(t, p, limit).Open()
		p.Wait()
	}

	check.Bubble(t, "OnPanic gets value and stack", func(t *testing.T) {
		var got []*weir.Panic
		p := weir.New(1, weir.Name("upload"), weir.OnPanic(func(p *weir.Panic) { got = append(got, p) }))
		defer p.Close()
		check.OK(t, p.Submit(explode))
		p.Wait()
		if len(got) != 1 {
			t.Fatalf("the handler was called %d times", len(got))
		}
		check.Equal(t, "value", got[0].Value, any(errBoom))
		check.Equal(t, "pool", got[0].Pool, "upload")
		check.Error(t, got[0], errBoom)
		if !strings.Contains(string(got[0].Stack), "weir_test.explode") {
			t.Errorf("no trace of the task in its stack:\n%s", got[0].Stack)
		}
		if want := regexp.MustCompile(`^weir: task panicked in pool upload: boom \(helpers_test\.go:\d+\)$`); !want.MatchString(got[0].Error()) {
			t.Errorf("message: %v", got[0])
		}
		check.Equal(t, "panicked", p.Stats().Panicked, 1)
		check.Equal(t, "finished", p.Stats().Finished, 1)
	})
	check.Bubble(t, "the default logs", func(t *testing.T) {
		out := check.Log(t)
		p := weir.New(1, weir.Name("upload"))
		check.OK(t, p.Submit(explode))
		p.Close()
		for _, part := range []string{"level=ERROR", "task panicked", "panic=boom", "pool=upload", "weir_test.explode"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%q is not in the log:\n%s", part, out)
			}
		}
	})
	check.Bubble(t, "a handler that panics", func(t *testing.T) {
		out := check.Log(t)
		p := weir.New(2, weir.OnPanic(func(*weir.Panic) { panic("handler failed") }))
		defer p.Close()
		for range 4 {
			check.OK(t, p.Submit(explode))
		}
		p.Wait()
		for _, part := range []string{"boom", "handler failed"} {
			check.Equal(t, part+" in the log", strings.Count(out.String(), "panic="+part)+strings.Count(out.String(), `panic="`+part), 4)
		}
		full(t, p, 2)
	})
	check.Bubble(t, "a handler that calls Goexit", func(t *testing.T) {
		p := weir.New(2, weir.OnPanic(func(*weir.Panic) { runtime.Goexit() }))
		defer p.Close()
		for range 4 {
			check.OK(t, p.Submit(explode))
		}
		p.Wait()
		full(t, p, 2)
		check.Equal(t, "finished", p.Stats().Finished, 6)
	})

	for _, kind := range surfaces {
		for _, limit := range []int{1, 2, 4} {
			for _, queue := range []int{0, 1, 64} {
				check.Bubble(t, fmt.Sprintf("the limit is whole afterwards/%s/limit=%d/queue=%d", kind.name, limit, queue), func(t *testing.T) {
					v := check.NewValve()
					var handled atomic.Int32
					p := kind.make(limit, func(i int) {
						switch i {
						case 0:
							panic(nil) //nolint:govet // the one value that recover used to hide
						case 1:
							runtime.Goexit()
						case 2:
							panic("again")
						default:
							v.Hold()
						}
					}, weir.Queue(queue), weir.OnPanic(func(*weir.Panic) { handled.Add(1) }))
					for i := range 3 * limit {
						check.OK(t, p.submit(i%3))
					}
					p.Wait()
					check.Equal(t, "handled", int(handled.Load()), 2*limit)
					for range limit {
						check.OK(t, p.submit(3))
					}
					synctest.Wait()
					check.Equal(t, "running at once", v.Running(), limit)
					v.Open()
					p.Close()
					check.Equal(t, "finished", p.Stats().Finished, uint64(4*limit))
				})
			}
		}
	}

	for _, name := range []string{
		"crash in a pool", "crash in a group", "crash in a key", "crash in a group of a key", "crash in a worker's value", "crash in a worker's value after Goexit",
		"crash in a value that a lane keeps", "crash in a value that a lane of a closed pool keeps", "crash in OnOpenError", "crash in OnOpenError after Goexit",
	} {
		t.Run("CrashOnPanic/"+name, func(t *testing.T) {
			out, err := check.Child(t, name)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("ended with %v, not as a panic ends a program", err)
			}
			for _, part := range []string{"panic: ", "boom", "weir_test.explode"} {
				if !strings.Contains(out, part) {
					t.Errorf("%q is not in what the program wrote:\n%s", part, out)
				}
			}
			for _, part := range []string{"another call has begun", "told:"} {
				if strings.Contains(out, part) {
					t.Errorf("%q is in what the program wrote:\n%s", part, out)
				}
			}
		})
	}
	t.Run("the program lives on", func(t *testing.T) {
		out, err := check.Child(t, "survive")
		check.OK(t, err)
		if !strings.Contains(out, "survived") {
			t.Errorf("the program wrote:\n%s", out)
		}
	})

	check.Bubble(t, "a group's Wait panics with the task's stack", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		g.Go(explodeInGroup)
		g.Go(untilCancelled)
		value := check.Caught(func() { _ = g.Wait() })
		p, isPanic := value.(*weir.Panic)
		if !isPanic {
			t.Fatalf("Wait panicked with %v", value)
		}
		check.Equal(t, "value", p.Value, any(errBoom))
		if !strings.Contains(string(p.Stack), "weir_test.explodeInGroup") {
			t.Errorf("no trace of the task in its stack:\n%s", p.Stack)
		}
	})
	check.Bubble(t, "PanicsAsErrors", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.PanicsAsErrors())
		g.Go(untilCancelled)
		g.Go(explodeInGroup)
		err := g.Wait()
		var p *weir.Panic
		var failure *weir.TaskError
		if !errors.As(err, &p) || !errors.As(err, &failure) {
			t.Fatalf("Wait returned %v", err)
		}
		check.Equal(t, "index", failure.Index, 1)
		check.Error(t, err, errBoom)
		if !strings.Contains(string(p.Stack), "weir_test.explodeInGroup") {
			t.Errorf("no trace of the task in its stack:\n%s", p.Stack)
		}
	})
	check.Bubble(t, "Goexit in a group is an error", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		g.Go(untilCancelled)
		g.Go(exitInGroup)
		err := g.Wait()
		check.Error(t, err, weir.ErrGoexit)
		var failure *weir.TaskError
		if !errors.As(err, &failure) || failure.Index != 1 {
			t.Errorf("Wait returned %v", err)
		}
	})
	check.Bubble(t, "a group on a pool leaves the limit whole", func(t *testing.T) {
		p := weir.New(3, weir.OnPanic(func(*weir.Panic) {}))
		defer p.Close()
		for _, sub := range []weir.GroupOption{weir.Limit(3), weir.KeepGoing()} {
			g := p.Group(t.Context(), sub, weir.PanicsAsErrors())
			for range 3 {
				g.Go(exitInGroup)
				g.Go(explodeInGroup)
			}
			if g.Wait() == nil {
				t.Error("the group did not fail")
			}
			v := check.NewValve()
			for range 3 {
				g.Go(v.Member)
			}
			synctest.Wait()
			check.Equal(t, "running at once", v.Running(), 3)
			v.Open()
			check.OK(t, g.Wait())
		}
		full(t, p, 3)
	})
	check.Bubble(t, "the second panic of a group goes to the handler", func(t *testing.T) {
		var handled atomic.Int32
		g := weir.NewGroup(t.Context(), 3, weir.OnPanic(func(*weir.Panic) { handled.Add(1) }))
		v := check.NewValve()
		for range 3 {
			g.Go(func(context.Context) error { v.Hold(); panic(errBoom) })
		}
		synctest.Wait()
		v.Open()
		if _, isPanic := check.Caught(func() { _ = g.Wait() }).(*weir.Panic); !isPanic {
			t.Error("Wait did not panic")
		}
		check.Equal(t, "handled", handled.Load(), 2)
	})
}

func TestCrashOnPanicEndsTheProgramBeforeAnyWaitReturns(t *testing.T) {
	for range check.Scale(10, 3) {
		if output, err := check.Child(t, "crash slowly"); err == nil {
			t.Errorf("the program ended well after a panic:\n%s", output)
		}
	}
}

func TestAPanicIsOneLineUnlessItsStackIsAskedFor(t *testing.T) {
	p := &weir.Panic{Value: "first\nsecond", Stack: []byte("goroutine 7 [running]:\npanic(...)\n\t/go/panic.go:1\nmain.f()\n\t/src/main.go:12 +0x1d\n")}
	const line = "weir: task panicked: first second (main.go:12)"
	for format, want := range map[string]string{
		"%v": line, "%s": line, "%q": strconv.Quote(line), "%60s": strings.Repeat(" ", 60-len(line)) + line,
		"%+v": line + "\n\n" + string(p.Stack),
	} {
		check.Equal(t, format, fmt.Sprintf(format, p), want)
	}
	if got := fmt.Sprintf("%#v", p); !strings.Contains(got, `Value:"first\nsecond"`) {
		t.Errorf("%%#v: %s", got)
	}
}

func TestAPanicHasTheArgumentOfItsCall(t *testing.T) {
	panics := make(chan *weir.Panic, 1)
	report := weir.OnPanic(func(p *weir.Panic) { panics <- p })
	explodeWith := func(int) { explode() }

	f := weir.NewFunc(1, explodeWith, report)
	defer f.Close()
	check.OK(t, f.Invoke(7))
	check.Equal(t, "of a FuncPool", (<-panics).Arg, any(7))

	s := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(_, arg int) { explodeWith(arg) }, nil, report)
	defer s.Close()
	check.OK(t, s.Invoke(8))
	check.Equal(t, "of a Stateful", (<-panics).Arg, any(8))
	err := s.Call(t.Context(), 9)
	called, _ := errors.AsType[*weir.Panic](err)
	check.Equal(t, "of a Call", called.Arg, any(9))

	p := weir.New(1, report)
	defer p.Close()
	check.OK(t, p.Submit(explode))
	check.Equal(t, "of a Pool", (<-panics).Arg, any(nil))
}
