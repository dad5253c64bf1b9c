package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// pause pauses and resumes a pool, with nothing under way and with many tasks.
func pause(r *Round) {
	const tasks, senders, each = 40, 4, 100
	limit := r.limit()
	p := weir.New(limit, weir.Queue(tasks+r.Rand.IntN(200)))
	ledger := books.NewLedger(r.Book, tasks+senders*each)
	gauge := books.NewGauge(r.Book, limit)
	hand := func(rnd *rand.Rand) {
		id, work := ledger.New(), anyToil(rnd)
		ledger.Settle(id, p.Submit(func() { ledger.Run(id, gauge, work.do) }))
	}

	p.Pause()
	for range tasks {
		hand(r.Rand)
	}
	if one(r.Rand, 2) {
		// Another limit ends no pause.
		gauge.Raise(limit + 1)
		p.Resize(limit + 1)
		p.Resize(limit)
		gauge.LowerStill(limit)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Microsecond)
	err := p.WaitContext(ctx)
	cancel()
	r.Check(errors.Is(err, context.DeadlineExceeded), "WaitContext of a paused pool with tasks returned %v", err)
	r.Check(gauge.Starts() == 0, "a paused pool has started %d tasks", gauge.Starts())
	p.Resume()
	ids := ledger.Accepted()
	p.Wait()
	ledger.Ended("Wait", ids...)

	var all, pauser team
	all.each(r, senders, func(rnd *rand.Rand) {
		for range each {
			hand(rnd)
		}
	})
	over := make(chan struct{})
	pauser.each(r, 1, func(rnd *rand.Rand) {
		for {
			select {
			case <-over:
				return
			default:
			}
			p.Pause()
			before := gauge.Starts()
			for range rnd.IntN(200) {
				runtime.Gosched()
			}
			// What was taken before may still start.
			if n := gauge.Starts() - before; n > limit {
				r.Breach("%d tasks have started in a pause, with a limit of %d", n, limit)
			}
			p.Resume()
			for range rnd.IntN(50) {
				runtime.Gosched()
			}
		}
	})
	all.Wait()
	ids = ledger.Accepted()
	p.Wait()
	ledger.Ended("Wait", ids...)
	close(over)
	pauser.Wait()
	if one(r.Rand, 2) {
		p.Pause() // which Close ends
	}
	p.Close()
	ledger.Quiet("Close")
	own := ledger.Audit()
	r.settled(p, &own)
}
