package load

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// fault makes many tasks panic or call runtime.Goexit.
func fault(r *Round) {
	const senders, each = 4, 100
	limit := r.limit()
	ledger := books.NewLedger(r.Book, senders*each)
	gauge := books.NewGauge(r.Book, limit)
	var reports [senders * each]atomic.Int32
	opts := r.options(weir.OnPanic(func(p *weir.Panic) {
		thrown, ok := p.Value.(books.Thrown)
		if !r.Check(ok, "OnPanic got a value that no task panicked with: %v", p.Value) {
			return
		}
		reports[thrown.ID].Add(1)
	}))
	p := weir.New(limit, opts...)
	var thrown [senders * each]bool
	var all team
	all.each(r, senders, func(rnd *rand.Rand) {
		for range each {
			id, work, end := ledger.New(), anyToil(rnd), rnd.IntN(10)
			thrown[id] = end < 3
			err := p.Submit(func() {
				ledger.Run(id, gauge, func() {
					work.do()
					switch {
					case end < 3:
						ledger.Panic(id)
					case end < 6:
						ledger.Exit(id)
					}
				})
			})
			ledger.Settle(id, err)
		}
		ids := ledger.Accepted()
		p.Wait()
		ledger.Ended("Wait", ids...)
	})
	all.Wait()
	p.Close()
	ledger.Quiet("Close")
	own := ledger.Audit()
	r.settled(p, &own)
	for id := range reports {
		n := reports[id].Load()
		r.Check(n == 0 && !thrown[id] || n == 1 && thrown[id], "the panic of task %d was reported %d times", id, n)
	}
}
