package model_test

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/model"
)

// once is a Once and its model.
type once struct {
	lib   *weir.Once[int, error]
	model *model.Once
	keep  time.Duration
}

func (m *poolMachine) makeOnce(pool *weir.Pool) {
	keep := oneOf(m.t, []time.Duration{0, 2 * time.Second}, "keep for")
	m.once = &once{weir.NewOnce[int, error](pool, weir.KeepFor(keep)), m.views[0].model.NewOnce(keep), keep}
}

func (m *poolMachine) doOnce(t *rapid.T) {
	k, ctx, key := m.newTask(), m.drawContext(t), between(t, 0, 1, "key")
	k.value = fmt.Errorf("the value of task %d", k.model.ID)
	m.step = fmt.Sprintf("Do of key %d with task %d", key, k.model.ID)
	m.call(m.step, m.once.model.Do(ctx.model, key, k.model), func(*call) error {
		value, err := m.once.lib.Do(ctx, key, func(ctx context.Context) (error, error) { return k.value, k.member(ctx) })
		return cmp.Or(err, value)
	})
}

// onceInside calls Do in the task that it would wait for.
func (m *poolMachine) onceInside(t *rapid.T) {
	k := pickIf(t, m.able(), "task of a Once", func(k *task) bool {
		_, joins, _ := m.once.model.Joined(k.model)
		return joins
	})
	key, _, _ := m.once.model.Joined(k.model)
	m.step = fmt.Sprintf("Do of key %d in its task", key)
	c := m.newCall(m.step, &model.Call{Done: true, Err: cmp.Or(k.model.Cause, weir.ErrRecursive)})
	k.orders <- order{do: func() {
		c.make(m.world, func(*call) error {
			_, err := m.once.lib.Do(k.ctx, key, func(context.Context) (none, err error) { return none, err })
			return err
		})
	}}
}

func (m *poolMachine) forget(t *rapid.T) {
	key := between(t, 0, 1, "key")
	m.step = fmt.Sprintf("Forget of key %d", key)
	m.once.model.Forget(key)
	m.once.lib.Forget(key)
}

// endRun tells the callers of a task that a Once runs what it ends with.
func (m *poolMachine) endRun(k *task, err error) {
	if k.value != nil {
		m.once.model.End(k.model, cmp.Or(err, k.value), err == nil)
	}
}

// panicRun is the panic of such a task. One that no call waits for must not panic: OnPanic would get that when the collector has found out.
func (m *poolMachine) panicRun(k *task, b *boom) {
	if _, _, callers := m.once.model.Joined(k.model); callers == 0 {
		notNow()
	}
	m.endRun(k, &weir.Panic{Value: b})
	k.model.Pool.Panicked(k.model)
	k.model.Pool.Finish(k.model)
}
