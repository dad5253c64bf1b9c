package weir

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/claim"
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/inside"
	"github.com/64ed045f/weir/internal/race"
)

// batch is a group's tasks from one Wait to the next. Nothing of it is left to
// the batch that follows. A task that comes after Wait has sealed the tally goes to the next batch.
type batch struct {
	made     race.Past // see scope.seen
	group    *Group
	record   atomic.Pointer[groupRecord] // for Groups; nil for none
	ctx      context.Context             // to ask whether the batch is cancelled
	label    *label                      // of all tasks; nil for none
	subtasks *engine.Subtasks            // of a task's group: where its tasks wait for their start
	waited   claim.First                 // a call of Wait already ends the batch
	retires  atomic.Bool                 // the end of the last worker wakes Wait, not that of the last task
	atBell   atomic.Bool                 // Wait parks at the bell though the group is a task's, see waitAtBell

	// The scope and the bell keep words apart that different cores write: see [engine.Intake]. That needs a batch of 512 bytes, which begins
	// on a cache line; a larger one has a header of the runtime's before it.
	scope  scope // what the tasks get
	intake engine.Intake
	bell   engine.Bell  // where Wait parks, if the group is outside a task, or atBell; notify makes it look again
	stay   *hostStay    // the same if the group is a task's
	tally  engine.Tally // counts the tasks; Wait waits for its end

	// Of a group outside a task, under the lock of the engine: counted says that Wait has counted the tasks that it
	// has given up, and gone says how many of them left the queue before.
	gone    int32
	counted bool

	// The mutex mu guards these and all fields below, until no task of the batch runs; the flags stand before it because they fill a word with counted.
	settled bool // wrong and err are final, and nothing of the batch is left
	stopped bool // the batch was cancelled before Wait made its result
	own     bool // the error of a task of the batch cancelled it
	mu      sync.Mutex
	others  *others // the other callers of Wait; nil if there are none
	members *member // all members made for workers
	spare   *member // those of members that no worker has
	first   member  // the first of members, as many batches need no other; or that of the first direct task
	wrong   *wrong  // in addition to the cause of the cancellation; nil if there is nothing
	err     error
}

// others are the goroutines that wait for the end of a batch while another one ends it.
type others struct {
	over  chan struct{}
	tasks engine.Wakeups // those of them that are tasks
}

// wrong is what has gone wrong in a batch.
type wrong struct {
	failures []*TaskError // with KeepGoing
	panicked *Panic
}

// nestedBatch is the batch of a task's group and what only that has, in one allocation.
type nestedBatch struct {
	batch
	subtasks engine.Subtasks
	stay     hostStay
}

// hostStay is the wait of a task for a batch.
type hostStay struct {
	stay
	atBell fifo.Link[batch] // in direct.waiters
	looper engine.Looper    // a task that ranges over results, whose wait ends with the batch
}

func newBatch(parent context.Context, g *Group) *batch {
	var b *batch
	if g.at != nil {
		b = newNestedBatch(g)
	} else {
		b = new(batch)
	}
	b.group, b.label = g, labelOf(parent)
	b.first.direct = g.direct != nil && g.direct.on.Load() // else it is for a worker
	b.tally.Init(&b.intake)
	b.ctx = b.scope.open(parent, b)
	b.noteBegin()
	b.made.Release()
	return b
}

// newNestedBatch is rare: see [Group.initInTask].
//
//go:noinline
func newNestedBatch(g *Group) *batch {
	nested := new(nestedBatch)
	b := &nested.batch
	b.subtasks, b.stay = &nested.subtasks, &nested.stay
	if m, ok := g.host.(*member); ok && g.direct != nil && m.isDirect() {
		b.atBell.Store(true)
	} else if e := g.hostEngine(); e != nil {
		b.stay.init(e)
	} else {
		b.atBell.Store(true)
	}
	if g.nested() {
		b.subtasks.Init(nil)
	} else {
		b.subtasks.Init(isVoid)
	}
	return b
}

// cancelled reports whether the batch is cancelled.
func (b *batch) cancelled() bool { return b.scope.ending.Load() || !b.scope.lasts && b.endsAbove() }

// isCancelled is cancelled for callers in the middle of what must come to its end.
func (b *batch) isCancelled() bool {
	return b.scope.ending.Load() || !b.scope.lasts && quietly(b.endsAbove)
}

// cancelledAt is cancelled for a task that was counted in by that number. If the parent is of a type of the program's own, and panics or exits,
// the task is counted out.
func (b *batch) cancelledAt(number int) bool {
	return b.scope.ending.Load() || !b.scope.lasts && b.endsAboveAt(number)
}

func (b *batch) endsAboveAt(number int) (ends bool) {
	asked := false
	defer func() {
		if !asked {
			b.withdraw(number)
		}
	}()
	ends = b.endsAbove()
	asked = true
	return ends
}

