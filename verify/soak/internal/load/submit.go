package load

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// submit makes 100 goroutines hand tasks to three kinds of pools, in every way there is.
func submit(r *Round) {
	const senders = 100
	each := 1 + r.Rand.IntN(20)
	limit := r.limit()
	opts := r.options()
	if one(r.Rand, 3) {
		opts = append(opts, weir.MaxWaiting(r.Rand.IntN(senders)))
	}
	faces := []face{
		poolFace(r, senders*each, limit, opts),
		funcFace(r, senders*each, limit, opts),
		statefulFace(r, senders*each, limit, opts),
	}
	stop := faces[0].gauge.Stalls(faces[0].ledger)
	var all, waiter team
	all.each(r, senders, func(rnd *rand.Rand) {
		for range each {
			f := pick(rnd, faces...)
			f.hand(rnd, f.ledger.New(), anyToil(rnd))
		}
	})
	over := make(chan struct{})
	waiter.each(r, 1, func(rnd *rand.Rand) {
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(rnd.IntN(1000)) * time.Microsecond):
				f := pick(rnd, faces...)
				f.waitFor()
			}
		}
	})
	all.Wait()
	close(over)
	waiter.Wait()
	for _, f := range faces {
		f.waitFor()
	}
	stop()
	for _, f := range faces {
		f.close()
		f.ledger.Quiet("Close")
		f.ledger.Audit()
		r.settled(f.pool, nil)
	}
}

// face is a pool of some kind, with the books on its tasks.
type face struct {
	ledger *books.Ledger
	gauge  *books.Gauge
	hand   func(rnd *rand.Rand, id int, work toil) // in some way
	pool   counts
	wait   func()
	close  func()
}

// waitFor checks that Wait waits.
func (f face) waitFor() {
	ids := f.ledger.Accepted()
	f.wait()
	f.ledger.Ended("Wait", ids...)
}

// run runs a task that the face's pool has started.
func (f face) run(id int, work toil) { f.ledger.Run(id, f.gauge, work.do) }

func poolFace(r *Round, tasks, limit int, opts []weir.Option) face {
	p := weir.New(limit, opts...)
	f := face{ledger: books.NewLedger(r.Book, tasks), gauge: books.NewGauge(r.Book, limit), pool: p, wait: p.Wait, close: p.Close}
	f.hand = func(rnd *rand.Rand, id int, work toil) {
		task := func() { f.run(id, work) }
		switch rnd.IntN(5) {
		case 0:
			f.ledger.Settle(id, p.Submit(task), weir.ErrFull)
		case 1:
			f.ledger.Settle(id, p.TrySubmit(task), weir.ErrFull)
		case 2:
			ctx, cancel := someContext(rnd)
			defer cancel()
			f.ledger.Settle(id, p.SubmitContext(ctx, task), weir.ErrFull, context.Canceled, context.DeadlineExceeded)
		case 3:
			err := p.Do(context.Background(), func(context.Context) error { task(); return nil })
			f.did(id, "Do", err, weir.ErrFull)
		case 4:
			ctx, cancel := someContext(rnd)
			defer cancel()
			err := p.Do(ctx, func(context.Context) error { task(); return nil })
			f.did(id, "Do", err, weir.ErrFull, context.Canceled, context.DeadlineExceeded)
		}
	}
	return f
}

// did settles a task that has run if the call has returned nil.
func (f face) did(id int, call string, err error, rejections ...error) {
	f.ledger.Settle(id, err, rejections...)
	if err == nil {
		f.ledger.Ended(call, id)
	}
}

// errand is the argument of a pool of one function.
type errand struct {
	id   int
	work toil
}

// invoker is a pool of one function.
type invoker interface {
	Invoke(errand) error
	TryInvoke(errand) error
	InvokeContext(context.Context, errand) error
}

// invoke hands over by one of the ways which all such pools have.
func (f face) invoke(p invoker, rnd *rand.Rand, e errand) {
	switch rnd.IntN(3) {
	case 0:
		f.ledger.Settle(e.id, p.Invoke(e), weir.ErrFull)
	case 1:
		f.ledger.Settle(e.id, p.TryInvoke(e), weir.ErrFull)
	case 2:
		ctx, cancel := someContext(rnd)
		defer cancel()
		f.ledger.Settle(e.id, p.InvokeContext(ctx, e), weir.ErrFull, context.Canceled, context.DeadlineExceeded)
	}
}

func funcFace(r *Round, tasks, limit int, opts []weir.Option) face {
	f := face{ledger: books.NewLedger(r.Book, tasks), gauge: books.NewGauge(r.Book, limit)}
	p := weir.NewFunc(limit, func(e errand) { f.run(e.id, e.work) }, opts...)
	f.pool, f.wait, f.close = p, p.Wait, p.Close
	f.hand = func(rnd *rand.Rand, id int, work toil) { f.invoke(p, rnd, errand{id, work}) }
	return f
}

func statefulFace(r *Round, tasks, limit int, opts []weir.Option) face {
	f := face{ledger: books.NewLedger(r.Book, tasks), gauge: books.NewGauge(r.Book, limit)}
	values := owners{r: r, limit: limit}
	p := weir.NewStateful(limit, values.open, func(v *owned, e errand) {
		f.ledger.Run(e.id, f.gauge, func() { values.use(v, e.work.do) })
	}, values.dispose, opts...)
	f.pool, f.wait = p, p.Wait
	f.close = func() {
		p.Close()
		values.none()
	}
	f.hand = func(rnd *rand.Rand, id int, work toil) {
		if rnd.IntN(4) > 0 {
			f.invoke(p, rnd, errand{id, work})
			return
		}
		ctx, cancel := someContext(rnd)
		defer cancel()
		f.did(id, "Call", p.Call(ctx, errand{id, work}), weir.ErrFull, context.Canceled, context.DeadlineExceeded)
	}
	return f
}
