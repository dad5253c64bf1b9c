package weir_test

import (
	"context"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise13MisusePanicsAtTheCall(t *testing.T) {
	var (
		none context.Context
		ctx  = context.Background()
		p    = weir.New(2)
		f    = weir.NewFunc(2, func(int) {})
		g    = p.Group(ctx)
	)
	defer p.Close()
	defer f.Close()
	const (
		limit  = "weir: limit must be at least 1, got "
		noTask = "weir: task must not be nil, got nil"
		noPool = "weir: pool must not be nil, got nil"
		noCtx  = "weir: context must not be nil, got nil"
		noOpt  = "weir: option must not be nil, got nil"
	)
	for _, misuse := range []struct {
		name, want string
		call       func()
	}{
		{"New limit 0", limit + "0", func() { weir.New(0) }},
		{"New limit -1", limit + "-1", func() { weir.New(-1) }},
		{"NewFunc limit 0", limit + "0", func() { weir.NewFunc(0, func(int) {}) }},
		{"NewGroup limit 0", limit + "0", func() { weir.NewGroup(ctx, 0) }},
		{"Resize 0", limit + "0", func() { p.Resize(0) }},
		{"FuncPool Resize -3", limit + "-3", func() { f.Resize(-3) }},
		{"Group Resize 0", limit + "0", func() { g.Resize(0) }},
		{"Resize of a group without a limit", "weir: group on a pool must have a Limit to be resized, got none", func() { p.Group(ctx).Resize(3) }},
		{"Limit 0", limit + "0", func() { weir.Limit(0) }},
		{"Queue -1", "weir: queue must be at least 0, got -1", func() { weir.Queue(-1) }},
		{"MaxWaiting -1", "weir: waiting submitters must be at least 0, got -1", func() { weir.MaxWaiting(-1) }},
		{"IdleTimeout -1", "weir: idle timeout must be at least 0, got -1ns", func() { weir.IdleTimeout(-1) }},
		{"Prestart -1", "weir: prestarted workers must be at least 0, got -1", func() { weir.Prestart(-1) }},
		{"Prestart 3 of 2", "weir: prestarted workers must be at most the limit 2, got 3", func() { weir.New(2, weir.Prestart(3)) }},
		{"Prestart 3 of 2 in a group", "weir: prestarted workers must be at most the limit 2, got 3", func() { weir.NewGroup(ctx, 2, weir.Prestart(3)) }},
		{"Lane limit 0", limit + "0", func() { p.Lane(0) }},
		{"Lane of nil", noPool, func() { (*weir.Pool)(nil).Lane(1) }},
		{"On nil", noPool, func() { weir.On(nil) }},
		{"Share 0", "weir: share must be from 1 to 1<<20, got 0", func() { weir.Share(0) }},
		{"Priority", "weir: priority must be from -1<<30 to 1<<30, got 1073741825", func() { weir.Priority(1<<30 + 1) }},
		{"Aging 0", "weir: time of aging must be more than 0, got 0s", func() { weir.Aging(0) }},
		{"New Share", "weir: option must fit a pool that is no lane, got Share", func() { weir.New(1, weir.Share(2)) }},
		{"Lane IdleTimeout", "weir: options of a lane must not be about workers, which are those of its pool, got IdleTimeout or Prestart", func() { p.Lane(1, weir.IdleTimeout(1)) }},
		{"NewGroup On", "weir: option must be that of a pool, got On", func() { weir.NewGroup(ctx, 1, weir.On(p)) }},
		{"NewStateful On Prestart", "weir: option of a lane must not be about workers, which are those of its pool, got Prestart", func() {
			weir.NewStateful(2, func() (int, error) { return 0, nil }, func(int, int) {}, func(int) {}, weir.On(p), weir.Prestart(1))
		}},
		{"OnPanic nil", "weir: panic handler must not be nil, got nil", func() { weir.OnPanic(nil) }},
		{"ExpireAfter 0", "weir: time in the queue must be more than 0, got 0s", func() { weir.ExpireAfter(0) }},
		{"OnError nil", "weir: handler of errors must not be nil, got nil", func() { weir.OnError(nil) }},
		{"NewFuncContext nil", "weir: function must not be nil, got nil", func() { weir.NewFuncContext[int](2, nil) }},
		{"FuncContext zero value", "weir: pool must be made by NewFuncContext, got the zero value", func() { new(weir.FuncContext[int]).Close() }},
		{"FuncContext nil", "weir: pool must not be nil, got nil", func() { (*weir.FuncContext[int])(nil).Wait() }},
		{"FuncContext Go nil", "weir: context must not be nil, got nil", func() {
			_ = weir.NewFuncContext(2, func(context.Context, int) error { return nil }).Go(nil, 1) //nolint:staticcheck // as it must not be
		}},
		{"NewFunc OnError", "weir: option must fit a pool that hands the errors of its tasks to a function, got OnError", func() { weir.NewFunc(2, func(int) {}, weir.OnError(func(error) {})) }},
		{"NewGroup OnError", "weir: option must fit a pool that hands the errors of its tasks to a function, got OnError", func() { weir.NewGroup(ctx, 2, weir.OnError(func(error) {})) }},
		{"NewStateful OnError", "weir: option must fit a pool that hands the errors of its tasks to a function, got OnError", func() {
			weir.NewStateful(2, func() (int, error) { return 0, nil }, func(int, int) {}, func(int) {}, weir.OnError(func(error) {}))
		}},
		{"Go on no pool", noPool, func() { _ = (*weir.Pool)(nil).Go(ctx, succeed) }},
		{"Go without context", noCtx, func() { _ = p.Go(none, succeed) }},
		{"Go without task", noTask, func() { _ = p.Go(ctx, nil) }},
		{"Go on the zero pool", "weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value", func() { _ = new(weir.Pool).Go(ctx, succeed) }},
		{"KeepFor -1", "weir: time to keep must be at least 0, got -1ns", func() { weir.KeepFor(-1) }},
		{"NewKeyed on no pool", noPool, func() { weir.NewKeyed[int](nil, 1) }},
		{"NewKeyed limit 0", limit + "0", func() { weir.NewKeyed[int](p, 0) }},
		{"Keyed zero value", "weir: keyed must be made by NewKeyed, got the zero value", func() { _ = new(weir.Keyed[int]).Submit(1, nothing) }},
		{"Keyed nil task", noTask, func() { _ = weir.NewKeyed[int](p, 1).Submit(1, nil) }},
		{"KeyQueue -1", "weir: queue must be at least 0, got -1", func() { weir.KeyQueue(-1) }},
		{"ShareBy nil", "weir: function must not be nil, got nil", func() { weir.ShareBy[int](nil) }},
		{"ShareBy of another type", "weir: function of ShareBy must be a func(int) int, got a func(string) int", func() {
			weir.NewKeyed[int](p, 1, weir.ShareBy(func(string) int { return 1 }))
		}},
		{"NewOnce on no pool", noPool, func() { weir.NewOnce[int, int](nil) }},
		{"Once zero value", "weir: once must be made by NewOnce, got the zero value", func() { new(weir.Once[int, int]).Forget(1) }},
		{"Once without context", noCtx, func() { _, _ = weir.NewOnce[int, int](p).Do(none, 1, constant(1)) }},
		{"Once without task", noTask, func() { _, _ = weir.NewOnce[int, int](p).Do(ctx, 1, nil) }},
		{"NewFunc nil", "weir: function must not be nil, got nil", func() { weir.NewFunc[int](2, nil) }},
		{"New option nil", noOpt, func() { weir.New(2, nil) }},
		{"NewFunc option nil", noOpt, func() { weir.NewFunc(2, func(int) {}, nil) }},
		{"NewGroup option nil", noOpt, func() { weir.NewGroup(ctx, 2, nil) }},
		{"Group option nil", noOpt, func() { p.Group(ctx, nil) }},
		{"New Limit", "weir: option of a pool must not be a group's, got Limit", func() { weir.New(2, weir.Limit(1)) }},
		{"NewFunc KeepGoing", "weir: option of a pool must not be a group's, got KeepGoing", func() { weir.NewFunc(2, func(int) {}, weir.KeepGoing()) }},
		{"New PanicsAsErrors", "weir: option of a pool must not be a group's, got PanicsAsErrors", func() { weir.New(2, weir.PanicsAsErrors()) }},
		{"zero Pool", "weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value", func() { new(weir.Pool).Wait() }},
		{"zero FuncPool of large arguments", "weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value", func() { _ = new(weir.FuncPool[[8]int]).TryInvoke([8]int{}) }},
		{"zero FuncPool", "weir: pool must be made by New, NewFunc, NewFuncContext or NewStateful, got the zero value", func() { _ = new(weir.FuncPool[int]).Invoke(1) }},
		{"Submit to no pool", noPool, func() { _ = (*weir.Pool)(nil).Submit(nothing) }},
		{"SubmitContext to no pool", noPool, func() { _ = (*weir.Pool)(nil).SubmitContext(ctx, nothing) }},
		{"TrySubmit to no pool", noPool, func() { _ = (*weir.Pool)(nil).TrySubmit(nothing) }},
		{"Do on no pool", noPool, func() { _ = (*weir.Pool)(nil).Do(ctx, succeed) }},
		{"Group on no pool", noPool, func() { (*weir.Pool)(nil).Group(ctx) }},
		{"Async on no pool", noPool, func() { weir.Async(ctx, nil, func(context.Context) (int, error) { return 0, nil }) }},
		{"Invoke of no FuncPool", noPool, func() { _ = (*weir.FuncPool[int])(nil).Invoke(1) }},
		{"InvokeContext of no FuncPool", noPool, func() { _ = (*weir.FuncPool[int])(nil).InvokeContext(ctx, 1) }},
		{"TryInvoke of no FuncPool", noPool, func() { _ = (*weir.FuncPool[int])(nil).TryInvoke(1) }},
		{"Invoke of no Stateful", noPool, func() { _ = (*weir.Stateful[int, int])(nil).Invoke(1) }},
		{"InvokeContext of no Stateful", noPool, func() { _ = (*weir.Stateful[int, int])(nil).InvokeContext(ctx, 1) }},
		{"TryInvoke of no Stateful", noPool, func() { _ = (*weir.Stateful[int, int])(nil).TryInvoke(1) }},
		{"Call of no Stateful", noPool, func() { _ = (*weir.Stateful[int, int])(nil).Call(ctx, 1) }},
		{"Wait of no pool", noPool, func() { (*weir.Pool)(nil).Wait() }},
		{"WaitContext of no pool", noPool, func() { _ = (*weir.Pool)(nil).WaitContext(ctx) }},
		{"Resize of no pool", noPool, func() { (*weir.Pool)(nil).Resize(1) }},
		{"Pause of no FuncPool", noPool, func() { (*weir.FuncPool[int])(nil).Pause() }},
		{"Resume of no FuncPool", noPool, func() { (*weir.FuncPool[int])(nil).Resume() }},
		{"Close of no Stateful", noPool, func() { (*weir.Stateful[int, int])(nil).Close() }},
		{"Resize of no Stateful", noPool, func() { (*weir.Stateful[int, int])(nil).Resize(1) }},
		{"Stats of no Stateful", noPool, func() { (*weir.Stateful[int, int])(nil).Stats() }},
		{"Shutdown of no pool", noPool, func() { _, _ = (*weir.Pool)(nil).Shutdown(ctx) }},
		{"zero Group", "weir: group must be made by NewGroup or Pool.Group, got the zero value", func() { new(weir.Group).Go(succeed) }},
		{"zero Group waited for", "weir: group must be made by NewGroup or Pool.Group, got the zero value", func() { _ = new(weir.Group).Wait() }},
		{"Submit nil", noTask, func() { _ = p.Submit(nil) }},
		{"SubmitContext nil", noTask, func() { _ = p.SubmitContext(ctx, nil) }},
		{"TrySubmit nil", noTask, func() { _ = p.TrySubmit(nil) }},
		{"Go nil", noTask, func() { g.Go(nil) }},
		{"TryGo nil", noTask, func() { g.TryGo(nil) }},
		{"SubmitContext without context", noCtx, func() { _ = p.SubmitContext(none, nothing) }},
		{"InvokeContext without context", noCtx, func() { _ = f.InvokeContext(none, 1) }},
		{"WaitContext without context", noCtx, func() { _ = p.WaitContext(none) }},
		{"Shutdown without context", noCtx, func() { _, _ = p.Shutdown(none) }},
		{"FuncPool Shutdown without context", noCtx, func() { _, _ = f.Shutdown(none) }},
		{"NewGroup without context", noCtx, func() { weir.NewGroup(none, 2) }},
		{"Group without context", noCtx, func() { p.Group(none) }},
		{"Close the default pool", "weir: the default pool is shared and cannot be closed", func() { weir.Default().Close() }},
		{"Shutdown the default pool", "weir: the default pool is shared and cannot be closed", func() { _, _ = weir.Default().Shutdown(ctx) }},
	} {
		t.Run(misuse.name, func(t *testing.T) { check.Panics(t, misuse.want, misuse.call) })
	}
	// No misuse has done anything.
	check.OK(t, g.Wait())
	check.Equal(t, "stats", p.Stats(), weir.Stats{Limit: 2})
	check.Equal(t, "stats", f.Stats(), weir.Stats{Limit: 2})
	check.OK(t, p.Submit(nothing))
	check.OK(t, f.Invoke(1))
}
