package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

var errFailed = errors.New("an object has failed")

// keeper leases objects that are slow to open, that fail, expire, or are discarded.
func keeper(r *Round) {
	const users, each = 12, 40
	capacity := pick(r.Rand, 1, 2, 3, 8)
	k := &kept{
		owners: owners{r: r, limit: capacity, flawless: one(r.Rand, 2), rnd: fork(r.Rand)},
		ledger: books.NewLedger(r.Book, users*each, append(givenUp, errNoObject, weir.ErrGoexit, reuse.ErrNoneIdle)...), // each lease is a task
		gauge:  books.NewGauge(r.Book, capacity),
	}
	config := reuse.KeeperConfig[*owned]{Capacity: capacity, Open: k.open, Close: k.dispose, OnPanic: func(*weir.Panic) {}}
	sometimes := func(n int, set func(some time.Duration)) {
		if one(r.Rand, n) {
			set(time.Microsecond + micros(r.Rand, 200))
		}
	}
	sometimes(2, func(some time.Duration) { config.IdleTimeout = some })
	sometimes(3, func(some time.Duration) { config.Lifetime = some })
	sometimes(2, func(some time.Duration) { config.Check, config.CheckAfter = k.check, some/2 })
	sometimes(3, func(some time.Duration) { config.Heartbeat, config.HeartbeatEvery = k.check, some/2+1 })
	sometimes(4, func(time.Duration) { config.MinIdle = 1 + r.Rand.IntN(capacity) })
	k.keeper = reuse.NewKeeper(config)
	var all team
	all.each(r, users, func(rnd *rand.Rand) {
		for range each {
			k.use(rnd)
		}
	})
	if one(r.Rand, 3) {
		all.each(r, 1, func(rnd *rand.Rand) {
			for range 20 {
				k.keeper.Reset()
				Spin(rnd.IntN(5000))
				runtime.Gosched()
			}
		})
	}
	all.Wait()
	if one(r.Rand, 2) {
		ctx, cancel := deadline(r.Rand, 50)
		defer cancel()
		err := k.keeper.Shutdown(ctx)
		r.Check(err == nil || errors.Is(err, context.DeadlineExceeded), "Keeper.Shutdown has returned %v", err)
	}
	k.keeper.Close()
	k.none()
	s := k.keeper.Stats()
	r.Check(s.Opening+s.Checking+s.Idle+s.Leased+s.Closing+s.Waiting == 0, "a closed keeper still has something: %+v", s)
	r.Check(s.Opened == s.Closed+s.Detached, "of a closed keeper's objects some are neither closed nor detached: %+v", s)
	k.ledger.Audit()
}

type kept struct {
	owners
	keeper *reuse.Keeper[*owned]
	ledger *books.Ledger
	gauge  *books.Gauge
}

func (k *kept) open(context.Context) (*owned, error) {
	switch {
	case k.one(40):
		runtime.Goexit()
	case k.one(5):
		time.Sleep(10 * time.Microsecond)
	}
	return k.owners.open()
}

func (k *kept) check(_ context.Context, v *owned) (err error) {
	k.owners.use(v, func() {
		if k.one(10) {
			err = errNoObject
		}
	})
	return err
}

// use gets an object in one of the ways there are, and gives it up in another.
func (k *kept) use(rnd *rand.Rand) {
	id, work := k.ledger.New(), anyToil(rnd)
	ctx, cancel := someContext(rnd)
	defer cancel()
	with := func(v *owned) { k.ledger.Run(id, k.gauge, func() { k.owners.use(v, work.do) }) }
	if one(rnd, 3) {
		err := k.keeper.Use(ctx, func(v *owned) error {
			with(v)
			if one(rnd, 10) {
				return reuse.Broken(errFailed)
			}
			return nil
		})
		if errors.Is(err, errFailed) {
			err = nil
		}
		k.ledger.Settle(id, err)
		return
	}
	get := k.keeper.TryGet
	if !one(rnd, 4) {
		get = func() (reuse.Lease[*owned], error) { return k.keeper.Get(ctx) }
	}
	lease, err := get()
	if err == nil {
		with(lease.Value())
		switch {
		case one(rnd, 20):
			lease.Discard()
		case one(rnd, 40):
			k.dispose(lease.Value()) // before another may be opened
			lease.Detach()
		default:
			lease.Put()
		}
	}
	k.ledger.Settle(id, err)
}
