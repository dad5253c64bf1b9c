package weir

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/cause"
	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/race"
)

// Group is a set of tasks that begins and ends together: Go adds tasks, Wait blocks until all have
// finished and returns what went wrong. Each task gets a context that is done when the group is
// cancelled: by the first error (unless [KeepGoing] is set), by a panic, by Cancel, or with the
// context that the group was made from. A cancelled group starts none of its queued tasks any more,
// and drops those that are added.
//
// Each use must end with Wait: without it errors and panics are lost, and idle workers stay until
// the [IdleTimeout]. After Wait the next Go begins anew, with a fresh context and numbers from 0.
//
// Any number of goroutines may call all methods at once. Concurrent calls of Wait have the same
// outcome, panics included. Tasks of the group may call all methods but Wait: a task that waits for
// its own group waits for itself. A caller of any method must hold no lock that the methods of the
// group's context need.
type Group struct {
	pool    *Pool
	host    host    // the task in which the group was made, if any
	at      *Pool   // on which that task runs; nil if there is none
	direct  *direct // nil unless the pool is this group's alone
	parent  context.Context
	asks    bool // the parent must be asked as well whether it has ended, see tellsLate
	crossed bool // across may have some
	used    bool // there was a batch; under mu
	options groupOptions
	limit   *groupLimit // nil without Limit
	made    []uintptr   // the callers that made the group, if Watch was called
	others  crossings   // what across returns, when it was called
	turns   race.Turns

	mu     sync.Mutex
	doomed *error                // the cause with which the next batch is cancelled as it begins
	batch  atomic.Pointer[batch] // made on first use after each Wait
}

// NewGroup returns a group with workers of its own, at most limit of them. They
// start with the tasks, and none is left when Wait returns. By default Go waits
// only when 4096 tasks are queued; with Queue(0) it waits for a free place.
func NewGroup(ctx context.Context, limit int, opts ...Option) *Group {
	mustContext(ctx != nil)
	mustLimit(limit)
	own := new(struct { // most groups are small: for them one allocation in place of three
		Group
		pool   Pool
		direct direct
	})
	g := &own.Group
	g.pool, g.direct = &own.pool, &own.direct
	if len(opts) > 0 {
		g.set(limit, opts)
	} else { // what follows is all that most groups need
		g.pool.core.take(limit, defaultQueue)
	}
	g.init(ctx)
	g.made = watchedCallers()
	g.begins(limit)
	return g
}

// set sets up a group with workers of its own, before all else.
func (g *Group) set(limit int, opts []Option) {
	o := groupWorkersOptions(limit, opts)
	g.options = o.groupOptions
	o.rate, o.retry = nil, nil // which are not the workers'
	g.direct.options = &o
	g.pool.core.prepare(&o)
}

// Group returns a group whose tasks run on the pool, among others. Closing the pool fails the group's tasks
// that were not accepted with [ErrClosed]. If the context of [Pool.Shutdown] ends while a task of the group
// runs, the group is cancelled with the same cause, ErrClosed.
//
// A task of the pool may make a group on it from the context that it got, and wait for it, to any depth. The
// tasks of such a group are subtasks: they do not pass through the queue, and come before what is queued. The
// group itself takes as many as the queue has places, and a pool that closes still takes them.
func (p *Pool) Group(ctx context.Context, opts ...GroupOption) *Group {
	mustPool(p != nil)
	mustContext(ctx != nil)
	p.core.running()
	g := &Group{pool: p}
	if len(opts) > 0 { // else nothing is allocated for them
		g.setOptions(opts)
	}
	g.init(ctx)
	g.made = watchedCallers()
	return g
}

// setOptions is rare, as is makeLimit: see initInTask.
//
//go:noinline
func (g *Group) setOptions(opts []GroupOption) { g.options = groupOptionsOf(opts) }

func (g *Group) init(ctx context.Context) {
	g.parent = ctx
	if g.host, g.at = hostPool(ctx, g.direct != nil); g.at != nil {
		g.initInTask(ctx)
	} else {
		g.asks = ctx.Done() != nil && isForeign(ctx)
	}
	if g.options.members > 0 {
		g.makeLimit()
	}
}

