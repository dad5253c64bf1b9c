package weir

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
)

// Label returns a context whose tasks carry the label name, which says what they are for. They are the tasks
// of groups, futures, [Once], [Hedge], [Pool.Do], [Pool.Go], [Keyed.Go] and [FuncContext.Go] that are made
// from the context, and their subtasks. Of several labels the innermost counts.
//
// The label appears in [Running] and in [Panic]. While the task runs, it is also the value of the label
// "weir.task" in profiles, next to the labels that ctx has by [pprof.WithLabels] when Label is called, and
// the type of a region in traces, see [trace.StartRegion]. A task that Do runs on the goroutine of its caller
// has neither.
func Label(ctx context.Context, name string) context.Context {
	mustContext(ctx != nil)
	must(name != "", "label must not be empty", `""`)
	l := &label{name: name, profile: pprof.WithLabels(ctx, pprof.Labels("weir.task", name))}
	return context.WithValue(l.profile, labelKey{}, l)
}

type labelKey struct{}

// label is what a context that Label has made holds under labelKey.
type label struct {
	name    string
	profile context.Context // has the profiler's labels
	merged  atomic.Pointer[mergedLabels]
}

// mergedLabels are those of a label, and those that a worker has itself.
type mergedLabels struct {
	own *profileLabels
	ctx context.Context
}

// labelOf returns the label of tasks that are made from ctx; nil if they have none.
func labelOf(ctx context.Context) *label {
	if m, ok := ctx.(*member); ok { // which need not make a standard context for that
		return m.label()
	}
	l, _ := ctx.Value(labelKey{}).(*label)
	return l
}

// label returns the label of m's task.
func (m *member) label() *label {
	m.seen()
	return m.batch.label
}

// of names the label in a Panic.
func (l *label) of() string {
	if l == nil {
		return ""
	}
	return l.name
}

// labelled is a task with a label that runs, on worker w if that is not nil.
type labelled struct {
	worker *engine.Worker
	own    *profileLabels
	region *trace.Region
}

// begin gives the label to the task whose context is ctx, until end.
func (l *label) begin(ctx context.Context, w *engine.Worker, own *profileLabels) labelled {
	t := labelled{worker: w, own: own}
	if w != nil {
		t.own = ownLabels(w, own)
		w.Label.Store(&l.name)
	}
	pprof.SetGoroutineLabels(l.with(t.own))
	if trace.IsEnabled() {
		t.region = trace.StartRegion(ctx, l.name)
	}
	return t
}

func (t labelled) end() {
	if t.region != nil {
		t.region.End()
	}
	t.own.give()
	if t.worker != nil {
		t.worker.Label.Store(nil)
	}
}

// with returns a context that has the labels of the task, and own.
func (l *label) with(own *profileLabels) context.Context {
	if own == nil {
		return l.profile
	}
	if m := l.merged.Load(); m != nil && m.own == own {
		return m.ctx
	}
	m := &mergedLabels{own, pprof.WithLabels(l.profile, own.set)}
	l.merged.Store(m)
	return m.ctx
}
