package hostile_test

import (
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// limit and queue are those of each Limiter, places the limit of each pool.
const (
	limit  = 3
	queue  = 2
	places = 2
)

// forever is a MaxWait that does not end a wait.
const forever = time.Duration(1 << 62)

// setting is a way to put weirhttp before a handler.
type setting struct {
	name string
	opts []weirhttp.Option // of Limit
	pool bool              // there is a pool
	do   bool              // Do has the handler run on it; else the Limiter has a place there
	bare bool              // there is no Limiter before Do
}

var settings = []setting{
	{name: "limit"},
	{name: "keys", opts: []weirhttp.Option{
		weirhttp.PerKey(2, keyOf),
		weirhttp.PerKeyQueue(1),
		weirhttp.Priority(priority),
	}},
	{name: "newest first", opts: []weirhttp.Option{weirhttp.NewestFirst(), weirhttp.Priority(priority)}},
	{name: "on a pool", pool: true, opts: []weirhttp.Option{
		weirhttp.PerKey(2, keyOf),
	}},
	{name: "do", pool: true, do: true, bare: true},
	{name: "limit before do", pool: true, do: true},
}

func keyOf(r *http.Request) string { return r.Header.Get("Key") }

func priority(r *http.Request) int {
	n, _ := strconv.Atoi(r.Header.Get("Priority"))
	return n
}

// isExempt is the Exempt of the Limiter, if its handler runs at once.
func (s *site) isExempt(r *http.Request) bool { return !s.do && r.URL.Path == "/health" }

// site is a server with a limit, which keeps books of its own.
type site struct {
	testing.TB
	setting
	listener net.Listener
	limiter  *weirhttp.Limiter // nil if bare
	pool     *weir.Pool        // nil without one
	front    http.Handler      // what is attacked
	server   *http.Server
	served   chan error
	log      check.Buffer

	running check.Gauge   // in the handler
	inside  check.Gauge   // in that of /gate and /probe
	gate    chan struct{} // lets out those in /gate
	once    sync.Once     // opens it
	probed  atomic.Pointer[chan struct{}]

	connections   atomic.Int64 // that the server has
	arrived, left atomic.Int64 // requests at the front
	exempted      atomic.Int64
	refused       atomic.Int64
	drained       atomic.Bool
	mu            sync.Mutex
	excess        string // a count that was too high
}

// newSite runs a server on the listener. Its end must be called.
func newSite(tb testing.TB, set setting, listener net.Listener, configure ...func(*http.Server)) *site {
	s := &site{TB: tb, setting: set, listener: listener, served: make(chan error, 1), gate: make(chan struct{})}
	var handler http.Handler = s
	if set.pool {
		opts := []weir.Option{weir.Queue(1)}
		if set.bare {
			opts = append(opts, weir.MaxWaiting(1))
		}
		s.pool = weir.New(places, opts...)
	}
	if set.do {
		handler = weirhttp.Do(s.pool, handler)
	}
	if !set.bare {
		all := []weirhttp.Option{
			weirhttp.Queue(queue), weirhttp.MaxWait(forever), weirhttp.Exempt(s.isExempt), weirhttp.Refusal(s.refuse),
		}
		if set.pool && !set.do {
			all = append(all, weirhttp.On(s.pool))
		}
		s.limiter = weirhttp.Limit(handler, limit, append(all, set.opts...)...)
		handler = s.limiter
	}
	s.front = handler
	s.server = &http.Server{
		Handler:  http.HandlerFunc(s.receive),
		ErrorLog: log.New(&s.log, "", 0),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.connections.Add(1)
			case http.StateClosed, http.StateHijacked:
				s.connections.Add(-1)
			default:
			}
		},
	}
	for _, f := range configure {
		f(s.server)
	}
	go func() { s.served <- s.server.Serve(listener) }()
	return s
}

// receive is what the server calls.
func (s *site) receive(w http.ResponseWriter, r *http.Request) {
	s.arrived.Add(1)
	defer s.left.Add(1) // also if the handler does not return
	if s.isExempt(r) {
		s.exempted.Add(1)
	}
	if s.do { // Do has no books, and may refuse what the Limiter has let in
		w = &witness{ResponseWriter: w, refused: &s.refused}
	}
	s.front.ServeHTTP(w, r)
}

