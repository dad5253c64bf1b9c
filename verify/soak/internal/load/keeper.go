package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// keeper leases objects that are slow to open, that fail, expire, or are discarded.
func keeper(r *Round) {
	const users, each = 12, 40
	capacity := pick(r.Rand, 1, 2, 3, 8)
	k := &kept{r: r, ledger: books.NewLedger(r.Book, users*each), gauge: books.NewGauge(r.Book, capacity)}
	k.owners = owners{r: r, limit: capacity}
	k.rnd = r.Fork()
	k.flawless = one(r.Rand, 2)
	config := reuse.KeeperConfig[*owned]{
		Capacity: capacity,
		Open:     k.open,
		Close:    k.dispose,
		OnPanic:  func(*weir.Panic) {},
	}
	if one(r.Rand, 2) {
		config.IdleTimeout = time.Duration(1+r.Rand.IntN(200)) * time.Microsecond
	}
	if one(r.Rand, 3) {
		config.Lifetime = time.Duration(1+r.Rand.IntN(300)) * time.Microsecond
	}
	if one(r.Rand, 2) {
		config.Check = k.check
		config.CheckAfter = time.Duration(r.Rand.IntN(100)) * time.Microsecond
	}
	if one(r.Rand, 3) {
		config.Heartbeat = k.check
		config.HeartbeatEvery = time.Duration(1+r.Rand.IntN(100)) * time.Microsecond
	}
	if one(r.Rand, 4) {
		config.MinIdle = 1 + r.Rand.IntN(capacity)
	}
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
				spin(rnd.IntN(5000))
				runtime.Gosched()
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Rand.IntN(50))*time.Microsecond)
	defer cancel()
	if one(r.Rand, 2) {
		if err := k.keeper.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			r.Breach("Keeper.Shutdown has returned %v", err)
		}
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
	r        *Round
	keeper   *reuse.Keeper[*owned]
	ledger   *books.Ledger // each lease is a task
	gauge    *books.Gauge
	flawless bool

	mu  sync.Mutex
	rnd *rand.Rand
}

func (k *kept) one(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return one(k.rnd, n)
}

var errNoObject = errors.New("no object today")

func (k *kept) open(context.Context) (*owned, error) {
	switch {
	case k.flawless:
	case k.one(20):
		return nil, fmt.Errorf("open: %w", errNoObject)
	case k.one(40):
		runtime.Goexit()
	case k.one(5):
		time.Sleep(10 * time.Microsecond)
	}
	return k.owners.open()
}

func (k *kept) check(_ context.Context, v *owned) (err error) {
	k.owners.use(v, func() {
		if !k.flawless && k.one(10) {
			err = errNoObject
		}
	})
	return err
}

// use gets an object in one of the ways there are, and gives it up in another.
func (k *kept) use(rnd *rand.Rand) {
	id, work := k.ledger.New(), anyToil(rnd)
	rejections := []error{errNoObject, weir.ErrGoexit, context.Canceled, context.DeadlineExceeded, reuse.ErrNoneIdle}
	ctx, cancel := someContext(rnd)
	defer cancel()
	if one(rnd, 3) {
		used := false
		err := k.keeper.Use(ctx, func(v *owned) error {
			used = true
			k.with(id, v, work)
			if one(rnd, 10) {
				return reuse.Broken(errFailed)
			}
			return nil
		})
		if used {
			k.r.Check(err == nil || errors.Is(err, errFailed), "Keeper.Use has returned %v", err)
			err = nil
		}
		k.ledger.Settle(id, err, rejections...)
		return
	}
	get := func() (reuse.Lease[*owned], error) { return k.keeper.Get(ctx) }
	if one(rnd, 4) {
		get = k.keeper.TryGet
	}
	lease, err := get()
	if err == nil {
		k.with(id, lease.Value(), work)
		switch {
		case one(rnd, 20):
			lease.Discard()
		case one(rnd, 40):
			k.detach(lease)
		default:
			lease.Put()
		}
	}
	k.ledger.Settle(id, err, rejections...)
}

// with uses a leased object.
func (k *kept) with(id int, v *owned, work toil) {
	k.ledger.Run(id, k.gauge, func() { k.owners.use(v, work.do) })
}

// detach takes an object out, so that another may be opened at once.
func (k *kept) detach(lease reuse.Lease[*owned]) {
	v := lease.Value()
	k.owners.dispose(v)
	lease.Detach()
}