// endsAbove is cancelled for a batch whose parent may end.
func (b *batch) endsAbove() bool {
	if b.ctx.Err() != nil {
		return true
	}
	if b.scope.above != nil && b.scope.std.Load() != nil && b.scope.base.Err() != nil {
		return true // the standard context learns of it later than that of the task above
	}
	if !b.group.asks || b.parent().Err() == nil {
		return false
	}
	b.scope.cancel(context.Cause(b.parent()))
	return true
}

// done is closed when the batch is cancelled. It is nil if the parent is of a type of the program's own, and panics: the caller holds what a panic
// would not give back.
func (b *batch) done() <-chan struct{} { return quietly(b.scope.Done) }

// cancel cancels the batch, unless its parent has ended before: then that counts.
func (b *batch) cancel(cause error) {
	b.isCancelled() // which cancels it if its parent has ended
	b.scope.cancel(cause)
}

// parent is the context whose end cancels the batch.
func (b *batch) parent() context.Context { return b.scope.parent }

// accepted is called when the pool has accepted a task. If the batch was cancelled
// meanwhile, Wait may have looked before the task was there, and must look again.
func (b *batch) accepted() {
	switch {
	case b.subtasks == nil && b.intake.Handed():
		b.group.pool.core.engine.Suspect()
	case b.subtasks == nil || !b.scope.ending.Load() && b.ctx.Err() == nil:
		return
	}
	b.notify(nil)
}

// try hands a job over if that needs no waiting.
func (b *batch) try(j job) bool {
	c := &b.group.pool.core
	switch {
	case b.subtasks == nil:
		return c.try(j.Task, nil) == nil
	case b.group.nested():
		return c.engine.TryDelegate(b.subtasks, j.Task)
	default:
		return c.try(j.Task, b.subtasks.Want()) == nil
	}
}

// withdraw takes a task that was not accepted out of the count.
func (b *batch) withdraw(index int) {
	if b.tally.Withdraw(index) {
		b.notify(nil)
	}
}

// decline removes a task that does not run, because the batch is cancelled, from the count. The group's
// context is done by then, so that a loop that adds tasks until then ends at once.
func (b *batch) decline(index int) {
	defer b.withdraw(index) // last: the task keeps the batch from its end
	b.scope.settle()
}

// enter is called by a worker, or by Shutdown, that has taken a task of the batch from the queue. It reports false
// if Wait no longer waits for the tasks there.
func (b *batch) enter() bool { return b.subtasks != nil || b.tally.Enter() }

// Ended counts n tasks out, and undoes enter. The caller touches nothing of the batch for them
// afterwards.
func (b *batch) Ended(n int, by *engine.Worker) {
	over := b.subtasks == nil && b.tally.Leave(n) || b.subtasks != nil && b.tally.End(n)
	if over && (by == nil || !b.retires.Load() || b.tally.Closed()) { // Wait removes what is queued faster than workers skip it
		b.notify(by)
	}
}

// release gives n places under the group's limit back. A task that waits for one may get the place of by in the pool.
func (b *batch) release(n int, by *engine.Worker) {
	if l := b.group.limit; l != nil {
		l.release(n, by)
	}
}

// notify makes Wait look again. A task that waits may get the place of by.
func (b *batch) notify(by *engine.Worker) {
	if b.subtasks == nil || b.atBell.Load() {
		b.bell.Ring()
		return
	}
	b.stay.looper.Notify()
	b.stay.wake(by)
}

// ticket returns the job that represents t in the queue of another pool; t has the number among the subtasks of its batch.
func ticket(t engine.Task, number uint64) engine.Task {
	return engine.Task{Q: t.Q, N: int(number) | ticketBit}
}

const ticketBit = 1 << (bits.UintSize - 2)

// isTicket reports whether j is a ticket: whether its number is beyond all others.
func (j job) isTicket() bool { return j.number()&ticketBit != 0 }

// isFor is the number of the job that the ticket j stands for.
func (j job) isFor() uint64 { return uint64(j.N &^ ticketBit) }

// redeem returns the job that j is a ticket for, or j. It reports false if there is none any more.
func (b *batch) redeem(j job) (job, bool) {
	if !j.isTicket() {
		return j, true
	}
	t, ok := b.subtasks.Redeem(j.isFor())
	return job{t}, ok
}

// run runs a task of the batch on worker w, unless the batch was cancelled.
func (b *batch) run(w *engine.Worker, j job) {
	ticket := j.isTicket()
	if ticket {
		var ok bool
		if j, ok = b.redeem(j); !ok {
			b.group.pool.core.engine.Skipped()
			return
		}
	}
	if !w.Serves(b) {
		w.Report()
		if !b.enter() {
			b.skip(j, ticket)
			return
		}
	}
	m := b.member(w) // before the look: see cutoff
	if b.cancelled() {
		b.refuse(ticket)
	} else {
		if ticket {
			m.job = j
		}
		var err error
		if b.label == nil { // one call more, and the worker is slower than a submitter: a task takes 46 ns in place of 24
			err = j.call(m, w)
		} else {
			err = b.callLabelled(m, w, j, b.group.pool.core.reporter.labels())
		}
		if err != nil {
			b.fail(j, err)
		}
	}
	b.release(1, w)
	b.credit(w)
}

