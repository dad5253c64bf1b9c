package weir

import (
	"context"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// Go hands task to the pool, with its context. It is for services, where no call waits for the tasks. It
// blocks while the pool is full, until ctx is done. In a task of the pool, or of a lane with the same places,
// it may block until task has ended, so the caller must hold nothing that task needs. Go returns nil if task was accepted. Otherwise task never
// runs, and the error is [ErrClosed], [ErrFull] as for [Pool.Submit], or the cause of ctx.
//
// An error that task returns goes to the function that [OnError] sets, as does [ErrGoexit] if task calls
// [runtime.Goexit]. A panic goes to [OnPanic]. An accepted task does not start once ctx is done, or if
// [Pool.Shutdown] removes it from the queue: then a [*DroppedError] goes to OnError.
//
// The context that task gets is made from ctx. It is done when ctx is done, when task has ended, or, with the
// cause ErrClosed, when the context of Shutdown is done. For a task that must outlive a request, or the task that
// hands it over, use [context.WithoutCancel]. The call synchronizes before the start of the task.
func (p *Pool) Go(ctx context.Context, task func(ctx context.Context) error) error {
	mustPool(p != nil)
	mustContext(ctx != nil)
	mustTask(task != nil)
	if again, rate := p.core.reporter.retry(); again != nil {
		task = retriedTask(again, false, rates{rate}, task)
	}
	t := &goTask{errand: errand{pool: p, ctx: ctx, label: labelOf(ctx)}, body: task}
	t.self = t
	return t.hand()
}

// goTask is a task of [Pool.Go], or a part of one of [FuncContext.Go]. It is the context of the task, too.
type goTask struct {
	errand
	cuttable
	body func(ctx context.Context) error // nil for one of FuncContext.Go
}

// goes is a task that has a goTask.
type goes interface {
	inner() *goTask
	// argument returns what the function is called with; nil for a task of Pool.Go.
	argument() any
	// do runs the task, if it has no body.
	do(ctx context.Context) error
	// letGo drops what the context need not keep alive when the task is over.
	letGo()
	// lost follows giveUp. It returns what reports the task, which another goroutine than a worker may call.
	lost(cause error) (tell func())
	// takes reports whether an error of the task, or that it did not start, is not for the function of OnError.
	takes(err error) bool
}

func (t *goTask) inner() *goTask               { return t }
func (t *goTask) argument() any                { return nil }
func (t *goTask) do(ctx context.Context) error { return t.body(ctx) }
func (t *goTask) letGo()                       {}
func (t *goTask) takes(error) bool             { return false }
func (t *goTask) whole() goes                  { return t.self.(goes) }

func (t *goTask) hand() error {
	if race.Enabled {
		return t.raced()
	}
	return t.submit(t.ctx)
}

// run runs the task, on a worker, unless its context is done.
func (t *goTask) run(_ context.Context, w *engine.Worker, number int) error {
	if t.starts(number == claimed) {
		t.runOn(w)
	} else {
		t.skip(w, number == claimed)
	}
	return nil
}

// starts reports whether the task is to run. It has begun then.
func (t *goTask) starts(claimed bool) bool { return t.ctx.Err() == nil && t.begin(claimed) }

func (t *goTask) runOn(w *engine.Worker) {
	body := t.body
	t.body = nil // the context may live for longer than what the task holds
	t.worker = w
	t.call(body)
	t.whole().letGo()
	t.cancel(nil)
	w.Vacate()
	t.failed(nil)
}

// call calls the body of the task, and reports its error as a part of it.
func (t *goTask) call(body func(ctx context.Context) error) {
	if l := t.label; l != nil {
		defer l.begin(t, t.worker, t.pool.core.reporter.labels()).end()
	}
	var err error
	if body != nil {
		err = body(t)
	} else {
		err = t.whole().do(t)
	}
	if err != nil {
		t.report(err)
	}
}

// skip ends the task on a worker that has come to it and does not run it.
func (t *goTask) skip(w *engine.Worker, claimed bool) {
	ended := false
	if claimed {
		ended = t.end()
	} else {
		ended = t.giveUp()
	}
	if ended {
		err := t.drop(causeOf(t.ctx))
		t.pool.core.reporter.aside(func() { t.reportApart(err) }) // it may exit, and the task is not over yet
	}
	w.Vacate()
	if t.dropped(claimed); ended {
		t.announce()
	}
}

func (t *goTask) report(err error) {
	if !t.whole().takes(err) {
		t.pool.core.reporter.fail(err, t.label)
	}
}

// reportApart reports an error that the task has not returned.
func (t *goTask) reportApart(err error) {
	turns := &t.pool.core.turns
	turns.Begin()
	defer turns.End()
	t.report(err)
}

// broken reports the task, on its worker, if it did not return: p is its panic, or nil.
func (t *goTask) broken(p *Panic) {
	t.cancel(nil)
	if p == nil {
		t.whole().letGo()
		t.reportApart(ErrGoexit)
		return
	}
	p.Label, p.Arg = t.label.of(), t.whole().argument()
	t.whole().letGo()
	t.pool.core.reportPanic(p)
}

// failed implements listener. All that there is to report was reported before.
func (t *goTask) failed(*TaskError) {
	if t.end() {
		t.announce()
	}
}

// refuse implements listener.
func (t *goTask) refuse(err error) bool {
	if !t.giveUp() {
		return false
	}
	t.lost(err)()
	return true
}

func (t *goTask) lost(cause error) (tell func()) {
	err := t.drop(cause)
	return func() {
		defer t.announce()
		t.report(err)
	}
}

func (t *goTask) drop(cause error) error {
	t.body = nil // as in runOn
	whole := t.whole()
	defer whole.letGo()
	return &DroppedError{Label: t.label.of(), Arg: whole.argument(), Cause: cause}
}

// announce is called once, by the goroutine that has set the state.
func (t *goTask) announce() {
	if t.done != nil {
		t.tasks.Notify()
		close(t.done)
	}
}

// raced is submit: the task knows only what the caller has done until now.
func (t *goTask) raced() error {
	tag, body := race.Here(), t.body
	if body == nil {
		body = t.whole().do
	}
	start := tag.Start(&t.pool.core.turns)
	t.body = func(ctx context.Context) (none error) {
		return race.Run(start, nil, func() error {
			if err := body(ctx); err != nil {
				t.report(err) // in the task, and not after it
			}
			return none
		})
	}
	err := race.Apart(func() error { return t.submit(t.ctx) })
	if err == nil {
		tag.Admitted(&t.pool.core.turns)
	}
	return heard(t.ctx, err)
}
