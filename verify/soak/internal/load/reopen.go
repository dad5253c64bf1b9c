package load

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// reopen closes pools, several times at once, while others submit, and takes a new one each time.
func reopen(r *Round) {
	const pools, senders = 10, 8
	for range pools {
		limit := r.limit()
		each := r.Rand.IntN(40)
		p := weir.New(limit, r.options()...)
		ledger := books.NewLedger(r.Book, senders*each)
		gauge := books.NewGauge(r.Book, limit)
		var closed atomic.Bool // some Close has returned
		var all team
		all.each(r, senders, func(rnd *rand.Rand) {
			for range each {
				id, work := ledger.New(), anyToil(rnd)
				task := func() { ledger.Run(id, gauge, work.do) }
				late := closed.Load()
				var err error
				if one(rnd, 2) {
					err = p.Submit(task)
				} else {
					err = p.TrySubmit(task)
				}
				r.Check(!late || err != nil, "a pool has accepted a task after Close had returned")
				ledger.Settle(id, err, weir.ErrClosed, weir.ErrFull)
			}
		})
		all.each(r, 1+r.Rand.IntN(3), func(rnd *rand.Rand) {
			somewhat(rnd, ledger, senders*each)
			ids := ledger.Accepted()
			p.Close()
			closed.Store(true)
			ledger.Ended("Close", ids...)
			ledger.Quiet("Close")
		})
		all.Wait()
		own := ledger.Audit()
		r.settled(p, &own)
	}
}
