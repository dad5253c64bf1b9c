package weir

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/inside"
)

// batch is a group's tasks from one Wait to the next. Nothing of it is left to
// the batch that follows.
//
// Submitters write begun, workers write ended: a batch is over when the two are
// equal. Wait then sets sealed in begun with the same atomic step that
// makes sure of it, so that a task is either waited for or finds the batch
// sealed and goes to the next.
type batch struct {
	group   *Group
	ctx     context.Context     // to ask whether the batch is cancelled
	scope   scope               // what the tasks get
	done    <-chan struct{}     // closed when the batch is cancelled; nil if the group is nested
	source  *engine.Source[job] // of a nested group: where its tasks wait for their start
	hosted  bool                // a task may wait for the batch
	told    chan struct{}       // makes Wait look again; of capacity 1
	absence engine.Absence      // of Wait, in a task: its turn is told

	_      [cacheLine]byte // all of the above is read for every task
	begun  atomic.Int64
	_      [cacheLine]byte // submitters write begun, workers write ended
	ended  atomic.Int64
	target atomic.Int64 // the number of ended tasks at which Wait wants to be told

	mu       sync.Mutex
	waited   bool          // somebody sees to the end of the batch already
	settled  bool          // panicked and err are final, and nothing of the batch is left
	over     chan struct{} // closed when settled, if others wait for that
	failures []*TaskError
	panicked *Panic
	cause    error // of the batch's cancellation, if it was cancelled
	err      error
}

const (
	// A single line here, not two as in the engine: batches are many and small.
	cacheLine = 64

	// sealed, set in begun, lets no further task in.
	sealed = 1 << 62
)

// nestedBatch is a nested group's batch and its source, in one piece.
type nestedBatch struct {
	batch
	source engine.Source[job]
}

func newBatch(parent context.Context, g *Group) *batch {
	var b *batch
	if g.nested() {
		nested := new(nestedBatch)
		b = &nested.batch
		b.source = &nested.source
	} else {
		b = new(batch)
	}
	b.group, b.told = g, make(chan struct{}, 1)
	b.absence.Turn, b.absence.Depth = b.told, g.host.depth
	b.hosted = g.host.pool != nil
	b.scope.open(parent, b)
	b.ctx = &b.scope
	if std := b.scope.std.Load(); std != nil {
		b.ctx = std.Context // one call less for each task
	}
	if b.source == nil {
		b.done = b.scope.Done()
	}
	b.target.Store(math.MaxInt64)
	return b
}

// begin counts a task in and numbers it; it reports false if the batch is sealed.
func (b *batch) begin() (index int, ok bool) {
	n := b.begun.Add(1)
	return int(n - 1), n < sealed
}

// accepted is called when the pool has accepted a task. If the batch was cancelled
// meanwhile, Wait may have looked through the queue too early to find it.
func (b *batch) accepted() {
	if b.ctx.Err() != nil {
		b.tell()
	}
}

// try hands a job over if that needs no waiting.
func (b *batch) try(j job) bool {
	e := b.group.pool.engine
	if b.source != nil {
		return e.TryDelegate(b.source, j)
	}
	return e.TrySubmit(j) == engine.Accepted
}

// withdraw undoes begin for a task that was not accepted. Its number is used
// again, unless another task has begun since.
func (b *batch) withdraw(index int) {
	if !b.begun.CompareAndSwap(int64(index)+1, int64(index)) {
		b.Ended(1)
		return
	}
	b.tell() // whom the higher number may have kept waiting
}

// Ended counts n tasks out. Nothing of the batch may be touched for them
// afterwards.
func (b *batch) Ended(n int) {
	if b.ended.Add(int64(n)) >= b.target.Load() {
		b.tell()
	}
}

// Last reports whether all tasks have ended when n more have.
func (b *batch) Last(n int) bool { return b.ended.Load()+int64(n) >= b.begun.Load()&^sealed }

// sealedOff reports whether no task of the batch runs any more, nor ever will.
func (b *batch) sealedOff() bool { return b.begun.Load()&sealed != 0 }

// release makes room under the group's limit.
func (b *batch) release(n int) {
	if q := b.group.quota; q != nil {
		q.release(n)
	}
}

// tell makes Wait look again.
func (b *batch) tell() {
	if host := b.group.host.pool; host != nil {
		host.engine.Recall(&b.absence)
		return
	}
	select {
	case b.told <- struct{}{}:
	default:
	}
}

// run runs a task of the batch on worker w, unless the batch was cancelled.
func (b *batch) run(w *engine.Worker, j job) {
	w.SettleUnless(b)
	if b.ctx.Err() != nil {
		b.group.pool.engine.Skipped()
	} else if err := j.call(&b.scope, w); err != nil {
		b.fail(j, err)
	}
	b.release(1)
	b.credit(w)
}