// witness counts the refusals that are written.
type witness struct {
	http.ResponseWriter
	refused *atomic.Int64
}

// Unwrap lets a ResponseController find what it looks for.
func (w *witness) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *witness) WriteHeader(status int) {
	if status == http.StatusServiceUnavailable {
		w.refused.Add(1)
	}
	w.ResponseWriter.WriteHeader(status)
}

// refuse is the Refusal of the Limiter.
func (s *site) refuse(w http.ResponseWriter, _ *http.Request, why weirhttp.Reason) {
	s.look()
	if !s.do {
		s.refused.Add(1)
	}
	w.Header().Set("Why", why.String())
	w.WriteHeader(http.StatusServiceUnavailable)
}

// look notes if more run or wait than may.
func (s *site) look() {
	excess := ""
	if n := s.running.Now.Load(); n > s.most() {
		excess = fmt.Sprintf("%d handlers run", n)
	}
	if s.limiter != nil {
		got := s.limiter.Stats()
		// With a pool some wait that have a slot.
		if got.Running > limit || got.Running+got.Waiting > limit+queue || !s.pooled() && got.Waiting > queue {
			excess = fmt.Sprintf("%+v", got)
		}
	}
	if excess != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.excess = excess
	}
}

// most is how many handlers may run at once.
func (s *site) most() int64 {
	if s.pool != nil {
		return places
	}
	return limit
}

// pooled reports whether the Limiter has places in a pool.
func (s *site) pooled() bool { return s.pool != nil && !s.do }

// open lets all out that are in /gate, now and from now on.
func (s *site) open() { s.once.Do(func() { close(s.gate) }) }

// end stops the server, and checks the books.
func (s *site) end() {
	s.Helper()
	s.open()
	if err := s.server.Close(); err != nil && !strings.Contains(err.Error(), "use of closed") {
		s.Error(err)
	}
	within(func() { // the server stops
		if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
			s.Error(err)
		}
	})
	s.rest()
	if s.pool != nil {
		within(s.pool.Close) // the pool closes
	}
	s.balance()
}

// rest waits until nothing goes on.
func (s *site) rest() {
	until(func() bool { // all connections are closed and all requests have left
		return s.connections.Load() == 0 && s.left.Load() == s.arrived.Load()
	})
}

// balance checks the books of a site at rest.
func (s *site) balance() {
	s.Helper()
	check.Equal(s, "handlers that run", s.running.Now.Load(), 0)
	atMost(s, "handlers at once", s.running.Peak.Load(), s.most())
	s.mu.Lock()
	check.Equal(s, "too many", s.excess, "")
	s.mu.Unlock()
	ran := s.running.Entered.Load()
	check.Equal(s, "arrived = ran + refused + exempt", s.arrived.Load(), ran+s.refused.Load()+s.exempted.Load())
	if s.limiter != nil {
		got := s.limiter.Stats()
		check.Equal(s, "running", got.Running, 0)
		check.Equal(s, "waiting", got.Waiting, 0)
		check.Equal(s, "keys", got.Keys, 0)
		refused := got.QueueFull + got.KeyFull + got.Displaced + got.TooLate + got.Gone + got.Closed
		check.Equal(s, "arrived = served + refused + exempt", s.arrived.Load(), int64(got.Served+refused)+s.exempted.Load())
		if !s.do {
			check.Equal(s, "served", int64(got.Served), ran)
		}
	}
	if s.pool != nil {
		got := s.pool.Stats()
		check.Equal(s, "pool: running, queued and waiting", got.Running+got.Queued+got.Waiting, 0)
		check.Equal(s, "pool: accepted", got.Accepted, got.Finished+got.HandedBack)
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "panic serving") && !strings.Contains(line, errPlanned.Error()) || strings.Contains(line, "superfluous") {
			s.Errorf("the server has logged: %s", line)
		}
	}
}
