package weir

import (
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
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
	// Label is the one of the task's context, if it has one: see [Label].
	Label string
	// Arg is the argument, if the task is a call of the function of a [FuncPool], [FuncContext] or [Stateful]; else nil.
	Arg any
}

// Error returns, in one line, the value and where the panic happened, so that a program that ends by a
// panic passed on from a [Group] shows where it came from.
func (p *Panic) Error() string {
	pool, place := p.Pool, inside.PanicPlace(p.Stack)
	if pool != "" {
		pool = " in pool " + pool
	}
	if p.Label != "" {
		pool += " with label " + strconv.Quote(p.Label)
	}
	if place != "" {
		place = " (" + place + ")"
	}
	return fmt.Sprintf("weir: task panicked%s: %s%s", pool, strings.ReplaceAll(fmt.Sprint(p.Value), "\n", " "), place)
}

// Format implements [fmt.Formatter]. %+v shows the stack as well.
func (p *Panic) Format(f fmt.State, verb rune) {
	type fields Panic // without methods
	switch {
	case verb == 'v' && f.Flag('+'):
		_, _ = fmt.Fprintf(f, "%s\n\n%s", p.Error(), p.Stack)
	case verb == 'v' && f.Flag('#'):
		_, _ = fmt.Fprintf(f, "%#v", (*fields)(p))
	default:
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), p.Error())
	}
}

// Unwrap returns the value, if the task panicked with an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// reporter hands panics that no goroutine waits for to a pool's owner.
type reporter struct {
	hooks *hooks // nil for none
}

// labels say which pool it is; nil without a name.
func (r *reporter) labels() *profileLabels {
	if r.hooks == nil {
		return nil
	}
	return r.hooks.labels
}

// name is that of the pool.
func (r *reporter) name() string { return r.labels().name() }

// caught makes a Panic of what recover returned. It must be called while the
// stack that panicked still stands: from a deferred function.
func (r *reporter) caught(value any) *Panic {
	passed, isPassed := value.(*race.Panic)
	if isPassed {
		value = passed.Value
	}
	if again, ok := value.(*retriedPanic); ok {
		return &Panic{Value: again.Value, Stack: again.Stack, Pool: r.name()}
	}
	if isPassed {
		return &Panic{Value: passed.Value, Stack: inside.PanicPart(passed.Stack), Pool: r.name()}
	}
	return &Panic{Value: value, Stack: inside.PanicStack(), Pool: r.name()}
}

// caughtAt is caught for a call of a function with arg.
func (r *reporter) caughtAt(value, arg any) *Panic {
	p := r.caught(value)
	p.Arg = arg
	return p
}

// report calls the handler. A handler that panics must not take the worker down:
// that panic is logged, and so is the one that it was called for.
func (r *reporter) report(p *Panic) {
	if r.hooks == nil || r.hooks.onPanic == nil {
		logPanic("weir: task panicked", p)
		return
	}
	defer func() {
		if value := recover(); value != nil {
			logPanic("weir: task panicked", p)
			logPanic("weir: panic handler panicked", r.caught(value))
		}
	}()
	r.hooks.onPanic(p)
}

// fail hands the error of a task with that label to the handler.
func (r *reporter) fail(err error, l *label) {
	handled := false
	if h := r.hooks; h != nil && h.onError != nil {
		r.guard(func() {
			h.onError(err)
			handled = true
		})
	}
	if !handled {
		r.log(err, l)
	}
}

// isFailing reports whether the caller is, or was called by, a handler of errors: one that fail has called.
func isFailing() bool {
	callers := make([]uintptr, 1<<10)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); frame.Function == failName {
			return true
		}
	}
	return false
}

var failName = runtime.FuncForPC(reflect.ValueOf((*reporter).fail).Pointer()).Name()

// log is fail without a handler.
func (r *reporter) log(err error, l *label) {
	attributes := []any{"error", err}
	if name := r.name(); name != "" {
		attributes = append(attributes, "pool", name)
	}
	if l != nil {
		attributes = append(attributes, "label", l.name)
	}
	slog.Error("weir: task failed", attributes...)
}

func logPanic(message string, p *Panic) {
	attributes := []any{"panic", p.Value, "stack", string(p.Stack)}
	if p.Pool != "" {
		attributes = append(attributes, "pool", p.Pool)
	}
	if p.Label != "" {
		attributes = append(attributes, "label", p.Label)
	}
	slog.Error(message, attributes...)
}
