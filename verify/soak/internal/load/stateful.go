package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// stateful has workers with values that cannot always be opened, and functions that panic.
func stateful(r *Round) {
	const senders, each = 8, 60
	limit := r.limit()
	s := &states{r: r, ledger: books.NewLedger(r.Book, senders*each), gauge: books.NewGauge(r.Book, limit)}
	s.owners = owners{r: r, limit: limit}
	s.rnd = r.Fork()
	s.flawless = one(r.Rand, 2)
	s.pool = weir.NewStateful(limit, s.open, s.run, s.dispose, r.options(
		weir.OnPanic(func(*weir.Panic) {}),
		weir.OnOpenError(func(e *weir.OpenError) { s.ledger.Returned(e.Arg.(statefulErrand).id) }),
	)...)
	var all team
	all.each(r, senders, func(rnd *rand.Rand) {
		for range each {
			s.hand(rnd)
		}
	})
	all.Wait()
	s.pool.Wait()
	s.pool.Close()
	s.none()
	s.ledger.Quiet("Close")
	s.ledger.Audit()
	r.settled(s.pool, nil)
}

type states struct {
	owners
	r        *Round
	pool     *weir.Stateful[*owned, statefulErrand]
	ledger   *books.Ledger
	gauge    *books.Gauge
	flawless bool

	mu  sync.Mutex
	rnd *rand.Rand
}

type statefulErrand struct {
	id   int
	kind int
	work toil
}

func (s *states) open() (*owned, error) {
	s.mu.Lock()
	fail := !s.flawless && one(s.rnd, 10)
	s.mu.Unlock()
	if fail {
		return nil, errNoObject
	}
	return s.owners.open()
}

func (s *states) run(v *owned, e statefulErrand) {
	s.ledger.Run(e.id, s.gauge, func() {
		s.use(v, func() {
			e.work.do()
			switch e.kind {
			case panics:
				s.ledger.Panic(e.id)
			case exits:
				s.ledger.Exit(e.id)
			}
		})
	})
}

func (s *states) hand(rnd *rand.Rand) {
	e := statefulErrand{s.ledger.New(), ends, anyToil(rnd)}
	if one(rnd, 15) {
		e.kind = pick(rnd, panics, exits)
	}
	ctx, cancel := someContext(rnd)
	defer cancel()
	switch rnd.IntN(4) {
	case 0:
		s.ledger.Settle(e.id, s.pool.Invoke(e))
	case 1:
		s.ledger.Settle(e.id, s.pool.TryInvoke(e), weir.ErrFull)
	case 2:
		s.ledger.Settle(e.id, s.pool.InvokeContext(ctx, e), context.Canceled, context.DeadlineExceeded)
	case 3:
		err := s.pool.Call(ctx, e)
		var p *weir.Panic
		switch {
		case errors.As(err, &p):
			s.r.Check(e.kind == panics, "Call of a function that does not panic has returned %v", err)
			err = nil
		case errors.Is(err, weir.ErrGoexit):
			s.r.Check(e.kind == exits, "Call of a function that does not call Goexit has returned %v", err)
			err = nil
		case err == nil:
			s.r.Check(e.kind == ends, "Call has returned nil for a function that panics or calls Goexit")
		}
		s.ledger.Settle(e.id, err, context.Canceled, context.DeadlineExceeded, errNoObject)
		if err == nil {
			s.ledger.Ended("Call", e.id)
		}
	}
}
