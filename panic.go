package weir

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Panic is a panic of a task: its value and where it happened.
type Panic struct {
	// Value is what the task panicked with.
	Value any
	// Stack is the stack of the task's goroutine at that time, as
	// [debug.Stack] formats it.
	Stack []byte
	// Pool is the [Name] of the pool, if it has one.
	Pool string
}

// Error returns the value and the stack, so that a program that ends by a
// panic passed on from a [Group] shows where it came from.
func (p *Panic) Error() string {
	pool := p.Pool
	if pool != "" {
		pool = " in pool " + pool
	}
	return fmt.Sprintf("weir: task panicked%s: %v\n\n%s", pool, p.Value, p.Stack)
}

// Unwrap returns the value, if the task panicked with an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// reporter tells a pool's owner of panics that nobody waits for.
type reporter struct {
	pool    string
	onPanic func(*Panic)
}

// caught makes a Panic of what recover returned. It must be called while the
// stack that panicked still stands: from a deferred function.
func (r *reporter) caught(value any) *Panic {
	return &Panic{Value: value, Stack: debug.Stack(), Pool: r.pool}
}

// report calls the handler. A handler that panics must not take the worker down:
// that panic is logged, and so is the one that it was called for.
func (r *reporter) report(p *Panic) {
	if r.onPanic == nil {
		logPanic(p)
		return
	}
	defer func() {
		if value := recover(); value != nil {
			logPanic(p)
			slog.Error("weir: panic handler panicked", "pool", r.pool, "panic", value, "stack", string(debug.Stack()))
		}
	}()
	r.onPanic(p)
}

func logPanic(p *Panic) {
	slog.Error("weir: task panicked", "pool", p.Pool, "panic", p.Value, "stack", string(p.Stack))
}