// initInTask is init for a group inside a task.
//
// What few groups need stands in functions that are no part of their callers (go:noinline): after a pause the
// processor has to fetch the code of a small group from memory, and that takes longer than to run it. Such callers also
// need less stack. A new goroutine has 2 KB, and to make that grow takes longer than most calls.
//
//go:noinline
func (g *Group) initInTask(ctx context.Context) {
	g.asks, g.crossed = tellsLate(ctx), g.at != g.pool || g.host.across() != nil
}

//go:noinline
func (g *Group) makeLimit() {
	n := g.options.members
	g.limit = newGroupLimit(n)
	g.turns.Limit(n)
}

// Go adds a task. It blocks while the pool is full, or the group's [Limit] is reached, and returns
// when the group is cancelled: the task then never runs, [Group.Context] is done, and Wait returns
// the cause. If the pool is closed, or full beyond [MaxWaiting], the task fails with [ErrClosed] or
// [ErrFull], as if it had returned that.
//
// A task that adds tasks to its own group should use TryGo, or the group an [Unbounded] queue and
// no Limit: if every task waits for room, only a cancellation ends that. A task that adds tasks to
// a group made from its context lends its place to them while it is blocked, on its own pool or lane or
// on another with the same places; they must not wait for what it does afterwards, or for a lock that
// it holds.
//
// The call synchronizes before the start of the task.
func (g *Group) Go(task func(ctx context.Context) error) {
	mustTask(task != nil)
	if r := g.options.retry; r != nil {
		task = retriedTask(r, g.options.keepGoing, g.retryRates(), task)
	}
	if race.Enabled {
		tag := race.Here()
		task = g.raced(tag, task)
		g.handRaced(tag, func() bool { g.give(task); return true })
		return
	}
	g.give(task)
}

func (g *Group) give(task func(ctx context.Context) error) {
	b, number := g.countIn()
	g.add(b, number, memberJob(task, b, number))
}

// add hands over the job of a task that begin has counted in.
func (g *Group) add(b *batch, number int, j job) {
	if b.cancelledAt(number) {
		b.decline(number)
		return
	}
	if (g.limit != nil || g.options.rate != nil) && !g.admits(b) {
		b.decline(number)
		return
	}
	if g.direct == nil || !b.runDirectly(number, j) {
		b.handOver(number, j)
	}
}

// giveUpRoom is called when the batch was cancelled while a task waited for room.
func (b *batch) giveUpRoom(number int) {
	b.group.returnTurn()
	b.release(1, nil)
	b.decline(number)
}

// admits waits for a place under the group's limit, and for a turn at its rate. It reports false if b is cancelled before.
func (g *Group) admits(b *batch) bool {
	if g.limit != nil && !g.acquire(b) {
		return false
	}
	if g.options.rate != nil && !g.takesTurn(b) {
		b.release(1, nil)
		return false
	}
	return true
}

// handOver gives a task to the pool.
func (b *batch) handOver(number int, j job) {
	if b.group.nested() {
		b.delegate(j)
		return
	}
	if b.subtasks != nil {
		b.handedOver(number, j, b.submit(j))
	} else {
		b.handedOver(number, j, b.submitOutside(j))
	}
}

// handedOver is called with the engine's verdict on a task.
func (b *batch) handedOver(number int, j job, verdict engine.Verdict) {
	switch verdict {
	case engine.Accepted:
		b.accepted()
	case engine.Cancelled:
		b.giveUpRoom(number)
	default:
		b.group.returnTurn()
		b.reject(j, refusal(verdict))
	}
}

// TryGo is [Group.Go] that never waits. It reports whether the task was
// accepted: false means that there was no room, that the group is cancelled, or
// that its pool is closed; the task then never runs and does not count.
func (g *Group) TryGo(task func(ctx context.Context) error) bool {
	mustTask(task != nil)
	if r := g.options.retry; r != nil {
		task = retriedTask(r, g.options.keepGoing, g.retryRates(), task)
	}
	if race.Enabled {
		tag := race.Here()
		task = g.raced(tag, task)
		return g.handRaced(tag, func() bool { return g.try(task) })
	}
	return g.try(task)
}

