package load

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/64ed045f/weir"
)

// lanes share the places of a pool, which is paused and resized meanwhile, as they are. So do keys, each of which has its tasks in order.
func lanes(r *Round) {
	const tasks = 60
	l := &laned{family: newFamily(r, laneSenders*tasks)}
	for range 1 + r.Rand.IntN(5) {
		l.pools = append(l.pools, pick(r.Rand, l.pools...).Lane(r.limit(), l.laneOptions()...))
	}
	keyed := weir.NewKeyed[int](pick(r.Rand, l.pools...), 1, weir.KeyQueue(pick(r.Rand, 0, 1, 16, 4096)))
	l.use(laneSenders, tasks, func(rnd *rand.Rand, sender int) {
		switch p := pick(rnd, l.pools...); {
		case one(rnd, 3):
			l.key(rnd, sender, keyed)
		case one(rnd, 4):
			hand(l.ledger, l.gauge, p.TrySubmit, anyToil(rnd).do)
		default:
			hand(l.ledger, l.gauge, p.Submit, anyToil(rnd).do)
		}
	}, l.resizes)
}

const laneSenders = 6

type laned struct {
	family
	given atomic.Int64 // tasks with keys
	keys  [8]struct {
		busy atomic.Int64
		last [laneSenders]int64 // of each sender the latest task that has started
	}
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

// key submits a task with a key, no two of which must run at once. Those of one sender must run in order.
func (l *laned) key(rnd *rand.Rand, sender int, k *weir.Keyed[int]) {
	key, toil, number := rnd.IntN(len(l.keys)), anyToil(rnd), l.given.Add(1)
	of := &l.keys[key]
	submit := func(task func()) error { return k.TrySubmit(key, task) }
	hand(l.ledger, l.gauge, submit, func() {
		l.Check(of.busy.Add(1) == 1, "two tasks of a key run at once")
		l.Check(of.last[sender] < number, "task %d of a key has started before its task %d, which the same sender had given before", of.last[sender], number)
		of.last[sender] = number
		toil.do()
		of.busy.Add(-1)
	})
}

// resizes resizes a lane. The pool's own limit stays: what runs at once is counted against that.
func (l *laned) resizes(rnd *rand.Rand) {
	if p := pick(rnd, l.pools...); p != l.pools[0] {
		p.Resize(pick(rnd, 1, 2, 3, 8))
	}
}
