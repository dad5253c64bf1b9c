package load

import (
	"context"
	"math/rand/v2"
	"runtime"
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
		r:      r,
		limit:  limit,
		pool:   weir.New(limit, r.options()...),
		ledger: books.NewLedger(r.Book, barriers*192),
		gauge:  books.NewGauge(r.Book, limit),
	}
	stop := b.gauge.Stalls(b.ledger)
	for range barriers {
		pick(r.Rand, b.crowd, b.burst, b.chain, b.lone, b.lone, b.wakened, b.resumed, b.own)()
		switch r.Rand.IntN(4) {
		case 0:
			b.pool.Wait()
		case 1:
			time.Sleep(time.Duration(r.Rand.IntN(200)) * time.Microsecond)
		case 2:
			runtime.Gosched()
		}
	}
	stop()
	b.pool.Close()
	b.ledger.Quiet("Close")
	own := b.ledger.Audit()
	r.settled(b.pool, &own)
}

type blocker struct {
	r      *Round
	limit  int
	pool   *weir.Pool
	ledger *books.Ledger
	gauge  *books.Gauge
}

// barrier returns tasks of which none ends before all have started.
func (b *blocker) barrier(n int) (task func(), passed <-chan struct{}) {
	var arrived atomic.Int64
	open := make(chan struct{})
	return func() {
		if arrived.Add(1) == int64(n) {
			close(open)
		}
		<-open
	}, open
}

// hand submits a task.
func (b *blocker) hand(body func()) (id int) {
	id = b.ledger.New()
	b.ledger.Settle(id, b.pool.Submit(func() { b.ledger.Run(id, b.gauge, body) }))
	return id
}

// stuck sometimes waits until n tasks are queued or wait for room.
func (b *blocker) stuck(n int) {
	if one(b.r.Rand, 3) {
		spin(b.r.Rand.IntN(10_000))
		return
	}
	for s := b.pool.Stats(); s.Queued+s.Waiting < n; s = b.pool.Stats() {
		time.Sleep(5 * time.Microsecond)
	}
}

// crowd makes as many tasks as may run wait for each other, with short ones between.
func (b *blocker) crowd() {
	n := 1 + b.r.Rand.IntN(b.limit)
	task, passed := b.barrier(n)
	for range n {
		if one(b.r.Rand, 3) {
			b.hand(anyToil(b.r.Rand).do)
		}
		b.hand(task)
	}
	<-passed
}

// burst is a crowd that as many goroutines submit.
func (b *blocker) burst() {
	task, passed := b.barrier(b.limit)
	var all team
	all.each(b.r, b.limit, func(rnd *rand.Rand) {
		spin(rnd.IntN(2000))
		b.hand(task)
	})
	<-passed
	all.Wait()
}

// chain makes each task wait for the next to start.
func (b *blocker) chain() {
	if b.limit == 1 {
		b.crowd()
		return
	}
	var before chan struct{}
	for range 2 * b.limit {
		wait, started := make(chan struct{}), before
		b.hand(func() {
			if started != nil {
				close(started)
			}
			<-wait
		})
		before = wait
	}
	b.hand(func() { close(before) })
}

// lone hands over one task at a time, and waits for it: each time the worker may be just about to
// rest, or to take the task.
func (b *blocker) lone() {
	done := make(chan struct{})
	for range 100 {
		if one(b.r.Rand, 2) {
			b.hand(func() { done <- struct{}{} })
			<-done
		} else {
			length := b.r.Rand.IntN(3000)
			id := b.hand(func() { spin(length) })
			spin(b.r.Rand.IntN(3000))
			b.pool.Wait()
			b.ledger.Ended("Wait", id)
		}
		spin(b.r.Rand.IntN(1000))
	}
}

// wakened makes tasks queue up under a limit of 1 until a higher one lets all start.
func (b *blocker) wakened() {
	b.pool.Wait()
	b.pool.Resize(1)
	b.gauge.LowerStill(1)
	task, passed := b.barrier(b.limit)
	var all team
	all.each(b.r, b.limit, func(*rand.Rand) { b.hand(task) })
	b.stuck(b.limit - 1) // the first one runs
	b.gauge.Raise(b.limit)
	b.pool.Resize(b.limit)
	<-passed
	all.Wait()
}

// resumed makes tasks queue up in a pause.
func (b *blocker) resumed() {
	b.pool.Pause()
	task, passed := b.barrier(b.limit)
	var all team
	all.each(b.r, b.limit, func(*rand.Rand) { b.hand(task) })
	b.stuck(b.limit)
	b.pool.Resume()
	<-passed
	all.Wait()
}

// own makes the tasks of a group with workers of its own wait for each other.
func (b *blocker) own() {
	limit := 1 + b.r.Rand.IntN(8)
	gauge := books.NewGauge(b.r.Book, limit)
	ledger := books.NewLedger(b.r.Book, limit)
	g := weir.NewGroup(context.Background(), limit, b.r.options()...)
	task, _ := b.barrier(limit)
	for range limit {
		id := ledger.New()
		g.Go(func(context.Context) error { ledger.Run(id, gauge, task); return nil })
		ledger.Accept(id)
	}
	if err := g.Wait(); err != nil {
		b.r.Breach("a group without errors reports %v", err)
	}
	ledger.Ended("Group.Wait", ledger.Accepted()...)
	ledger.Audit()
}
