package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestMain(m *testing.M) {
	check.Main(m, map[string]func(){"abort in a crashing pool": abortInACrashingPool}, func() int {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		return 0
	})
}

var errBoom = errors.New("boom")

// sink is a ResponseWriter that keeps almost nothing.
type sink struct {
	header http.Header
	status int
	length int
}

func newSink() *sink { return &sink{header: http.Header{}} }

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	s.length += len(b)
	return len(b), nil
}

// visit is a request to a site.
type visit struct {
	name   string
	cancel context.CancelFunc
	leave  chan struct{} // lets the handler return

	// Under the site's lock.
	answer *sink
	began  bool
	ended  bool
	waited time.Duration // until the answer came
}

type visitKey struct{}

// site is a Limiter in a bubble, whose handler runs until the test ends it.
type site struct {
	t testing.TB
	*weirhttp.Limiter

	gauge check.Gauge
	mu    sync.Mutex
	began []string // in this order
}

func newSite(t testing.TB, n int, opts ...weirhttp.Option) *site {
	s := &site{t: t}
	s.Limiter = weirhttp.Limit(s, n, append([]weirhttp.Option{
		weirhttp.Exempt(func(r *http.Request) bool { return r.URL.Path == "/health" }),
	}, opts...)...)
	return s
}

// ServeHTTP is the handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	if v == nil || r.URL.Path == "/health" {
		w.WriteHeader(http.StatusOK)
		return
	}
	s.gauge.Enter()
	defer s.gauge.Leave()
	s.mu.Lock()
	v.began = true
	s.began = append(s.began, v.name)
	s.mu.Unlock()
	<-v.leave
	w.WriteHeader(http.StatusOK)
}

func priorityHeader(r *http.Request) int {
	n, err := strconv.Atoi(r.Header.Get("Priority"))
	if err != nil {
		return 0
	}
	return n
}

func keyHeader(r *http.Request) string { return r.Header.Get("Key") }

// start sends a request and does not wait. Its name tells its headers: key/name:priority, of
// which key and priority may be missing.
func (s *site) start(name string) *visit {
	v := &visit{name: name, leave: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), visitKey{}, v))
	v.cancel = cancel
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if key, _, found := strings.Cut(name, "/"); found {
		r.Header.Set("Key", key)
	}
	if _, priority, found := strings.Cut(name, ":"); found {
		r.Header.Set("Priority", priority)
	}
	began, sink := time.Now(), newSink()
	go func() {
		defer cancel()
		s.Limiter.ServeHTTP(sink, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		v.ended, v.answer, v.waited = true, sink, time.Since(began)
	}()
	return v
}

// send sends requests one after the other, until all have found their place.
func (s *site) send(names ...string) []*visit {
	var all []*visit
	for _, name := range names {
		all = append(all, s.start(name))
		synctest.Wait()
	}
	return all
}

// end has those return that run, one after the other.
func (s *site) end(all ...*visit) {
	for _, v := range all {
		close(v.leave)
		synctest.Wait()
	}
}

// endAll has all return, as soon as they run.
func (s *site) endAll(all []*visit) {
	s.t.Helper()
	for _, v := range all {
		close(v.leave)
	}
	synctest.Wait()
	for _, v := range all {
		if !s.ended(v) {
			s.t.Errorf("%s has not ended", v.name)
		}
	}
	s.atRest()
}

// ended reports whether v has got its answer.
func (s *site) ended(v *visit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return v.ended
}

// atRest fails the test if anything is left of requests.
func (s *site) atRest() {
	s.t.Helper()
	got := s.Stats()
	check.Equal(s.t, "running", got.Running, 0)
	check.Equal(s.t, "waiting", got.Waiting, 0)
	check.Equal(s.t, "keys", got.Keys, 0)
}

// order fails the test unless the handlers have begun in this order, since it was last asked.
func (s *site) order(want ...string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.began, want) {
		s.t.Errorf("these began: %v, want %v", s.began, want)
	}
	s.began = nil
}

// refused fails the test unless v was answered with 503, after having waited for so long.
func (s *site) refused(v *visit, after time.Duration) {
	s.t.Helper()
	synctest.Wait()
	if !s.ended(v) {
		s.t.Errorf("%s waits or runs, want a refusal", v.name)
		return
	}
	if v.began {
		s.t.Errorf("%s has run, want a refusal", v.name)
		return
	}
	check.Equal(s.t, v.name+": status", v.answer.status, http.StatusServiceUnavailable)
	check.Equal(s.t, v.name+": waited", v.waited, after)
}

func request(t testing.TB, body *untouched, length int64) *http.Request {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = length
	return r
}

// untouched is a body that no code may read.
type untouched struct{ t testing.TB }

// Read fails the test.
func (u *untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errBoom
}

// withBrokenContexts calls test in a bubble with each of some broken contexts: at the first to the sixth call they panic or exit, and they end after a
// second or an hour.
func withBrokenContexts(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	for name, ends := range map[string]func(){"panics": func() { panic(errBoom) }, "exits": runtime.Goexit} {
		for left := 1; left <= 6; left++ {
			for _, lasts := range []time.Duration{time.Second, time.Hour} {
				check.Bubble(t, fmt.Sprint(name, " at ", left, ", ends after ", lasts), func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), lasts)
					defer cancel()
					test(t, &check.BrokenContext{Context: ctx, Left: left, Ends: ends})
				})
			}
		}
	}
}

// apart calls f, which may panic or exit, on a goroutine of its own.
func apart(f func()) {
	var one sync.WaitGroup
	one.Go(func() { check.Caught(f) })
	one.Wait()
}