// credit counts a task of the batch out, as soon as w has no other one in hand.
func (b *batch) credit(w *engine.Worker) {
	w.Credit(b)
	if b.hosted {
		w.Hurry()
	}
}

// broken ends a task that panicked, or called runtime.Goexit (panicked is nil).
func (b *batch) broken(w *engine.Worker, j job, panicked any) {
	defer b.credit(w)
	defer b.release(1)
	if panicked == nil {
		b.fail(j, ErrGoexit)
		return
	}
	reporter := &b.group.pool.reporter
	p := reporter.caught(panicked)
	if b.group.options.panicsAsErrors {
		b.fail(j, p)
		return
	}
	b.mu.Lock()
	first := b.panicked == nil
	if first {
		b.panicked = p
	}
	b.mu.Unlock()
	b.scope.cancel(&TaskError{Index: j.number(), Err: p})
	if !first {
		reporter.report(p)
	}
}

// reject ends a task that the pool did not take, or handed back.
func (b *batch) reject(j job, err error) {
	b.fail(j, err)
	if parent, ok := b.group.parent.(inside.Refusals); ok {
		parent.Refused(inside.Mark{})
	}
	b.release(1)
	b.Ended(1)
}

func (b *batch) fail(j job, err error) {
	failure := &TaskError{Index: j.number(), Err: err}
	if j.listens() {
		j.listener().failed(failure)
	}
	if !b.group.options.keepGoing {
		b.scope.cancel(failure)
		return
	}
	b.mu.Lock()
	b.failures = append(b.failures, failure)
	b.mu.Unlock()
}

// wait blocks until the batch is over; the first to call it brings that about. In a
// task that gives its place up meanwhile.
func (b *batch) wait(inTask bool) {
	b.mu.Lock()
	if b.waited {
		if b.over == nil {
			b.over = make(chan struct{})
		}
		over, settled := b.over, b.settled
		b.mu.Unlock()
		if settled {
			return
		}
		if inTask {
			b.group.host.aside(func() { <-over })
		} else {
			<-over
		}
		return
	}
	b.waited = true
	b.mu.Unlock()

	host, away := b.group.host.pool, false
	done, cancelled := b.done, false
	for fresh := true; ; {
		begun := b.begun.Load()
		if cancelled {
			// Tasks in the queue will not run, and may stay there for long: the
			// workers may be busy with others'. Every end of a task is looked
			// at, since it may have added one meanwhile; so is every task
			// that Go finds accepted after the batch was cancelled.
			b.target.Store(0)
			if n := b.discard(); n > 0 {
				b.release(n)
				b.Ended(n)
			}
		} else {
			b.target.Store(begun)
		}
		// More may have ended than had begun a moment ago: then target came too
		// late for the last of them, and only another look will tell.
		if b.ended.Load() >= begun {
			if b.begun.CompareAndSwap(begun, begun|sealed) {
				break
			}
			continue
		}
		if host != nil && !away {
			if !fresh {
				host.engine.Arrived(&b.absence)
				fresh = true
				continue // what was told before is to be seen now
			}
			if inTask {
				away = host.engine.StepAside(&b.absence, b.source)
			} else {
				away = host.engine.StayOutside(&b.absence)
			}
			if !away {
				continue
			}
			if b.source != nil && host.engine.Held(b.source) {
				done = b.scope.Done() // nobody may start what has not started, nor skip it
			}
		}
		select {
		case <-b.told:
			away, fresh = false, false
		case <-done:
			done, cancelled = nil, true
		}
	}
	b.settle()
	if away {
		host.engine.Recall(&b.absence)
		<-b.told
	}
}

// discard takes back the tasks that wait for their start.
func (b *batch) discard() (n int) {
	e := b.group.pool.engine
	if b.source != nil {
		return e.Drop(b.source)
	}
	return e.Discard(func(j job) bool { return j.batch == b })
}

// settle makes the sealed batch's result, and lets everybody have it.
func (b *batch) settle() {
	g := b.group
	b.mu.Lock()
	b.cause = b.scope.Cause()
	b.err = b.cause
	if g.options.keepGoing && len(b.failures) > 0 {
		slices.SortFunc(b.failures, func(x, y *TaskError) int { return cmp.Compare(x.Index, y.Index) })
		errs := make([]error, 0, len(b.failures)+1)
		for _, failure := range b.failures {
			errs = append(errs, failure)
		}
		b.err = errors.Join(append(errs, b.err)...)
	}
	b.mu.Unlock()
	b.scope.close()
	g.batch.CompareAndSwap(b, nil)
	g.dismiss()
	b.mu.Lock()
	b.settled = true
	if b.over != nil {
		close(b.over)
	}
	b.mu.Unlock()
}
