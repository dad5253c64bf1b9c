package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// group uses the same group for several batches, which end in different ways.
func group(r *Round) {
	const batches, most = 8, 60
	limit := r.limit()
	b := &batch{
		r:      r,
		ledger: books.NewLedger(r.Book, batches*most),
		gauge:  books.NewGauge(r.Book, limit),
		keep:   one(r.Rand, 3),
		tame:   one(r.Rand, 2),
	}
	var opts []weir.GroupOption
	if b.keep {
		opts = append(opts, weir.KeepGoing())
	}
	if b.tame {
		opts = append(opts, weir.PanicsAsErrors())
	}
	quiet := weir.OnPanic(func(*weir.Panic) { b.extra.Add(1) })
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	var pool *weir.Pool
	if one(r.Rand, 2) {
		pool = weir.New(limit, r.options(quiet)...)
		if one(r.Rand, 2) {
			opts = append(opts, weir.Limit(1+r.Rand.IntN(limit)))
		}
		b.group = pool.Group(parent, opts...)
	} else {
		own := r.options(quiet)
		for _, o := range opts {
			own = append(own, o)
		}
		b.group = weir.NewGroup(parent, limit, own...)
	}
	for range batches {
		b.run(1 + r.Rand.IntN(most))
	}
	if pool != nil {
		pool.Close()
		r.settled(pool, nil)
	}
	b.ledger.Quiet("Close")
	b.ledger.Audit()
	r.Check(!b.tame || b.extra.Load() == 0, "OnPanic was called for a group with PanicsAsErrors")
}

type batch struct {
	r          *Round
	group      *weir.Group
	ledger     *books.Ledger
	gauge      *books.Gauge
	keep, tame bool // with KeepGoing, with PanicsAsErrors
	extra      atomic.Int64
}

// The ways in which a task of a group ends.
const (
	ends = iota
	fails
	panics
	exits
)

// taskFailed is what a task of a group returns.
type taskFailed struct{ id int }

func (e taskFailed) Error() string { return fmt.Sprintf("task %d has failed", e.id) }

// run is one batch.
func (b *batch) run(n int) {
	wild := b.r.Rand.IntN(3) // how many of the tasks end badly: none, few, many
	var ids, kinds []int
	cause := errors.New("the group was cancelled")
	cancelled := one(b.r.Rand, 4)
	var canceller team
	if cancelled {
		after := b.r.Rand.IntN(5000)
		canceller.Go(func() {
			spin(after)
			b.group.Cancel(cause)
		})
	}
	may := wild > 0 || cancelled // some tasks may never run
	for range n {
		id, kind, work := b.ledger.New(), ends, anyToil(b.r.Rand)
		if wild > 0 && one(b.r.Rand, 40/(wild*wild)) {
			kind = pick(b.r.Rand, fails, fails, panics, exits)
		}
		task := func(context.Context) error {
			b.ledger.Run(id, b.gauge, func() {
				work.do()
				switch kind {
				case panics:
					b.ledger.Panic(id)
				case exits:
					b.ledger.Exit(id)
				}
			})
			if kind == fails {
				return taskFailed{id}
			}
			return nil
		}
		if one(b.r.Rand, 4) {
			if !b.group.TryGo(task) {
				b.ledger.Reject(id)
				continue
			}
		} else {
			b.group.Go(task)
		}
		if may {
			b.ledger.Offer(id)
		} else {
			b.ledger.Accept(id)
		}
		ids, kinds = append(ids, id), append(kinds, kind)
	}
	canceller.Wait()
	thrown, err := b.wait()
	b.ledger.Seal("Group.Wait", ids...)
	o := outcome{err: err, thrown: thrown}
	for i, id := range ids {
		if !b.ledger.Ran(id) || kinds[i] == ends {
			continue
		}
		if kinds[i] == panics && !b.tame {
			o.panicked = append(o.panicked, id)
		} else {
			o.failed = append(o.failed, i)
		}
	}
	if cancelled {
		o.cause = cause
	}
	b.judge(o, ids)
	b.r.Op()
}

// wait waits for the group, and returns what it panics with.
func (b *batch) wait() (thrown any, err error) {
	defer func() { thrown = recover() }()
	return nil, b.group.Wait()
}

// outcome is how a batch ended.
type outcome struct {
	err      error
	thrown   any   // what Wait has panicked with
	panicked []int // tasks that ran, and whose panic must come out of Wait
	failed   []int // the places of the tasks that ran and failed
	cause    error // the group was cancelled with it before Wait
}

// judge compares what Wait has returned with what the tasks have done.
func (b *batch) judge(o outcome, ids []int) {
	if len(o.panicked) > 0 || o.thrown != nil {
		p, ok := o.thrown.(*weir.Panic)
		if !b.r.Check(ok, "Wait of a group with a task that panicked has panicked with %v and returned %v", o.thrown, o.err) {
			return
		}
		value, ok := p.Value.(books.Thrown)
		b.r.Check(ok && slices.Contains(o.panicked, value.ID), "Wait has panicked with %v: only the tasks %v have", p.Value, o.panicked)
		return
	}
	told := b.told(o, ids)
	switch {
	case o.err == nil:
		b.r.Check(len(o.failed) == 0 && o.cause == nil, "Wait has returned nil: %d tasks have failed, and the group was cancelled with %v", len(o.failed), o.cause)
	case b.keep:
		b.r.Check(slices.Equal(told, o.failed), "a group that keeps going has told of the failures %v, and there were %v", told, o.failed)
	case len(told) > 0:
		b.r.Check(len(told) == 1 && slices.Contains(o.failed, told[0]), "Wait tells of a failure of the tasks %v: only %v have failed", told, o.failed)
	default:
		b.r.Check(o.cause != nil && errors.Is(o.err, o.cause), "Wait has returned %v: the tasks %v have failed, and the group was cancelled with %v", o.err, o.failed, o.cause)
	}
}

// told returns the places of the tasks whose failures are in an error.
func (b *batch) told(o outcome, ids []int) (places []int) {
	errs := []error{o.err}
	if joined, ok := o.err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		failure, ok := errors.AsType[*weir.TaskError](err)
		if !ok {
			continue
		}
		places = append(places, failure.Index)
		if own, ok := errors.AsType[taskFailed](failure); ok {
			b.r.Check(failure.Index < len(ids) && ids[failure.Index] == own.id, "the failure of task %d has the index %d", own.id, failure.Index)
		}
	}
	return places
}
