package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// shutdown ends pools with a deadline, or none, or one that has passed, and checks every
// task that they hand back.
func shutdown(r *Round) {
	const pools = 10
	for range pools {
		if one(r.Rand, 2) {
			shutdownPool(r)
		} else {
			shutdownFunc(r)
		}
	}
}

// deadline returns the context of a Shutdown.
func deadline(rnd *rand.Rand) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(rnd.IntN(300))*time.Microsecond)
}

func shutdownPool(r *Round) {
	const senders = 6
	limit, each := r.limit(), r.Rand.IntN(40)
	p := weir.New(limit, r.options()...)
	ledger := books.NewLedger(r.Book, senders*each)
	gauge := books.NewGauge(r.Book, limit)
	var all team
	all.each(r, senders, func(rnd *rand.Rand) {
		for range each {
			id, work := ledger.New(), anyToil(rnd)
			ledger.Settle(id, p.Submit(func() { ledger.Run(id, gauge, work.do) }), weir.ErrClosed)
		}
	})
	somewhat(r.Rand, ledger, senders*each)
	ctx, cancel := deadline(r.Rand)
	defer cancel()
	unrun, err := p.Shutdown(ctx)
	r.Check(err == nil || errors.Is(err, context.DeadlineExceeded), "Shutdown has returned %v", err)
	r.Check(err != nil || len(unrun) == 0, "Shutdown has returned nil, and %d tasks", len(unrun))
	if err == nil {
		ledger.Quiet("Shutdown")
	}
	all.Wait()
	p.Close()
	ledger.Quiet("Close")
	ledger.Collect(unrun)
	own := ledger.Audit()
	r.settled(p, &own)
}

// shutdownFunc also checks the order in which arguments are handed back.
func shutdownFunc(r *Round) {
	limit, tasks := r.limit(), r.Rand.IntN(300)
	ledger := books.NewLedger(r.Book, tasks)
	gauge := books.NewGauge(r.Book, limit)
	p := weir.NewFunc(limit, func(e errand) { ledger.Run(e.id, gauge, e.work.do) }, r.options()...)
	var sender team
	sender.each(r, 1, func(rnd *rand.Rand) {
		for range tasks {
			id := ledger.New()
			ledger.Settle(id, p.Invoke(errand{id, anyToil(rnd)}), weir.ErrClosed)
		}
	})
	somewhat(r.Rand, ledger, tasks)
	ctx, cancel := deadline(r.Rand)
	defer cancel()
	unrun, err := p.Shutdown(ctx)
	r.Check(err == nil || errors.Is(err, context.DeadlineExceeded), "Shutdown has returned %v", err)
	r.Check(err != nil || len(unrun) == 0, "Shutdown has returned nil, and %d arguments", len(unrun))
	r.Check(slices.IsSortedFunc(unrun, func(a, b errand) int { return a.id - b.id }), "arguments are handed back out of order: %v", unrun)
	for _, e := range unrun {
		ledger.Returned(e.id)
	}
	sender.Wait()
	p.Close()
	ledger.Quiet("Close")
	own := ledger.Audit()
	r.settled(p, &own)
}
