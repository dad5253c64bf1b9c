package load

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// lanes share the places of a pool, which is paused and resized meanwhile, as they are. So do keys, each of which has its tasks in order. At
// the end the pool is closed, or shut down, and with it whatever has its places from it.
func lanes(r *Round) {
	const senders, tasks = 6, 60
	limit := r.limit()
	l := &laned{
		Round:  r,
		ledger: books.NewLedger(r.Book, senders*tasks, weir.ErrFull),
		gauge:  books.NewGauge(r.Book, limit),
	}
	pool := weir.New(limit, r.options()...)
	l.gauge.Ask(places(pool))
	l.pools = []*weir.Pool{pool}
	for range 1 + r.Rand.IntN(5) {
		l.pools = append(l.pools, pick(r.Rand, l.pools...).Lane(r.limit(), l.laneOptions()...))
	}
	keyed := weir.NewKeyed[int](pick(r.Rand, l.pools...), 1, weir.KeyQueue(pick(r.Rand, 0, 1, 16, 4096)))

	var hands, others team
	stop := others.again(r, l.disturb)
	hands.each(r, senders, func(rnd *rand.Rand) {
		for range tasks {
			if one(rnd, 3) {
				l.key(rnd, keyed)
			} else {
				l.hand(rnd, pick(rnd, l.pools...))
			}
		}
	})
	hands.Wait()
	stop()
	for _, p := range l.pools {
		p.Resume()
	}
	r.ends(pool)
	for _, p := range l.pools {
		s := p.Stats()
		r.Check(s.Workers+s.Running+s.Queued+s.Waiting == 0 && s.Accepted == s.Finished+s.HandedBack, "a lane of a closed pool still has something: %+v", s)
	}
	r.settled(pool, l.ledger, false)
}

type laned struct {
	*Round
	pools  []*weir.Pool
	ledger *books.Ledger
	gauge  *books.Gauge // of all
	keys   [8]struct{ busy atomic.Int64 }
}

func (l *laned) laneOptions() []weir.Option {
	opts := []weir.Option{weir.Queue(pick(l.Rand, 0, 1, 16, 4096))}
	for _, opt := range []weir.Option{weir.Share(1 + l.Rand.IntN(9)), weir.Priority(l.Rand.IntN(3) - 1), weir.Aging(micros(l.Rand, 500) + 1)} {
		if one(l.Rand, 2) {
			opts = append(opts, opt)
		}
	}
	return opts
}

// hand submits a task to p.
func (l *laned) hand(rnd *rand.Rand, p *weir.Pool) {
	id, toil := l.ledger.New(), anyToil(rnd)
	task := func() { l.ledger.Run(id, l.gauge, toil.do) }
	if one(rnd, 4) {
		l.ledger.Settle(id, p.TrySubmit(task))
	} else {
		l.ledger.Settle(id, p.Submit(task))
	}
}

// key submits a task with a key. Those of one sender have one key: their order is known.
func (l *laned) key(rnd *rand.Rand, k *weir.Keyed[int]) {
	id, key, toil := l.ledger.New(), rnd.IntN(len(l.keys)), anyToil(rnd)
	of := &l.keys[key]
	l.ledger.Settle(id, k.TrySubmit(key, func() {
		l.ledger.Run(id, l.gauge, func() {
			l.Check(of.busy.Add(1) == 1, "two tasks of a key run at once")
			toil.do()
			of.busy.Add(-1)
		})
	}))
}

// disturb changes what is not the pool's own limit: what runs at once is counted against that.
func (l *laned) disturb(rnd *rand.Rand) {
	p := pick(rnd, l.pools...)
	switch rnd.IntN(3) {
	case 0:
		p.Pause()
		time.Sleep(micros(rnd, 50))
		p.Resume()
	case 1:
		if p != l.pools[0] {
			p.Resize(pick(rnd, 1, 2, 3, 8))
		}
	}
	time.Sleep(micros(rnd, 100))
}
