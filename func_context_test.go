package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestAFuncContextCallsItsFunctionWithEachArgument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got errorsOf
		var sum atomic.Int64
		p := weir.NewFuncContext(2, func(ctx context.Context, arg int) error {
			check.Equal(t, "value of the context", fmt.Sprint(ctx.Value(key{})), "value")
			time.Sleep(time.Second)
			if arg < 0 {
				return errBoom
			}
			sum.Add(int64(arg))
			return nil
		}, weir.OnError(got.add))
		ctx := context.WithValue(t.Context(), key{}, "value")
		for i := range 10 {
			check.OK(t, p.Go(ctx, i))
		}
		check.OK(t, p.Go(ctx, -1))
		synctest.Wait()
		check.Equal(t, "running", p.Stats().Running, 2)
		time.Sleep(2 * time.Millisecond)
		check.Equal(t, "running for a millisecond", len(p.Running(time.Millisecond)), 2)
		p.Wait()
		check.Equal(t, "sum", sum.Load(), 45)
		check.Equal(t, "errors", got.String(), "[boom]")
		check.Equal(t, "runs measured", p.Times().Run.Count(), 11)
		p.Pause()
		check.OK(t, p.Go(ctx, 1))
		check.Error(t, p.WaitContext(ended(t)), context.Canceled)
		p.Resize(1)
		p.Resume()
		p.Close()
		check.Equal(t, "sum in the end", sum.Load(), 46)
		check.Error(t, p.Go(ctx, 1), weir.ErrClosed)
	})
}

type key struct{}

// ended returns a context that is done.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestAFuncContextTellsWhichArgumentWentWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got errorsOf
		var panics []any
		v := check.NewValve()
		p := weir.NewFuncContext(1, func(_ context.Context, arg string) error {
			switch arg {
			case "blocks":
				v.Hold()
			case "panics":
				panic("oh")
			case "exits":
				runtime.Goexit()
			default:
				t.Errorf("it was called with %q", arg)
			}
			return nil
		}, weir.OnError(got.add), weir.OnPanic(func(p *weir.Panic) { panics = append(panics, p.Arg) }))
		ctx, cancel := context.WithCancelCause(t.Context())
		check.OK(t, p.Go(t.Context(), "blocks"))
		check.OK(t, p.Go(weir.Label(ctx, "labelled"), "cancelled"))
		check.OK(t, p.Go(t.Context(), "panics"))
		check.OK(t, p.Go(t.Context(), "exits"))
		cancel(errBoom)
		v.Open()
		p.Close()
		check.Equal(t, "panics", fmt.Sprint(panics), "[panics]")
		check.Equal(t, "errors", got.String(), `[weir: task "labelled" did not start: boom `+weir.ErrGoexit.Error()+"]")
		dropped, _ := errors.AsType[*weir.DroppedError](got.list[0])
		check.Equal(t, "argument", dropped.Arg, any("cancelled"))
	})
}

func TestShutdownOfAFuncContextReturnsArgumentsAndReachesCallsThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := weir.New(1)
		defer other.Close()
		var cause error
		p := weir.NewFuncContext(1, func(ctx context.Context, arg int) error {
			check.Equal(t, "argument", arg, 0)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil
		}, weir.OnError(func(err error) { t.Errorf("OnError got %v", err) }))
		for i := range 4 {
			check.OK(t, p.Go(t.Context(), i))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		unrun, err := p.Shutdown(ctx)
		equalSlices(t, "handed back", unrun, []int{1, 2, 3})
		check.Error(t, err, context.DeadlineExceeded)
		shut, _ := errors.AsType[*weir.ShutdownError](err)
		check.Equal(t, "running", shut.Running, 1)
		p.Close()
		check.Error(t, cause, weir.ErrClosed)
		check.Equal(t, "handed back by the count", p.Stats().HandedBack, 3)
	})
}

func TestArgumentsOfAFuncContextExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := check.NewValve()
		got := make(chan error, 1)
		p := weir.NewFuncContext(1, func(context.Context, int) error { v.Hold(); return nil },
			weir.ExpireAfter(time.Second), weir.OnError(func(err error) { got <- err }))
		check.OK(t, p.Go(t.Context(), 1))
		synctest.Wait()
		check.OK(t, p.Go(t.Context(), 2))
		dropped, _ := errors.AsType[*weir.DroppedError](<-got)
		check.Error(t, dropped, weir.ErrExpired)
		check.Equal(t, "argument", dropped.Arg, any(2))
		v.Open()
		p.Close()
	})
}

// A context that outlives its call does not keep the argument alive.
func TestTheContextOfACallLetsGoOfTheArgument(t *testing.T) {
	var kept []context.Context
	p := weir.NewFuncContext(1, func(ctx context.Context, arg *[1 << 10]byte) error {
		kept = append(kept, ctx)
		if arg[0] == 1 {
			panic("oh")
		}
		return nil
	}, weir.OnPanic(func(*weir.Panic) {}))
	var args []weak.Pointer[[1 << 10]byte]
	for i := range 2 {
		arg := new([1 << 10]byte)
		arg[0] = byte(i)
		args = append(args, weak.Make(arg))
		check.OK(t, p.Go(t.Context(), arg))
	}
	p.Close()
	for i, arg := range args {
		if !check.Tries(100, func() bool { runtime.GC(); return arg.Value() == nil }) {
			t.Errorf("argument %d is kept", i)
		}
	}
	runtime.KeepAlive(kept)
}

func TestACallOfAFuncContextTakesOneAllocation(t *testing.T) {
	p := weir.NewFuncContext(1, func(context.Context, int) error { return nil })
	defer p.Close()
	ctx := t.Context()
	wait := testing.AllocsPerRun(200, p.Wait)
	got := testing.AllocsPerRun(200, func() {
		check.OK(t, p.Go(ctx, 1))
		p.Wait()
	})
	if got > wait+1 && !check.Race {
		t.Errorf("%.1f allocations, %.1f of them in Wait", got, wait)
	}
}

func TestAFuncContextIsListedAsOne(t *testing.T) {
	p := weir.NewFuncContext(1, func(context.Context, int) error { return nil }, weir.Name("listed as a FuncContext"))
	defer p.Close()
	check.OK(t, p.Go(t.Context(), 1))
	p.Wait()
	for info := range weir.Pools() {
		if info.Name == "listed as a FuncContext" {
			check.Equal(t, "kind", info.Kind, "FuncContext[int]")
			if !strings.Contains(info.Made, "func_context_test.go:") {
				t.Errorf("it was made at %s", info.Made)
			}
			return
		}
	}
	t.Error("it is not listed")
}
