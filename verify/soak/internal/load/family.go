package load

import (
	"math/rand/v2"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// family is a pool and its lanes, with the books on what all of them are given.
type family struct {
	*Round
	pools  []*weir.Pool // the first has the places
	ledger *books.Ledger
	gauge  *books.Gauge
	over   bool // the pool is closed, and tasks run that it has handed back
}

// newFamily makes a pool for so many tasks, without lanes.
func newFamily(r *Round, tasks int, more ...weir.Option) family {
	limit := r.limit()
	pool := weir.New(limit, r.options(more...)...)
	return family{Round: r, pools: []*weir.Pool{pool}, ledger: books.NewLedger(r.Book, tasks, weir.ErrFull), gauge: books.NewGauge(r.Book, limit)}
}

// use has each sender call hand for each of its tasks, and others do what they do, while the pools are paused, and change is called, again and
// again. At the end the pool is closed, or shut down, and with it whatever has its places from it.
func (f *family) use(senders, tasks int, hand func(rnd *rand.Rand, sender int), change func(rnd *rand.Rand), others ...func(rnd *rand.Rand)) {
	var users, disturbers team
	stop := disturbers.again(f.Round, func(rnd *rand.Rand) {
		switch rnd.IntN(3) {
		case 0:
			p := pick(rnd, f.pools...)
			p.Pause()
			time.Sleep(micros(rnd, 50))
			p.Resume()
		case 1:
			change(rnd)
		}
		time.Sleep(micros(rnd, 100))
	})
	for sender := range senders {
		users.each(f.Round, 1, func(rnd *rand.Rand) {
			for range tasks {
				hand(rnd, sender)
			}
		})
	}
	for _, other := range others {
		users.each(f.Round, 1, other)
	}
	users.Wait()
	stop()
	for _, p := range f.pools {
		p.Resume()
	}
	unrun := f.ends(f.pools[0])
	f.over = true
	for _, task := range unrun {
		task() // as if a worker had come to it
	}
	for _, p := range f.pools {
		s := p.Stats()
		f.Check(s.Workers+s.Running+s.Queued+s.Waiting == 0 && s.Accepted == s.Finished+s.HandedBack, "a lane of a closed pool still has something: %+v", s)
	}
	f.settled(f.pools[0], f.ledger, false)
}