// skip passes over a task that Wait has given up. It is rare: see [Group.initInTask].
//
//go:noinline
func (b *batch) skip(j job, ticket bool) {
	b.group.pool.core.engine.Skip(j.Task)
	b.untake(ticket)
}

// refuse ends a task that does not run because the batch is cancelled. It is rare, too.
//
//go:noinline
func (b *batch) refuse(ticket bool) {
	b.group.pool.core.engine.HandedBack()
	b.untake(ticket)
	b.tellOfRefusal(nil)
}

// untake returns the token of a task that does not run: one with a ticket, or of a group outside a task. Subtasks have none.
func (b *batch) untake(ticket bool) {
	if ticket || b.subtasks == nil {
		b.group.pool.core.engine.Untake()
	}
}

// callLabelled calls a task of a batch with a label, on worker w unless that is nil, where the goroutine has own labels.
func (b *batch) callLabelled(m *member, w *engine.Worker, j job, own *profileLabels) error {
	defer b.label.begin(m, w, own).end()
	return j.call(m, w)
}

// credit counts a task of the batch as over, which w reports when it has no other one in hand.
func (b *batch) credit(w *engine.Worker) {
	w.Credit(b)
	if b.subtasks != nil {
		w.Hurry()
	}
}

// broken ends a task that panicked, or called runtime.Goexit (panicked is nil).
func (b *batch) broken(w *engine.Worker, j job, panicked any) {
	if j.isTicket() {
		j = b.member(w).job
	}
	defer b.credit(w)
	defer b.release(1, w)
	b.fails(j, panicked)
}

// fails notes that the task of j panicked, or called runtime.Goexit.
func (b *batch) fails(j job, panicked any) {
	if panicked == nil {
		b.fail(j, ErrGoexit)
		return
	}
	pool := b.group.pool
	p := pool.core.reporter.caught(panicked)
	p.Label = b.label.of()
	if b.group.options.panicsAsErrors {
		b.fail(j, p)
		return
	}
	b.mu.Lock()
	wrong := b.errs()
	first := wrong.panicked == nil
	if first {
		wrong.panicked = p
	}
	b.mu.Unlock()
	b.cancel(&TaskError{Index: j.number(), Err: p})
	if !first {
		b.group.turns.Begin()
		defer b.group.turns.End()
		pool.core.reportPanic(p)
	}
}

// reject ends a task that the pool did not take.
func (b *batch) reject(j job, err error) {
	b.refused(j, err)
	if b.tally.Refuse() {
		b.notify(nil)
	}
}

// handBack ends a task that has left the queue, and will not run. It reports false if that was void.
func (b *batch) handBack(j job, why error) bool {
	j, ok := b.redeem(j)
	if !ok || !b.enter() {
		return false
	}
	b.refused(j, why)
	b.Ended(1, nil)
	return true
}

// refused fails a task that will never run.
func (b *batch) refused(j job, err error) {
	if !b.tellOfRefusal(err) {
		b.fail(j, err)
	}
	b.release(1, nil)
}

// tellOfRefusal is called for each task that no worker will run and that was not withdrawn. If the context of
// the group is an [inside.Refusals], it reports the refusal to the context, and returns true.
func (b *batch) tellOfRefusal(why error) bool {
	parent, ok := b.group.parent.(inside.Refusals)
	if ok {
		parent.Refused(inside.Mark{}, why)
	}
	return ok
}

func (b *batch) fail(j job, err error) {
	failure := &TaskError{Index: j.number(), Err: err}
	if j.listens() {
		j.listener().failed(failure)
	}
	if !b.group.options.keepGoing {
		b.cancel(failure)
		if b.scope.Cause() == error(failure) { //nolint:errorlint // it, and no other
			b.mu.Lock()
			b.own = true
			b.mu.Unlock()
		}
		return
	}
	b.mu.Lock()
	wrong := b.errs()
	wrong.failures = append(wrong.failures, failure)
	b.mu.Unlock()
}

// errs returns where to note what goes wrong. The caller holds mu.
func (b *batch) errs() *wrong {
	if b.wrong == nil {
		b.wrong = new(wrong)
	}
	return b.wrong
}

// panicked returns the first panic of a batch whose result is made, or nil.
func (b *batch) panicked() *Panic {
	if b.wrong == nil {
		return nil
	}
	return b.wrong.panicked
}

// failures returns the failures of a sealed batch that keeps going.
func (b *batch) failures() []*TaskError {
	if b.wrong == nil {
		return nil
	}
	return b.wrong.failures
}
