package load

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// future makes futures of tasks that end in any way, some of them cancelled. Several
// goroutines get each of them.
func future(r *Round) {
	const makers, each = 6, 40
	limit := r.limit()
	f := &futures{
		r:      r,
		pool:   weir.New(limit, r.options()...),
		ledger: books.NewLedger(r.Book, 2*makers*each),
		gauge:  books.NewGauge(r.Book, limit),
	}
	var all team
	all.each(r, makers, func(rnd *rand.Rand) {
		for range each {
			f.one(rnd)
		}
	})
	all.Wait()
	f.pool.Close()
	f.ledger.Quiet("Close")
	f.ledger.Audit()
	r.settled(f.pool, nil)
}

type futures struct {
	r      *Round
	pool   *weir.Pool
	ledger *books.Ledger
	gauge  *books.Gauge
}

// one makes a future, gets it, and judges what it got.
func (f *futures) one(rnd *rand.Rand) {
	id, work, kind, inner := f.ledger.New(), anyToil(rnd), ends, one(rnd, 4)
	if one(rnd, 5) {
		kind = pick(rnd, fails, panics, exits)
	}
	ctx, cancel := someContext(rnd)
	defer cancel()
	made := weir.Async(ctx, f.pool, func(ctx context.Context) (int, error) {
		f.ledger.Run(id, f.gauge, func() {
			work.do()
			if inner {
				f.subtask(ctx)
			}
			switch kind {
			case panics:
				f.ledger.Panic(id)
			case exits:
				f.ledger.Exit(id)
			}
		})
		if kind == fails {
			return id, taskFailed{id}
		}
		return id, nil
	})
	if one(rnd, 2) {
		cancel()
	}
	var getters team
	values, errs := [2]int{}, [2]error{}
	for i := range 2 {
		getters.Go(func() { values[i], errs[i] = made.Get(context.Background()) })
	}
	getters.Wait()
	f.r.Check(values[0] == values[1] && (errs[0] == nil) == (errs[1] == nil) && errors.Is(errs[0], errs[1]), "a future gave %d, %v to one and %d, %v to another", values[0], errs[0], values[1], errs[1])
	select {
	case <-made.Done():
	default:
		f.r.Breach("a future that Get has returned is not done")
	}
	f.judge(ctx, id, kind, values[0], errs[0])
}

// judge compares what a future gave with what its task has done.
func (f *futures) judge(ctx context.Context, id, kind, value int, err error) {
	if err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		f.r.Check(ctx.Err() != nil, "a future gave %v, and its context lasts", err)
		f.ledger.Reject(id)
		return
	}
	f.ledger.Accept(id)
	f.ledger.Ended("Future.Get", id)
	var p *weir.Panic
	var own taskFailed
	switch kind {
	case ends:
		f.r.Check(err == nil && value == id, "a future gave %d, %v instead of %d", value, err, id)
	case fails:
		f.r.Check(errors.As(err, &own) && own.id == id, "the future of task %d, which fails, gave %v", id, err)
	case panics:
		f.r.Check(errors.As(err, &p) && p.Value == any(books.Thrown{ID: id}), "the future of task %d, which panics, gave %v", id, err)
	case exits:
		f.r.Check(errors.Is(err, weir.ErrGoexit), "the future of task %d, which calls Goexit, gave %v", id, err)
	}
}

// subtask makes the task of a future make another on the same pool, and wait for it.
func (f *futures) subtask(ctx context.Context) {
	id := f.ledger.New()
	f.gauge.Leave()
	made := weir.Async(ctx, f.pool, func(context.Context) (int, error) {
		f.ledger.Run(id, f.gauge, func() {})
		return id, nil
	})
	value, err := made.Get(ctx)
	if err != nil {
		// The call of Get alone may have been cancelled.
		value, err = made.Get(context.WithoutCancel(ctx))
	}
	f.gauge.Back()
	if err != nil {
		f.r.Check(ctx.Err() != nil, "the future of a subtask gave %v, and its context lasts", err)
		f.ledger.Reject(id)
		return
	}
	f.r.Check(value == id, "the future of a subtask gave %d instead of %d", value, id)
	f.ledger.Accept(id)
	f.ledger.Ended("Future.Get", id)
}
