package load

import (
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// order looks whether a pool with a limit of 1 runs tasks in the order in which they were accepted, and whether
// submitters that wait for room are served in the order in which they came.
func order(r *Round) {
	fifo(r)
	line(r)
}

// fifo has several goroutines submit: each one's tasks must run in its order.
func fifo(r *Round) {
	const senders, each = 4, 100
	p := weir.New(1, r.options()...)
	ledger := books.NewLedger(r.Book, senders*each)
	gauge := books.NewGauge(r.Book, 1)
	last := [senders]int{} // tasks run one at a time
	var all team
	for sender := range senders {
		all.each(r, 1, func(rnd *rand.Rand) {
			for i := range each {
				id, work := ledger.New(), anyToil(rnd)
				task := func() {
					ledger.Run(id, gauge, func() {
						r.Check(last[sender] == i, "task %d of a submitter runs, and %d is next", i, last[sender])
						last[sender] = i + 1
						work.do()
					})
				}
				ledger.Settle(id, p.Submit(task))
			}
		})
	}
	all.Wait()
	p.Close()
	ledger.Quiet("Close")
	own := ledger.Audit()
	r.settled(p, &own)
}

// late is the place of a task that comes when others already wait.
const late = -1

// line has submitters wait for room, one after the other, behind a task that blocks and a full queue.
func line(r *Round) {
	queue, waiters := r.Rand.IntN(4), 2+r.Rand.IntN(12)
	p := weir.New(1, weir.Queue(queue))
	const newcomers = 20
	ledger := books.NewLedger(r.Book, 1+queue+waiters+1+newcomers)
	gauge := books.NewGauge(r.Book, 1)
	next := 0
	open := make(chan struct{})
	task := func(id, place int) func() {
		return func() {
			ledger.Run(id, gauge, func() {
				if place == 0 {
					<-open
				}
				r.Check(place == next || place == late && next > queue+waiters, "task %d runs, and task %d is next in line", place, next)
				next++
			})
		}
	}
	var all team
	for place := range 1 + queue + waiters {
		id := ledger.New()
		hand := func() { ledger.Settle(id, p.Submit(task(id, place))) }
		if place <= queue {
			hand()
			continue
		}
		all.Go(hand)
		for p.Stats().Waiting < place-queue {
			time.Sleep(5 * time.Microsecond)
		}
	}
	id := ledger.New()
	err := p.TrySubmit(task(id, late))
	r.Check(err != nil, "TrySubmit was accepted while %d submitters waited", waiters)
	ledger.Settle(id, err, weir.ErrFull)
	all.each(r, 2, func(rnd *rand.Rand) {
		for range newcomers / 2 {
			id := ledger.New()
			if one(rnd, 4) {
				ledger.Settle(id, p.Submit(task(id, late)))
			} else {
				ledger.Settle(id, p.TrySubmit(task(id, late)), weir.ErrFull)
			}
			spin(rnd.IntN(500))
		}
	})
	close(open)
	all.Wait()
	p.Close()
	ledger.Quiet("Close")
	own := ledger.Audit()
	r.settled(p, &own)
}
