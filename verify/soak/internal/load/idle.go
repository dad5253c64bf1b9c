package load

import (
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// idle has workers that expire as soon as they are idle, or nearly so, between bursts of tasks; in the
// end the pool is just dropped.
func idle(r *Round) {
	const bursts, senders, each = 12, 3, 10
	limit := r.limit()
	timeout := pick(r.Rand, 0, time.Nanosecond, 5*time.Microsecond, 50*time.Microsecond, 500*time.Microsecond)
	p := weir.New(limit, weir.IdleTimeout(timeout), weir.Queue(r.queue()))
	ledger := books.NewLedger(r.Book, bursts*senders*each)
	gauge := books.NewGauge(r.Book, limit)
	for range bursts {
		var all team
		all.each(r, senders, func(rnd *rand.Rand) {
			for range rnd.IntN(each + 1) {
				id, work := ledger.New(), anyToil(rnd)
				ledger.Settle(id, p.Submit(func() { ledger.Run(id, gauge, work.do) }))
				if one(rnd, 4) {
					time.Sleep(time.Duration(rnd.IntN(60)) * time.Microsecond)
				}
			}
		})
		all.Wait()
		ids := ledger.Accepted()
		p.Wait()
		ledger.Ended("Wait", ids...)
		time.Sleep(min(timeout, 100*time.Microsecond))
	}
	// Dropped without Close, a pool has no goroutine after its timeout: if one stays, the watchdog tells.
	for p.Stats().Workers > 0 {
		time.Sleep(50 * time.Microsecond)
	}
	own := ledger.Audit()
	r.settled(p, &own)
}
