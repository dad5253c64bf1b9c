package mem

import (
	"context"
	"strconv"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// part is a partition.
type part struct {
	list
	term   string // the term of the partition value that has it; "" if none has
	until  time.Time
	terms  int
	number uint64 // how many deliveries there were
	last   uint64
	pulls  int // how many pulls wait
}

// partOf returns the partition of a key. The mutex is held.
func (q *Queue) partOf(key string) *part {
	if q.parts == nil {
		q.parts = make([]*part, q.settings.Partitions)
		for i := range q.parts {
			q.parts[i] = new(part)
		}
	}
	return q.parts[backend.PartitionOf(key, len(q.parts))]
}

// Partitions implements [backend.Queue].
func (q *Queue) Partitions(context.Context) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.parts), nil
}

// partition implements [backend.Partition].
type partition struct {
	receiver
	of   *part
	term string // the term of the last delivery; guarded by the mutex of the queue
}

// Partition implements [backend.Queue].
func (q *Queue) Partition(i int) (backend.Partition, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := &partition{of: q.parts[i], receiver: receiver{q: q}}
	p.open, p.end = context.WithCancel(context.Background())
	return p, nil
}

// pending returns how many messages were delivered and are not done. The mutex is held.
func (p *part) pending(q *Queue) (n int) {
	for _, i := range q.messages {
		if i.in == &p.list && i.count > 0 {
			n++
		}
	}
	return n
}

// expire ends a term that is over. The mutex is held.
func (p *part) expire(now time.Time) {
	if p.term != "" && !now.Before(p.until) {
		p.term = ""
	}
}

func (p *partition) Pull(ctx context.Context, n int, wait time.Duration, take func(backend.Delivery, backend.Turn) bool) error {
	q, of := p.q, p.of
	sent := time.Now()
	end := sent.Add(wait)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.fails("pull"); err != nil {
		return err
	}
	asked := p.term
	if of.expire(time.Now()); asked != "" && of.term == asked {
		of.until = time.Now().Add(q.settings.TermTime())
	}
	of.pulls++
	defer func() { of.pulls-- }()
	for taken := false; ; {
		now := time.Now()
		of.expire(now)
		if asked != "" && of.term != asked {
			p.term = ""
			return backend.ErrMoved
		}
		next := q.promote(now)
		for n > 0 && p.mayTake() && ctx.Err() == nil && p.open.Err() == nil {
			if of.term == "" {
				of.terms++
				of.term, of.until = strconv.Itoa(of.terms), now.Add(q.settings.TermTime())
			}
			asked, p.term = of.term, of.term
			n, taken = n-1, true
			of.number++
			of.last = max(of.last, of.ready[0].number)
			turn := backend.Turn{Term: of.term, Number: of.number}
			q.deliver(&of.list, sent, now, func(d backend.Delivery) bool { return take(d, turn) })
		}
		changed, left := q.changed, end.Sub(now)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case p.open.Err() != nil:
			return context.Cause(p.open)
		case n == 0 || left <= 0:
			return nil
		case wait == 0 && taken:
			return nil
		}
		if !next.IsZero() {
			left = min(left, next.Sub(now))
		}
		if of.term != "" {
			left = min(left, of.until.Sub(now))
		}
		q.mu.Unlock()
		p.await(ctx, changed, left)
		q.mu.Lock()
	}
}

// mayTake reports whether a message is ready for p. The mutex is held.
func (p *partition) mayTake() bool {
	of := p.of
	if len(of.ready) == 0 || of.term != "" && of.term != p.term {
		return false
	}
	return of.ready[0].count > 0 || of.pending(p.q) < backend.MostHeld
}

func (p *partition) State(context.Context) (backend.State, error) {
	q, of := p.q, p.of
	q.mu.Lock()
	defer q.mu.Unlock()
	of.expire(time.Now())
	return backend.State{
		Turn: backend.Turn{Term: of.term, Number: of.number}, Last: of.last, Pending: of.pending(q), Wanted: of.pulls > 0,
	}, q.fails("state")
}

func (p *partition) List(_ context.Context, last uint64) (map[uint64]string, error) {
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	all := make(map[uint64]string)
	for _, i := range p.q.messages {
		if i.in == &p.of.list && i.number <= last {
			all[i.number] = i.Key
		}
	}
	return all, p.q.fails("list")
}

func (p *partition) Release(context.Context) error {
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	p.of.term, p.term = "", ""
	p.q.notify()
	return nil
}
