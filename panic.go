package weir

import (
	"fmt"
	"log/slog"

	"github.com/64ed045f/weir/internal/inside"
)

// Panic is a panic of a task: its value and where it happened.
type Panic struct {
	// Value is what the task panicked with.
	Value any
	// Stack is the stack of the task's goroutine at that time, as [debug.Stack]
	// formats it, from the panic on.
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
	return &Panic{Value: value, Stack: inside.PanicStack(), Pool: r.pool}
}

// report calls the handler. A handler that panics must not take the worker down:
// that panic is logged, and so is the one that it was called for.
func (r *reporter) report(p *Panic) {
	if r.onPanic == nil {
		logPanic("weir: task panicked", p)
		return
	}
	defer func() {
		if value := recover(); value != nil {
			logPanic("weir: task panicked", p)
			logPanic("weir: panic handler panicked", r.caught(value))
		}
	}()
	r.onPanic(p)
}

func logPanic(message string, p *Panic) {
	attributes := []any{"panic", p.Value, "stack", string(p.Stack)}
	if p.Pool != "" {
		attributes = append(attributes, "pool", p.Pool)
	}
	slog.Error(message, attributes...)
}
