package weirhttp

import (
	"net/http"
	"sync"
	"time"

	"github.com/64ed045f/weir/internal/engine"
	"github.com/64ed045f/weir/internal/fifo"
	"github.com/64ed045f/weir/internal/keys"
)

// HostRate is how often requests to one host are sent: N in each Per, evenly, and up to Burst at once after a
// rest. A Per of 0 means one second, a Burst of 0 means 1, and an N of 0 means no bound. See [weir.Rate].
type HostRate struct {
	N     int
	Per   time.Duration
	Burst int
}

// filled returns r with its zeros replaced by the defaults.
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

// rates holds the turns of the requests to all hosts.
type rates struct {
	mu    sync.Mutex
	hosts keys.Map[host, *hostTurns] // each host whose bucket is not full, and some whose bucket is
	order fifo.List[hostTurns]       // in the order in which forget looks at them
}

// hostTurns holds the turns of one host.
type hostTurns struct {
	*engine.Bucket
	host host
	link fifo.Link[hostTurns]
}

// fewHosts is how many hosts are remembered in any case.
const fewHosts = 16

// of returns the bucket of a host, and takes a turn from it if there is one. If there is none and w is not
// nil, of makes w wait for a turn; the host is not forgotten while w waits.
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

// forget looks at a few hosts, and drops those that have rested: a new bucket would be the same. Each call
// looks at more hosts than its caller may add, so all hosts that have rested are dropped while requests come.
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

// takeTurn waits for the turn of a request that arrived at came and has slot s.
func (t *Transport) takeTurn(r *http.Request, s *slot, came time.Time) error {
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
	got := false
	defer func() { // in any case, as in takeSlot
		if !got && !b.Leave(w) {
			b.Return(1)
		}
	}()
	err = mine.wait(r, s.host, t.MaxWait)
	got = err == nil
	return err
}

// joinRated makes a request wait for its turn. It returns a nil b if the request gets its turn at once, or is
// refused. A request that has waited for its slot was counted at that time, and is not refused because of
// later ones.
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
	l := t.slots.hosts.Get(h) // not nil as long as a request has a slot
	l.rated.Remove(&mine.link)
	l.waiting--
}
