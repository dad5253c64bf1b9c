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

// takeTurn waits for the turn of a request that came at that time, and has a slot.
func (t *Transport) takeTurn(ctx context.Context, h host, came time.Time) error {
	if _, taken := t.rates.of(h, t.Rate, nil); taken {
		return nil
	}
	mine := &turn{came: came, ready: make(chan struct{})}
	if err := t.joinRated(h, mine); err != nil {
		return err
	}
	defer t.slots.leaveRated(h, mine)
	w := engine.TokenWaiter{Grant: func(int) { close(mine.ready) }}
	b, taken := t.rates.of(h, t.Rate, &w)
	if taken {
		return nil
	}
	err := mine.wait(ctx, h, t.MaxWait)
	if err != nil && !b.Leave(&w) {
		b.Return(1)
	}
	return err
}
