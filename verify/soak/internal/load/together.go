package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// together puts everything on one pool: tasks of all kinds, groups, futures and streams, while the
// limit moves and the pool is paused, until it is closed or shut down under all of them.
func together(r *Round) {
	const actors, each, fan = 12, 15, 6
	limit := r.limit()
	m := &mixture{
		r:      r,
		pool:   weir.New(limit, r.options(weir.OnPanic(func(*weir.Panic) {}))...),
		ledger: books.NewLedger(r.Book, actors*each*(1+fan)),
		gauge:  books.NewGauge(r.Book, limit),
		below:  books.NewGauge(r.Book, limit),
		fan:    fan,
	}
	m.below.Ask(places(m.pool))
	var all, control team
	all.each(r, actors, func(rnd *rand.Rand) {
		for range each {
			pick(rnd, m.plain, m.plain, m.do, m.future, m.group, m.stream)(rnd)
		}
	})
	over := make(chan struct{})
	control.each(r, 1, func(rnd *rand.Rand) {
		for {
			select {
			case <-over:
				return
			default:
			}
			switch rnd.IntN(4) {
			case 0:
				m.pool.Pause()
				spin(rnd.IntN(3000))
				m.pool.Resume()
			case 1:
				limit = change(rnd, m.pool, m.gauge, limit)
			case 2:
				m.pool.Stats()
			}
			for range rnd.IntN(30) {
				runtime.Gosched()
			}
		}
	})
	ending := r.Rand.IntN(3)
	if ending > 0 {
		all.Wait()
	} else {
		spin(r.Rand.IntN(300_000))
	}
	var unrun []func()
	if ending == 2 {
		m.pool.Wait()
		m.pool.Close()
	} else {
		ctx, cancel := deadline(r.Rand)
		defer cancel()
		var err error
		unrun, err = m.pool.Shutdown(ctx)
		r.Check(err == nil || errors.Is(err, context.DeadlineExceeded), "Shutdown has returned %v", err)
	}
	all.Wait()
	close(over)
	control.Wait()
	m.pool.Close()
	m.ledger.Quiet("Close")
	m.ledger.Collect(unrun)
	m.ledger.Audit()
	r.settled(m.pool, nil)
}

type mixture struct {
	r      *Round
	pool   *weir.Pool
	ledger *books.Ledger
	gauge  *books.Gauge // of the tasks that come from outside: they have their places until they end
	below  *books.Gauge // of subtasks
	fan    int
}

// plain submits a task that ends in any way.
func (m *mixture) plain(rnd *rand.Rand) {
	id, work, kind := m.ledger.New(), anyToil(rnd), ends
	if one(rnd, 10) {
		kind = pick(rnd, panics, exits)
	}
	task := func() {
		m.ledger.Run(id, m.gauge, func() {
			work.do()
			switch kind {
			case panics:
				m.ledger.Panic(id)
			case exits:
				m.ledger.Exit(id)
			}
		})
	}
	ctx, cancel := someContext(rnd)
	defer cancel()
	switch rnd.IntN(3) {
	case 0:
		m.ledger.Settle(id, m.pool.Submit(task), weir.ErrClosed)
	case 1:
		m.ledger.Settle(id, m.pool.TrySubmit(task), weir.ErrClosed, weir.ErrFull)
	case 2:
		m.ledger.Settle(id, m.pool.SubmitContext(ctx, task), weir.ErrClosed, context.Canceled, context.DeadlineExceeded)
	}
}

// do runs a task in place.
func (m *mixture) do(rnd *rand.Rand) {
	id, work := m.ledger.New(), anyToil(rnd)
	ctx, cancel := someContext(rnd)
	defer cancel()
	err := m.pool.Do(ctx, func(context.Context) error {
		m.ledger.Run(id, m.gauge, work.do)
		return nil
	})
	m.ledger.Settle(id, err, weir.ErrClosed, context.Canceled, context.DeadlineExceeded)
}

// future makes a future and gets it.
func (m *mixture) future(rnd *rand.Rand) {
	id, work := m.ledger.New(), anyToil(rnd)
	ctx, cancel := someContext(rnd)
	defer cancel()
	_, err := weir.Async(ctx, m.pool, func(context.Context) (int, error) {
		m.ledger.Run(id, m.gauge, work.do)
		return id, nil
	}).Get(context.Background())
	m.ledger.Settle(id, err, weir.ErrClosed, context.Canceled, context.DeadlineExceeded)
}

// group makes a group, one of whose tasks may make another.
func (m *mixture) group(rnd *rand.Rand) {
	g := m.pool.Group(context.Background())
	var ids []int
	for range 1 + rnd.IntN(m.fan/2) {
		id, work, nested := m.ledger.New(), anyToil(rnd), one(rnd, 2)
		inner := m.ledger.New()
		if !nested {
			m.ledger.Reject(inner)
		}
		ids = append(ids, id)
		g.Go(func(ctx context.Context) error {
			m.ledger.Run(id, m.gauge, func() {
				work.do()
				if !nested {
					return
				}
				sub := m.pool.Group(ctx)
				sub.Go(func(context.Context) error { m.ledger.Run(inner, m.below, work.do); return nil })
				m.known(sub.Wait())
			})
			return nil
		})
		m.ledger.Offer(id)
		if nested {
			m.ledger.Offer(inner)
			ids = append(ids, inner)
		}
	}
	m.known(g.Wait())
	m.ledger.Seal("Group.Wait", ids...)
}

// known checks the error of a group on a pool that may be closed.
func (m *mixture) known(err error) {
	m.r.Check(err == nil || errors.Is(err, weir.ErrClosed), "a group reports %v", err)
}

// stream runs a stream.
func (m *mixture) stream(rnd *rand.Rand) {
	ids := make([]int, 1+rnd.IntN(m.fan))
	for i := range ids {
		ids[i] = m.ledger.New()
	}
	_, err := aStream(context.Background(), rnd, m.pool, len(ids), func(i int) {
		m.ledger.Run(ids[i], nil, func() {
			m.gauge.Back() // one task runs several calls
			m.gauge.Leave()
		})
	})
	m.known(err)
	for _, id := range ids {
		m.ledger.Offer(id)
	}
	m.ledger.Seal("a stream", ids...)
}