func (g *Group) try(task func(ctx context.Context) error) bool {
	b, index := g.countIn()
	if b.cancelledAt(index) {
		b.withdraw(index)
		return false
	}
	if g.limit != nil && !g.limit.TryAcquire() {
		b.withdraw(index)
		return false
	}
	rate := g.options.rate
	if rate != nil && !rate.bucket.Take() {
		b.release(1, nil)
		b.withdraw(index)
		return false
	}
	j := memberJob(task, b, index)
	result := engine.DirectRefused
	if g.direct != nil {
		result, _ = b.joinDirectly(index, j, false)
	}
	switch result {
	case engine.DirectBegins, engine.DirectWaits:
		return true
	}
	if result == engine.DirectFull || !b.try(j) {
		b.release(1, nil)
		g.returnTurn()
		b.withdraw(index)
		return false
	}
	b.accepted()
	return true
}

// Resize sets the limit of a group while it is in use: that of its [Limit] option, and the number
// of workers that [NewGroup] was given. It does not block. A higher
// limit is used at once, first by the tasks that wait, and the callers that wait in Go. A lower one holds for what
// calls that begin from now on add, and for tasks of NewGroup that wait: tasks of a pool's group that
// were accepted before may still run at once, as many as the old limit. A group on a pool that was made without Limit has
// none to change: Resize panics.
func (g *Group) Resize(limit int) {
	mustLimit(limit)
	g.mustBeMade()
	must(g.direct != nil || g.limit != nil, "group on a pool must have a Limit to be resized", "none")
	if g.limit != nil {
		g.turns.Limit(limit)
		g.limit.resize(limit)
	}
	if g.direct != nil {
		g.pool.core.turns.Limit(limit)
		g.resize(limit)
	}
}

// submitOutside hands a job to the pool for a group outside a task.
func (b *batch) submitOutside(j job) engine.Verdict {
	e := b.group.pool.core.engine
	if e.Offer(j.Task) {
		return engine.Accepted
	}
	b.group.pool.core.noticeFull()
	return e.WaitForRoom(j.Task, b.done(), nil, nil) // many batches never need that channel
}

// submit hands a job to the pool for a task of another pool: the job waits among the subtasks of the
// group, and a ticket in the queue.
func (b *batch) submit(j job) engine.Verdict {
	e, want := b.group.pool.core.engine, b.subtasks.Want()
	if e.Fits(j.Task, want) {
		return engine.Accepted
	}
	b.group.pool.core.noticeFull()
	t := b.group.task()
	if t.pool == nil {
		return e.WaitForRoom(j.Task, b.done(), want, nil)
	}
	var verdict engine.Verdict
	s, kin := stay{task: t}, e.IsKin(t.pool.core.engine)
	if kin {
		s.init(t.pool.core.engine)
	}
	s.await(b.group.pool, want, func(w *engine.Wakeup) {
		verdict = e.WaitForRoom(j.Task, b.done(), want, w)
		// A task of the group that has started meanwhile has the place of t, most likely. To go on now t would need one more, and another with
		// each task that finds no room.
		if kin && verdict == engine.Accepted && e.Lingers(b.subtasks, &s.waiter, w) {
			s.until(nil, b.done())
		}
	})
	return verdict
}

// Wait blocks until every task of the group has finished, and those of a cancelled group that have
// not started are discarded. It returns
//
//   - nil, if the group was not cancelled and no task failed;
//   - the cause of the cancellation: the first error, as a [*TaskError]; or what was given to
//     Cancel; or, for [errors.Is], the cause of the context the group was made from, even if all tasks had succeeded
//     when that ended;
//   - with [KeepGoing], all errors, each a [*TaskError], in the order in which the tasks were given
//     to Go, joined with the cause if the group was cancelled.
//
// If a task panicked, Wait panics with a [*Panic] that carries the task's own stack, unless
// [PanicsAsErrors] is set. A task that called [runtime.Goexit] has failed with [ErrGoexit]. The end
// of each task synchronizes before the return of Wait.
func (g *Group) Wait() error {
	b := g.batch.Load()
	if b == nil {
		if b = g.condemned(); b == nil {
			if g.hasWorkers() {
				g.dismiss()
			}
			return cause.Mark[*TaskError](g.parent, context.Cause(g.parent))
		}
	}
	b.wait(true, watchedCallers())
	if p := b.panicked(); p != nil {
		panic(p)
	}
	return b.err
}

