package load

import (
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// sleep has many tasks of a FuncPool sleep at once, with limits up to no limit at all.
func sleep(r *Round) {
	const senders, each = 4, 100
	limit := pick(r.Rand, 1, 4, 64, 300, weir.Unbounded)
	length := time.Duration(1+r.Rand.IntN(200)) * time.Microsecond
	if limit == 1 {
		length /= 10
	}
	ledger := books.NewLedger(r.Book, senders*each)
	gauge := books.NewGauge(r.Book, limit)
	p := weir.NewFunc(limit, func(id int) {
		ledger.Run(id, gauge, func() { time.Sleep(length) })
	}, r.options()...)
	var all team
	all.each(r, senders, func(rnd *rand.Rand) {
		for range each {
			id := ledger.New()
			if one(rnd, 2) {
				ledger.Settle(id, p.Invoke(id))
			} else {
				ledger.Settle(id, p.TryInvoke(id), weir.ErrFull)
			}
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
}
