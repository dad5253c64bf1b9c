package weirhttp

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal is the answer to refused requests. It is made once, and all answers share its slices, which no
// goroutine may write to. The slices have no spare capacity, so that Header.Add copies them.
type refusal struct {
	status     int
	retryAfter []string // nil for none
	text       []byte
	write      func(http.ResponseWriter, *http.Request, Reason) // nil for status and text
}

// Reason is why a [Limiter] refuses a request.
type Reason int

const (
	QueueFull Reason = iota // as many wait as [Queue] allows; or the pool is full, see [On]
	KeyFull                 // as many wait with the same key as [PerKeyQueue] allows
	Displaced               // a newer or more important request has got its room in the queue
	TooLate                 // it has waited for [MaxWait]; or for the pool for too long, see [On]
	Gone                    // its context was done while it waited
	Closed                  // Drain was called, or the pool is closed
)

var reasons = [...]string{"queue full", "key full", "displaced", "too late", "gone", "closed"}

// String returns the reason in a word or two.
func (why Reason) String() string {
	if why < 0 || int(why) >= len(reasons) {
		return fmt.Sprintf("Reason(%d)", int(why))
	}
	return reasons[why]
}

// reason returns the Reason for a verdict that refuses a request.
func (v verdict) reason() Reason { return Reason(v - queueFull) }

var (
	plainText = []string{"text/plain; charset=utf-8"}
	noSniff   = []string{"nosniff"}
	closeConn = []string{"close"}
	noStore   = []string{"no-store"}
)

func newRefusal(status int, retryAfter time.Duration) refusal {
	text := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	f := refusal{status: status, text: []byte(text + "\n")}
	if retryAfter > 0 {
		seconds := (retryAfter-1)/time.Second + 1 // a date would need synchronized clocks
		f.retryAfter = []string{strconv.FormatInt(int64(seconds), 10)}
	}
	return f
}

// firstFlight is how much a client sends on a new TCP connection before it hears from the server: ten
// segments by RFC 6928. A body of at most this length has mostly arrived.
const firstFlight = 14 << 10

// answer answers a refused request. It also answers a request that is gone: the context may have had a
// deadline while the client is still there, and the client would take silence for status 200.
func (f *refusal) answer(w http.ResponseWriter, r *http.Request, why Reason) {
	h := w.Header()
	// A handler outside may have set these for the answer that the refusal replaces. Content-Encoding stays, as in
	// http.Error: the ResponseWriter may be one that encodes what is written (go.dev/issue/66343).
	for _, name := range [...]string{"Content-Length", "Etag", "Last-Modified"} {
		delete(h, name)
	}
	h["Cache-Control"] = noStore
	if f.retryAfter != nil {
		h["Retry-After"] = f.retryAfter
	}
	if why == Closed || unread(r) {
		h["Connection"] = closeConn // on HTTP/2 the server then sends GOAWAY
	}
	if f.write != nil {
		f.write(w, r, why)
		return
	}
	h["Content-Type"] = plainText
	h["X-Content-Type-Options"] = noSniff
	w.WriteHeader(f.status)
	_, _ = w.Write(f.text) // no client is left that could learn of an error
}

// unread reports whether so much of the body may still come that net/http should close the connection instead
// of reading it. HTTP/2 can stop a single request.
//
// EnableFullDuplex, which makes net/http answer first and then read, does not help: as of Go 1.26 the next
// request on the connection makes net/http panic with "invalid concurrent Body.Read call".
func unread(r *http.Request) bool {
	return r.ProtoMajor == 1 && (r.ContentLength > firstFlight || r.ContentLength < 0)
}