// Context returns a context that is done when that of the group's tasks is: when the group is
// cancelled, or Wait returns, since no task needs it any more. After Wait it is a fresh one, which
// the next Wait releases. A group inside a task must be made from the context that the task got,
// not from this one.
func (g *Group) Context() context.Context { return g.current().scope.standard() }

// Cancel cancels the group with the given cause, which Wait then returns; nil stands for [context.Canceled].
// Only the first cancellation counts. After Wait, Cancel cancels the tasks that come next, before they start.
// It does not block.
func (g *Group) Cancel(cause error) {
	g.mustBeMade()
	lasts := errOf(g.parent) == nil // before the mutex is held: it may be the program's own code
	g.mu.Lock()
	b := g.batch.Load()
	if b == nil && g.doomed == nil && lasts { // a batch made for this would need a Wait
		g.doomed = &cause
	}
	g.mu.Unlock()
	if b != nil {
		b.cancel(cause)
	}
}

// condemned returns the batch that begins if Cancel was called since the last Wait.
func (g *Group) condemned() *batch {
	g.mustBeMade()
	g.mu.Lock()
	doomed := g.doomed != nil
	g.mu.Unlock()
	if !doomed {
		return g.batch.Load()
	}
	return g.current()
}

// dismiss returns when none of the group's own workers is left, or when the next
// batch has begun, whose tasks this call must not wait for.
func (g *Group) dismiss() {
	g.pool.core.engine.Dismiss(func() bool { return g.batch.Load() != nil })
	g.mu.Lock()
	if g.batch.Load() == nil { // else the next batch may have a worker already, which has found the group in the list
		g.pool.core.unlist()
	}
	g.mu.Unlock()
}

// countIn counts a task into the batch that Wait has not ended. Until the task is
// counted out again Wait does not end that batch; in particular, if the batch is
// cancelled by then, Wait has not cancelled it.
func (g *Group) countIn() (b *batch, index int) {
	for {
		b = g.current()
		if index, ok := b.intake.Begin(); ok {
			return b, index
		}
		g.forget(b)
	}
}

// forget drops a batch that is over, unless the next one has begun. Only calls under mu change the batch.
func (g *Group) forget(b *batch) {
	g.mu.Lock()
	if g.batch.Load() == b {
		g.batch.Store(nil)
	}
	g.mu.Unlock()
}

func (g *Group) mustBeMade() {
	must(g.pool != nil, "group must be made by NewGroup or Pool.Group", "the zero value")
}

func (g *Group) current() *batch {
	if b := g.batch.Load(); b != nil {
		return b
	}
	return g.makeBatch()
}

// makeBatch returns the batch that the next task belongs to, which it makes unless another call has.
func (g *Group) makeBatch() *batch {
	g.mustBeMade()
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.batch.Load()
	switch {
	case b != nil:
	case g.used || g.doomed != nil:
		b = g.nextBatch()
	default:
		b = newBatch(g.parent, g)
		g.used = true
		g.batch.Store(b)
	}
	return b
}

// nextBatch makes a batch that is not the group's first one, or that Cancel has ended before. The caller holds mu.
func (g *Group) nextBatch() *batch {
	var b *batch
	if g.doomed == nil {
		b = newBatch(g.parent, g)
	} else {
		// If the parent has ended since, its cause does not count.
		b = newBatch(context.WithoutCancel(g.parent), g)
		b.scope.cancel(*g.doomed)
		g.doomed = nil
	}
	again := g.hasWorkers() && g.used // a Wait has retired the workers
	g.used = true
	if again {
		g.pool.core.engine.Unretire()
	}
	g.batch.Store(b)
	if again {
		g.pool.core.engine.Revive()
	}
	return b
}
