package load

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// resize moves the limit up and down, under tasks that come all the time, and over tasks that
// stand still.
func resize(r *Round) {
	if one(r.Rand, 2) {
		resizeUnderway(r)
	} else {
		resizeStill(r)
	}
}

func resizeUnderway(r *Round) {
	const senders, each = 4, 250
	limit := r.limit()
	p := weir.New(limit, r.options()...)
	ledger := books.NewLedger(r.Book, senders*each)
	gauge := books.NewGauge(r.Book, limit)
	stop := gauge.Stalls(ledger)
	var all, resizer team
	all.each(r, senders, func(rnd *rand.Rand) {
		for range each {
			id, work := ledger.New(), anyToil(rnd)
			ledger.Settle(id, p.Submit(func() { ledger.Run(id, gauge, work.do) }))
		}
	})
	over := make(chan struct{})
	resizer.each(r, 1, func(rnd *rand.Rand) {
		for {
			limit = change(rnd, p, gauge, limit)
			// A limit stays for a while, so that starts above it add up.
			for starts := gauge.Starts() + rnd.IntN(100); gauge.Starts() < starts; runtime.Gosched() {
				select {
				case <-over:
					return
				default:
				}
			}
		}
	})
	all.Wait()
	ids := ledger.Accepted()
	p.Wait()
	ledger.Ended("Wait", ids...)
	close(over)
	resizer.Wait()
	stop()
	p.Close()
	ledger.Quiet("Close")
	own := ledger.Audit()
	r.settled(p, &own)
}

// change resizes a pool whose limit no other goroutine changes, and returns the new limit.
func change(rnd *rand.Rand, p *weir.Pool, gauge *books.Gauge, old int) int {
	limit := pick(rnd, 1, 1, 2, 3, 5, 8, 16)
	if limit > old {
		gauge.Raise(limit)
		p.Resize(limit)
	} else {
		p.Resize(limit)
		gauge.Lower(limit)
	}
	return limit
}

// resizeStill lowers the limit while all that was taken stands still, so that not a single start
// may be above the new one.
func resizeStill(r *Round) {
	high := 2 + r.Rand.IntN(15)
	low := 1 + r.Rand.IntN(high-1)
	const more = 50
	p := weir.New(high, r.options()...)
	ledger := books.NewLedger(r.Book, high+more)
	gauge := books.NewGauge(r.Book, high)
	let := make(chan struct{}, high)
	for range high {
		id := ledger.New()
		ledger.Settle(id, p.Submit(func() { ledger.Run(id, gauge, func() { <-let }) }))
	}
	for gauge.Starts() < high { // those that only run may not have looked at the limit yet
		time.Sleep(10 * time.Microsecond)
	}
	p.Resize(low)
	gauge.LowerStill(low)
	var sender team
	sender.each(r, 1, func(rnd *rand.Rand) {
		for range more {
			id, work := ledger.New(), anyToil(rnd)
			ledger.Settle(id, p.Submit(func() { ledger.Run(id, gauge, work.do) }))
		}
	})
	for range high {
		let <- struct{}{}
		spin(r.Rand.IntN(3000))
	}
	sender.Wait()
	if one(r.Rand, 2) {
		ids := ledger.Accepted()
		p.Wait()
		ledger.Ended("Wait", ids...)
	}
	p.Close()
	ledger.Quiet("Close")
	own := ledger.Audit()
	r.settled(p, &own)
}
