//go:build !race

package weir_test

import (
	"context"
	"runtime"
	"testing"
	"unsafe"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// address returns p as a number, which changes when the stack that p points into is copied to a larger one.
//
//go:noinline
func address(p *byte) uintptr { return uintptr(unsafe.Pointer(p)) }

// grows reports whether call makes the stack of a new goroutine grow, which takes longer than most calls do.
func grows(call func()) bool {
	grown := make(chan bool)
	go func() {
		var local byte
		before := address(&local)
		call()
		grown <- address(&local) != before
	}()
	return <-grown
}

// A goroutine begins with 2 KB of stack, of which calls may use half. When it needs more, the runtime copies the stack, which takes a microsecond.
func TestCallsOfANewGoroutineNeedLittleStack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := weir.New(8, weir.Measure(0))
	defer p.Close()
	full := weir.New(1, weir.Queue(0), weir.Measure(0))
	defer full.Close()
	calls := weir.NewFunc(8, func(int) {})
	defer calls.Close()
	keyed := weir.NewKeyed[string](p, 1)
	once := weir.NewOnce[string, int](p)
	short := func(context.Context) error { return nil }
	long := func(context.Context) error { // so that its caller begins to wait
		for range 100 {
			runtime.Gosched()
		}
		return nil
	}
	value := func(context.Context) (int, error) { return 1, long(nil) }
	three := func(g *weir.Group, task func(context.Context) error) func() {
		return func() {
			for range 3 {
				g.Go(task)
			}
			_ = g.Wait()
		}
	}
	for name, call := range map[string]func(){
		"Submit":         func() { _ = p.Submit(nothing) },
		"TrySubmit":      func() { _ = p.TrySubmit(nothing) },
		"SubmitContext":  func() { _ = p.SubmitContext(ctx, nothing) },
		"a full pool":    func() { _, _ = full.SubmitContext(ctx, func() { _ = long(nil) }), full.SubmitContext(ctx, nothing) },
		"Invoke":         func() { _ = calls.Invoke(1) },
		"Go":             func() { _ = p.Go(ctx, short) },
		"Do":             func() { _ = p.Do(ctx, short) },
		"a future":       func() { _, _ = weir.Async(ctx, p, value).Get(ctx) },
		"Once":           func() { _, _ = once.Do(ctx, "key", value) },
		"a key":          func() { _ = keyed.Submit("key", nothing) },
		"a pool's group": func() { three(p.Group(ctx), short)() },
		"one that waits": func() { three(p.Group(ctx), long)() },
		"a group":        func() { three(weir.NewGroup(ctx, 4), short)() },
		"a limit":        func() { three(weir.NewGroup(ctx, 1), long)() },
		"results": func() {
			r := weir.NewResults[int](p.Group(ctx))
			r.Go(value)
			_, _ = r.Wait()
		},
		"a loop over results": func() {
			r := weir.NewResults[int](p.Group(ctx))
			r.Go(value)
			for _, err := range r.All() {
				_ = err
			}
		},
	} {
		grown := 0
		for range 30 {
			if grows(call) {
				grown++
			}
		}
		if grown > 20 { // a few do, as the collector's work is on their stacks
			t.Errorf("%s: %d of 30 stacks grow", name, grown)
		}
	}
	check.OK(t, ctx.Err())
}
