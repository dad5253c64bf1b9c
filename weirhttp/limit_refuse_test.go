package weirhttp_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// busy returns a Limiter without a queue whose only slot is taken, and a function that frees it.
func busy(t testing.TB, opts ...weirhttp.Option) (*weirhttp.Limiter, func()) {
	t.Helper()
	entered, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-leave
	}), 1, append([]weirhttp.Option{weirhttp.Queue(0)}, opts...)...)
	go func() {
		defer close(left)
		l.ServeHTTP(newSink(), request(t, &untouched{t}, 1))
	}()
	<-entered
	return l, func() {
		close(leave)
		<-left
	}
}

func TestARefusalSaysWhenToComeAgain(t *testing.T) {
	for _, tc := range []struct {
		name       string
		opts       []weirhttp.Option
		status     int
		retryAfter []string
	}{
		{"default", nil, 503, []string{"1"}},
		{"set", []weirhttp.Option{weirhttp.Status(429), weirhttp.RetryAfter(2 * time.Minute)}, 429, []string{"120"}},
		{"rounded up", []weirhttp.Option{weirhttp.Status(599), weirhttp.RetryAfter(time.Second + 1)}, 599, []string{"2"}},
		{"at least a second", []weirhttp.Option{weirhttp.RetryAfter(1)}, 503, []string{"1"}},
		{"longest", []weirhttp.Option{weirhttp.RetryAfter(1<<63 - 1)}, 503, []string{"9223372037"}},
		{"none", []weirhttp.Option{weirhttp.RetryAfter(0)}, 503, nil},
	} {
		check.Bubble(t, tc.name, func(t *testing.T) {
			l, free := busy(t, tc.opts...)
			w := newSink()
			l.ServeHTTP(w, request(t, &untouched{t}, 1))
			check.Equal(t, "status", w.status, tc.status)
			check.Equal(t, "has a body", w.length > 3, true)
			want := http.Header{
				"Cache-Control": {"no-store"}, "Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"},
			}
			if tc.retryAfter != nil {
				want["Retry-After"] = tc.retryAfter
			}
			if !maps.EqualFunc(w.header, want, func(a, b []string) bool { return len(a) == 1 && a[0] == b[0] }) {
				t.Errorf("header: got %v, want %v", w.header, want)
			}
			// What other code does to the header does not change the next refusal.
			other := newSink()
			l.ServeHTTP(other, request(t, &untouched{t}, 1))
			for i, values := range []*sink{w, other} {
				for name := range want {
					values.header.Add(name, strconv.Itoa(i))
				}
			}
			for name := range want {
				check.Equal(t, name+": second value", w.header[name][1], "0")
				check.Equal(t, name+": second value of the other", other.header[name][1], "1")
			}
			free()
		})
	}
}

func TestARefusalHasNoHeadersOfTheAnswerThatItReplaces(t *testing.T) {
	outside := http.Header{
		"Cache-Control": {"public, max-age=3600"}, "Content-Encoding": {"gzip"}, "Content-Length": {"1000"}, "Etag": {`"1"`},
		"Last-Modified": {"Sat, 28 Nov 2026 11:52:07 GMT"}, "Vary": {"Accept-Encoding"},
	}
	closed := weir.New(1)
	closed.Close()
	full, free := busy(t)
	answers, freeAnswers := busy(t, weirhttp.Refusal(func(w http.ResponseWriter, _ *http.Request, _ weirhttp.Reason) {
		w.Header().Set("Cache-Control", "max-age=1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	for name, test := range map[string]struct {
		h     http.Handler
		cache string
	}{
		"Limit":   {full, "no-store"},
		"Do":      {weirhttp.Do(closed, nothing), "no-store"},
		"Refusal": {answers, "max-age=1"},
	} {
		w := newSink()
		w.header = outside.Clone()
		test.h.ServeHTTP(w, request(t, &untouched{t}, 1))
		check.Equal(t, name+": status", w.status, http.StatusServiceUnavailable)
		check.Equal(t, name+": Cache-Control", w.header.Get("Cache-Control"), test.cache)
		for _, gone := range []string{"Content-Length", "ETag", "Last-Modified"} {
			check.Equal(t, name+": "+gone, len(w.header.Values(gone)), 0)
		}
		for _, kept := range []string{"Content-Encoding", "Vary"} { // the writer may encode what is written
			check.Equal(t, name+": "+kept, w.header.Get(kept), outside.Get(kept))
		}
	}
	free()
	freeAnswers()
}

func TestARefusalClosesTheConnectionOnlyForABodyThatIsLongOrUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, free := busy(t)
		for _, tc := range []struct {
			length int64
			major  int
			want   string
		}{
			{0, 1, ""},
			{1, 1, ""},
			{14 << 10, 1, ""},
			{14<<10 + 1, 1, "close"},
			{1 << 40, 1, "close"},
			{-1, 1, "close"},
			{1 << 40, 2, ""},
			{-1, 2, ""},
		} {
			r := request(t, &untouched{t}, tc.length)
			r.ProtoMajor = tc.major
			w := newSink()
			l.ServeHTTP(w, r)
			check.Equal(t, "Connection", w.header.Get("Connection"), tc.want)
		}
		free()
	})
}

