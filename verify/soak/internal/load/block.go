package load

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// block gives a pool tasks that wait for each other: if one that the limit lets run does not
// start, none goes on, and the watchdog tells.
func block(r *Round) {
	const barriers = 20
	limit := r.limit()
	b := &blocker{
		Round:  r,
		limit:  limit,
		pool:   weir.New(limit, r.options()...),
		ledger: books.NewLedger(r.Book, barriers*192),
		gauge:  books.NewGauge(r.Book, limit),
	}
	for range barriers {
		pick(r.Rand, b.crowd, b.burst, b.chain, b.lone, b.lone, b.wakened, b.resumed)()
		switch r.Rand.IntN(3) {
		case 0:
			b.pool.Wait()
		case 1:
			time.Sleep(micros(r.Rand, 200))
		}
	}
	b.pool.Close()
	r.settled(b.pool, b.ledger, true)
}

type blocker struct {
	*Round
	limit  int
	pool   *weir.Pool
	ledger *books.Ledger
	gauge  *books.Gauge
}

// barrier returns tasks of which none ends before n have started, and waits for that.
func barrier(n int) (task, wait func()) {
	var arrived atomic.Int64
	open := make(chan struct{})
	return func() {
		if arrived.Add(1) == int64(n) {
			close(open)
		}
		<-open
	}, func() { <-open }
}

// hand submits a task.
func (b *blocker) hand(body func()) (id int) { return hand(b.ledger, b.gauge, b.pool.Submit, body) }

// crowd makes as many tasks as may run wait for each other, with short ones between.
func (b *blocker) crowd() {
	n := 1 + b.Rand.IntN(b.limit)
	task, wait := barrier(n)
	for range n {
		if one(b.Rand, 3) {
			b.hand(anyToil(b.Rand).do)
		}
		b.hand(task)
	}
	wait()
}

// burst is a crowd that as many goroutines submit.
func (b *blocker) burst() { b.held(0, func() {}) }

// wakened is a burst under a limit of 1, until a higher one lets all start.
func (b *blocker) wakened() {
	b.pool.Wait()
	b.pool.Resize(1)
	b.gauge.LowerStill(1)
	b.held(b.limit-1, func() {
		b.gauge.Raise(b.limit)
		b.pool.Resize(b.limit)
	})
}

// resumed is a burst in a pause.
func (b *blocker) resumed() {
	b.pool.Pause()
	b.held(b.limit, b.pool.Resume)
}

// held is a burst of which n tasks cannot start before release is called. Sometimes all of them are queued
// by then, or wait for room.
func (b *blocker) held(n int, release func()) {
	task, wait := barrier(b.limit)
	var all team
	all.each(b.Round, b.limit, func(rnd *rand.Rand) {
		Spin(rnd.IntN(2000))
		b.hand(task)
	})
	if one(b.Rand, 3) {
		Spin(b.Rand.IntN(10_000))
	} else {
		for s := b.pool.Stats(); s.Queued+s.Waiting < n; s = b.pool.Stats() {
			time.Sleep(5 * time.Microsecond)
		}
	}
	release()
	wait()
	all.Wait()
}

// chain makes each task wait for the next to start.
func (b *blocker) chain() {
	if b.limit == 1 {
		b.crowd()
		return
	}
	started := func() {}
	for range 2 * b.limit {
		before, next := started, make(chan struct{})
		b.hand(func() {
			before()
			<-next
		})
		started = func() { close(next) }
	}
	b.hand(started)
}

// lone hands over one task at a time, and waits for it: each time the worker may be just about to
// rest, or to take the task.
func (b *blocker) lone() {
	for range 100 {
		length := b.Rand.IntN(3000)
		if one(b.Rand, 2) {
			task, wait := barrier(1)
			b.hand(task)
			wait()
		} else {
			id := b.hand(func() { Spin(length) })
			Spin(b.Rand.IntN(3000))
			b.pool.Wait()
			b.ledger.Ended("Wait", id)
		}
		Spin(b.Rand.IntN(1000))
	}
}
