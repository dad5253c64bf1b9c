package model_test

import (
	"context"
	"sync/atomic"

	"github.com/64ed045f/weir"
)

// driver is what [weir.Pool] and [weir.FuncPool] have in common, for tasks of a world.
type driver interface {
	Submit(k *task) error
	SubmitContext(ctx context.Context, k *task) error
	TrySubmit(k *task) error
	Shutdown(ctx context.Context) (unrun []*task, err error)

	Wait()
	WaitContext(ctx context.Context) error
	Resize(limit int)
	Pause()
	Resume()
	Close()
	Stats() weir.Stats
}

type poolDriver struct{ *weir.Pool }

func (d poolDriver) Submit(k *task) error    { return d.Pool.Submit(k.handedOver()) }
func (d poolDriver) TrySubmit(k *task) error { return d.Pool.TrySubmit(k.handedOver()) }

func (d poolDriver) SubmitContext(ctx context.Context, k *task) error {
	return d.Pool.SubmitContext(ctx, k.handedOver())
}

// Shutdown returns the tasks whose functions the pool hands back.
func (d poolDriver) Shutdown(ctx context.Context) ([]*task, error) {
	functions, err := d.Pool.Shutdown(ctx)
	return who(functions), err
}

// who asks each function that Shutdown hands back for its task: functions cannot be compared.
func who(functions []func()) (unrun []*task) {
	for _, f := range functions {
		asked.Store(&unrun)
		f()
		asked.Store(nil)
	}
	return unrun
}

// asked, while it is set, makes the function of a task name the task and not run it. Only
// the holder of a function that was handed back sets it, for the one call.
var asked atomic.Pointer[[]*task]

func (k *task) handedOver() func() {
	return func() {
		if unrun := asked.Load(); unrun != nil {
			*unrun = append(*unrun, k)
			return
		}
		k.run()
	}
}

type funcDriver struct{ *weir.FuncPool[*task] }

func (d funcDriver) Submit(k *task) error    { return d.Invoke(k) }
func (d funcDriver) TrySubmit(k *task) error { return d.TryInvoke(k) }

func (d funcDriver) SubmitContext(ctx context.Context, k *task) error {
	return d.InvokeContext(ctx, k)
}
