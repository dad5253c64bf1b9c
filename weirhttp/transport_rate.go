package weirhttp

import (
	"context"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/engine"
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
	hosts keys.Map[host, *engine.Bucket] // of each host whose bucket is not full, and of some whose is
	kept  int                            // how many hosts were left when the full buckets were last removed
}

// of returns the turns of a host, and takes one, or makes w wait for one: then the host is not forgotten. When there are twice as many hosts as the last
// time it forgets those that rest: theirs are as new.
func (r *rates) of(h host, rate HostRate, w *engine.TokenWaiter) (b *engine.Bucket, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b = r.hosts.Get(h); b != nil {
		return b, b.Take() || b.Join(w)
	}
	if r.hosts.Len() >= 2*r.kept+16 {
		for h, b := range r.hosts.All() {
			if b.Full() {
				r.hosts.Delete(h)
			}
		}
		r.kept = r.hosts.Len()
	}
	rate = rate.filled()
	b = engine.NewBucket(rate.N, rate.Per, rate.Burst)
	r.hosts.Set(h, b)
	return b, b.Take() || b.Join(w)
}

// takeTurn waits for the turn of a request that came at that time, and has a slot.
func (t *Transport) takeTurn(ctx context.Context, h host, came time.Time) error {
	mine := turn{came, make(chan struct{})}
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
