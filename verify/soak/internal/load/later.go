package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// later has tasks begin at a rate that changes, on a pool and a lane that share it, while others are set for later, stopped and set anew. Each timer runs
// once, or is stopped, or is counted when the pool ends. Those that come again never run twice at once. Calls that fail are made again.
func later(r *Round) {
	const senders, tasks = 4, 40
	l := &timed{Round: r, rate: weir.Rate(50_000, time.Second, pick(r.Rand, 1, 10, 1000))}
	limit := r.limit()
	l.ledger = books.NewLedger(r.Book, senders*tasks, weir.ErrFull)
	l.gauge = books.NewGauge(r.Book, limit)
	pool := weir.New(limit, r.options(l.rate, weir.OnError(l.hears))...)
	l.gauge.Ask(places(pool))
	l.pools = []*weir.Pool{pool, pool.Lane(r.limit(), l.rate)}

	var hands, others team
	stop := others.again(r, l.disturb)
	hands.each(r, senders, func(rnd *rand.Rand) {
		for range tasks {
			switch p := pick(rnd, l.pools...); rnd.IntN(4) {
			case 0:
				l.hand(rnd, p)
			case 1:
				l.repeats(rnd, pool)
			default:
				l.sets(rnd, pool)
			}
		}
	})
	hands.each(r, 1, l.retries)
	hands.Wait()
	stop()
	for _, p := range l.pools {
		p.Resume()
	}
	r.ends(pool)
	r.Check(l.made.Load() == l.stopped.Load()+l.ran.Load()+l.dropped.Load(), "of %d timers %d were stopped, %d have run, and %d were dropped",
		l.made.Load(), l.stopped.Load(), l.ran.Load(), l.dropped.Load())
	r.settled(pool, l.ledger, false)
}

type timed struct {
	*Round
	rate   *weir.RateLimit
	pools  []*weir.Pool // the pool and its lane
	ledger *books.Ledger
	gauge  *books.Gauge

	made, stopped, ran, dropped atomic.Int64 // timers that run once
}

// hears is the function of OnError.
func (l *timed) hears(err error) {
	if e, ok := errors.AsType[*weir.TimersError](err); ok {
		l.dropped.Add(int64(e.Dropped))
	} else if errors.Is(err, weir.ErrClosed) || errors.Is(err, weir.ErrFull) {
		l.dropped.Add(1)
	}
}

// hand submits a task to p.
func (l *timed) hand(rnd *rand.Rand, p *weir.Pool) {
	id, toil := l.ledger.New(), anyToil(rnd)
	l.ledger.Settle(id, p.TrySubmit(func() { l.ledger.Run(id, l.gauge, toil.do) }))
}

// sets makes a timer that runs once, and may stop it, or set it anew.
func (l *timed) sets(rnd *rand.Rand, p *weir.Pool) {
	l.made.Add(1)
	x := p.After(micros(rnd, 500), func(context.Context) {
		l.gauge.Enter()
		l.ran.Add(1)
		l.gauge.Leave()
	})
	if !one(rnd, 3) {
		return
	}
	time.Sleep(micros(rnd, 300))
	switch {
	case one(rnd, 2):
		if x.Stop() {
			l.stopped.Add(1)
		}
	case !x.Reset(micros(rnd, 500)): // it has begun, and runs once more
		l.made.Add(1)
	}
}

// repeats makes a timer that runs again and again, for a while.
func (l *timed) repeats(rnd *rand.Rand, p *weir.Pool) {
	var busy atomic.Int32
	toil := anyToil(rnd)
	x := p.Every(micros(rnd, 100)+1, func(context.Context) {
		l.Check(busy.Add(1) == 1, "a task that repeats runs twice at once")
		toil.do()
		busy.Add(-1)
	})
	time.Sleep(micros(rnd, 300))
	x.Stop()
}

// retries runs a group whose tasks fail twice.
func (l *timed) retries(rnd *rand.Rand) {
	g := l.pools[0].Group(context.Background(), weir.KeepGoing(), weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Duration(1 + rnd.IntN(100_000))}))
	const tasks = 20
	var calls atomic.Int64
	for range tasks {
		var n int
		g.Go(func(context.Context) error {
			calls.Add(1)
			if n++; n < 3 {
				return errFailed
			}
			return nil
		})
	}
	err := g.Wait()
	l.Check(err == nil && calls.Load() == 3*tasks, "%d calls of %d tasks that fail twice: %v", calls.Load(), tasks, err)
}

func (l *timed) disturb(rnd *rand.Rand) {
	p := pick(rnd, l.pools...)
	switch rnd.IntN(3) {
	case 0:
		p.Pause()
		time.Sleep(micros(rnd, 50))
		p.Resume()
	case 1:
		l.rate.Set(pick(rnd, 20_000, 50_000, 1_000_000), time.Second, pick(rnd, 1, 10, 1000))
	}
	time.Sleep(micros(rnd, 100))
}
