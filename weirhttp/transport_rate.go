package weirhttp

import (
	"context"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/keys"
)

// HostRate is how often requests to one host are sent: N in each Per, evenly, and up to Burst at once after a rest. Per of 0 stands for a second, Burst of 0 for 1,
// and N of 0 for no bound. See [weir.Rate].
type HostRate struct {
	N     int
	Per   time.Duration
	Burst int
}

// filled returns r with what zeros stand for.
func (r HostRate) filled() HostRate {
	if r.Per == 0 {
		r.Per = time.Second
	}
	if r.Burst == 0 {
		r.Burst = 1
	}
	return r
}

func (r HostRate) mustFit() {
	if f := r.filled(); r.N != 0 {
		must(engine.FitsBucket(f.N, f.Per, f.Burst), "rate must have N, Per and Burst of at least 0, and Per × Burst / N less than a year", r)
	}
}

// rates are the turns of the requests to all hosts.
type rates struct {
	mu    sync.Mutex
	hosts keys.Map[host, *hostTurns] // of each host whose bucket is not full, and of some whose is
	order fifo.List[hostTurns]       // those that forget is to look at first come first
}

// hostTurns are those of one host.
type hostTurns struct {
	*engine.Bucket
	host host
	link fifo.Link[hostTurns]
}

// fewHosts are remembered in any case.
const fewHosts = 16

// of returns the turns of a host, and takes one, or makes w wait for one, if that is not nil: then the host is not forgotten.
func (r *rates) of(h host, rate HostRate, w *engine.TokenWaiter) (b *engine.Bucket, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	t := r.hosts.Get(h)
	if t == nil {
		rate = rate.filled()
		t = &hostTurns{Bucket: engine.NewBucket(rate.N, rate.Per, rate.Burst), host: h}
		r.hosts.Set(h, t)
		r.order.Append(&t.link, t)
	}
	return t.Bucket, t.Take() || w != nil && t.Join(w)
}

// forget looks at a few hosts, and forgets those that rest: their turns are as new. Each call looks at more hosts than it may add, so that all that
// rest are forgotten while requests come.
func (r *rates) forget() {
	for range 4 {
		if r.hosts.Len() <= fewHosts {
			return
		}
		t := r.order.First().Of()
		r.order.Remove(&t.link)
		if t.Full() {
			r.hosts.Delete(t.host)
		} else {
			r.order.Append(&t.link, t)
		}
	}
}

// takeTurn waits for the turn of a request that came at that time, and has slot s.
func (t *Transport) takeTurn(ctx context.Context, s *slot, came time.Time) error {
	if _, taken := t.rates.of(s.host, t.Rate, nil); taken {
		return nil
	}
	mine := &turn{came: came, ready: make(chan struct{})}
	w := &engine.TokenWaiter{Grant: func(int) { close(mine.ready) }}
	b, err := t.joinRated(s, mine, w)
	if b == nil {
		return err
	}
	defer t.leaveRated(s.host, mine)
	if err = mine.wait(ctx, s.host, t.MaxWait); err != nil && !b.Leave(w) {
		b.Return(1)
	}
	return err
}

// joinRated has a request wait for its turn, unless it gets that, or is refused: then b is nil. A request that has waited for its slot was counted
// then, and is not refused because of those that have come since.
func (t *Transport) joinRated(s *slot, mine *turn, w *engine.TokenWaiter) (b *engine.Bucket, err error) {
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	l := t.slots.hosts.Get(s.host)
	if !s.waited {
		if err := t.crowded(s.host, l); err != nil {
			return nil, err
		}
	}
	b, taken := t.rates.of(s.host, t.Rate, w)
	if taken {
		return nil, nil
	}
	l.rated.Append(&mine.link, mine)
	l.waiting++
	return b, nil
}

func (t *Transport) leaveRated(h host, mine *turn) {
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	l := t.slots.hosts.Get(h) // which is there as long as a request has a slot
	l.rated.Remove(&mine.link)
	l.waiting--
}