func TestPanicsPassThroughUntouchedAndFreeTheSlot(t *testing.T) {
	abort := http.ErrAbortHandler
	for _, value := range []any{errBoom, abort, "text"} {
		l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(value) }), 1, weirhttp.Queue(0))
		for range 3 {
			check.Equal(t, "panic", check.Caught(func() { l.ServeHTTP(newSink(), request(t, nil, 0)) }), value)
		}
		check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1, Served: 3})
	}
}

func TestGoexitFreesTheSlot(t *testing.T) {
	l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { runtime.Goexit() }), 1, weirhttp.Queue(0))
	for range 3 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.ServeHTTP(newSink(), request(t, nil, 0))
			t.Error("Goexit was stopped")
		}()
		<-done
	}
	check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1, Served: 3})
}

// A panic of a function that an option sets passes through, and leaves no slot or room taken.
func TestAPanicOfAnOptionsFunctionTakesNoSlot(t *testing.T) {
	for name, opt := range map[string]weirhttp.Option{
		"Priority": weirhttp.Priority(func(*http.Request) int { explode(); return 0 }),
		"PerKey":   weirhttp.PerKey(1, func(*http.Request) string { explode(); return "" }),
		"Exempt":   weirhttp.Exempt(func(*http.Request) bool { explode(); return false }),
	} {
		l := weirhttp.Limit(http.NotFoundHandler(), 1, opt)
		got, _ := check.Caught(func() { l.ServeHTTP(newSink(), request(t, nil, 0)) }).(error)
		if !errors.Is(got, errBoom) {
			t.Errorf("%s: panicked with %v", name, got)
		}
		check.Equal(t, "stats", l.Stats(), weirhttp.Stats{Limit: 1})
	}
}

func TestRefusalGetsTheReasonAndReplacesTheUsualAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why []weirhttp.Reason
		var mu sync.Mutex
		s := newSite(t, 1, weirhttp.Queue(4), weirhttp.PerKey(1, keyHeader), weirhttp.Priority(priorityHeader),
			weirhttp.MaxWait(time.Minute), weirhttp.Status(http.StatusTeapot),
			weirhttp.Refusal(func(w http.ResponseWriter, _ *http.Request, reason weirhttp.Reason) {
				w.WriteHeader(http.StatusTooManyRequests)
				mu.Lock()
				defer mu.Unlock()
				why = append(why, reason)
			}))
		runs := s.send("1/runs")
		all := s.send("2/late", "2/late", "2/key full", "3/gone", "4/displaced", "5/queue full", "6/late:1")
		all[3].cancel()
		time.Sleep(time.Minute)
		synctest.Wait()
		s.Drain()
		all = append(all, s.send("7/closed")...)
		check.Equal(t, "why", fmt.Sprint(why), "[key full queue full displaced gone too late too late too late closed]")
		for _, v := range all {
			check.Equal(t, v.name+": status", v.answer.status, http.StatusTooManyRequests)
			check.Equal(t, v.name+": Retry-After", v.answer.header.Get("Retry-After"), "1")
		}
		s.endAll(runs)
		check.Equal(t, "unknown", weirhttp.Reason(9).String(), "Reason(9)")
	})
}
