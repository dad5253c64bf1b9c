package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
)

// later has tasks begin at a rate that changes, on a pool and a lane that share it, while others are set for later, stopped and set anew. Each timer runs
// once, or is stopped, or is counted when the pool ends. Those that come again never run twice at once. Calls that fail are made again.
func later(r *Round) {
	const senders, tasks = 4, 40
	l := &timed{burst: pick(r.Rand, 1, 10, 1000), since: time.Now()}
	rates := pick(r.Rand, []int{20_000}, []int{20_000, 50_000}, []int{20_000, 50_000, 1_000_000})
	first := pick(r.Rand, rates...)
	l.highest.Store(int64(first))
	l.rate = weir.Rate(first, time.Second, l.burst)
	l.family = newFamily(r, senders*tasks, l.rate, weir.OnError(l.hears))
	pool := l.pools[0]
	l.pools = append(l.pools, pool.Lane(r.limit(), l.rate))
	l.use(senders, tasks, func(rnd *rand.Rand, _ int) {
		switch rnd.IntN(4) {
		case 0:
			toil := anyToil(rnd)
			hand(l.ledger, l.gauge, pick(rnd, l.pools...).TrySubmit, func() {
				l.begins()
				toil.do()
			})
		case 1:
			l.repeats(rnd, pool)
		default:
			l.sets(rnd, pool)
		}
	}, func(rnd *rand.Rand) {
		n := pick(rnd, rates...)
		l.highest.Store(max(l.highest.Load(), int64(n)))
		l.rate.Set(n, time.Second, pick(rnd, 1, 10, 1000))
	}, l.retries)
	r.Check(l.made.Load() == l.stopped.Load()+l.ran.Load()+l.dropped.Load(), "of %d timers %d were stopped, %d have run, and %d were dropped",
		l.made.Load(), l.stopped.Load(), l.ran.Load(), l.dropped.Load())
}

type timed struct {
	family
	rate    *weir.RateLimit
	since   time.Time    // before it was made
	burst   int          // that it was made with
	highest atomic.Int64 // rate so far, for a second
	begun   atomic.Int64 // tasks that have begun, each with a turn

	made, stopped, ran, dropped atomic.Int64 // timers that run once
}

// begins compares the tasks that have begun with the turns that there can have been. A higher burst adds none.
func (l *timed) begins() {
	n, most := l.begun.Add(1), l.highest.Load()
	turns := float64(l.burst) + float64(most)*time.Since(l.since).Seconds()
	l.Check(l.over || float64(n) <= turns, "%d tasks have begun, and there were %.1f turns: at most %d in a second, and %d at once", n, turns, most, l.burst)
}

// hears is the function of OnError.
func (l *timed) hears(err error) {
	if e, ok := errors.AsType[*weir.TimersError](err); ok {
		l.dropped.Add(int64(e.Dropped))
	} else if errors.Is(err, weir.ErrClosed) || errors.Is(err, weir.ErrFull) {
		l.dropped.Add(1)
	}
}

// sets makes a timer that runs once, and may stop it, or set it anew.
func (l *timed) sets(rnd *rand.Rand, p *weir.Pool) {
	l.made.Add(1)
	x := p.After(micros(rnd, 500), func(context.Context) {
		l.gauge.Enter()
		l.begins()
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
	var busy, ran atomic.Int32
	toil := anyToil(rnd)
	x := p.Every(micros(rnd, 100)+1, func(context.Context) {
		l.Check(busy.Add(1) == 1, "a task that repeats runs twice at once")
		l.begins()
		ran.Add(1)
		toil.do()
		busy.Add(-1)
	})
	time.Sleep(micros(rnd, 300))
	for ran.Load() == 0 { // if it never runs, the watchdog tells
		time.Sleep(50 * time.Microsecond)
	}
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
			if n++; n == 1 {
				l.begins()
			}
			if n < 3 {
				return errFailed
			}
			return nil
		})
	}
	err := g.Wait()
	l.Check(err == nil && calls.Load() == 3*tasks, "%d calls of %d tasks that fail twice: %v", calls.Load(), tasks, err)
}
