package weirhttp

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrOverloaded is why [Transport.RoundTrip] did not send a request: too many already wait for its
// host, or it has waited for too long.
var ErrOverloaded = errors.New("weirhttp: too many requests to one host")

// Transport is an [http.RoundTripper] that has a bounded number of requests to any one host under
// way at once; more of them wait for their turn, in the order in which they came. Any number of
// goroutines may use it at once; its fields must not change then, nor may it be copied. It starts
// no goroutine, and remembers a host only while requests to it wait or are under way, or, with Rate, until it has rested: each request that
// comes later makes it forget some of those.
//
//	client := &http.Client{Transport: &weirhttp.Transport{PerHost: 8}}
//
// A request is under way, and holds a slot of its host, until the body of its response is closed,
// or has been read to its end or to an error; if there is no body, until RoundTrip returns. A
// goroutine that keeps a body open while it waits for another response of the same host can wait
// forever.
type Transport struct {
	// Base sends the requests; nil stands for [http.DefaultTransport].
	Base http.RoundTripper

	// PerHost is the most requests to one host that are under way at once, at least 1.
	PerHost int

	// Queue is how many requests may wait for one host, for a slot or for Rate; one more is refused with
	// [ErrOverloaded]. 0 means no bound, as in the fields of [http.Transport]; below 0 none may
	// wait. The option [Queue] of a [Limiter] takes 0 for none.
	Queue int

	// MaxWait is the longest that a request waits; then it is refused with [ErrOverloaded]. 0
	// means no bound except the context of the request, which always bounds the wait.
	MaxWait time.Duration

	// Rate is how often requests to one host are sent; the zero value sets no bound. A request waits for its turn when it
	// has its slot. MaxWait bounds both waits together.
	Rate HostRate

	slots slots
	rates rates
	times times
}

// RoundTrip has the base send the request when it is its turn. It blocks while as many requests
// to the host are under way as PerHost allows, or have been sent as Rate allows, and returns
//
//   - an error that says so and is the cause of the request's context, if that ends while the
//     request waits; it has not been sent then;
//   - an error that is [ErrOverloaded], if it would have to wait and as many wait as
//     Queue allows, or if it has waited for MaxWait;
//   - else what the base returns.
//
// The request is not changed, and its body is closed in any case. The end of one request
// synchronizes before the start of the next that has its slot.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := false
	defer func() {
		if !sent && r.Body != nil {
			_ = r.Body.Close() // what has gone wrong is what matters
		}
	}()
	must(t.PerHost >= 1, "requests per host must be at least 1", t.PerHost)
	must(t.MaxWait >= 0, "longest wait must be at least 0", t.MaxWait)
	t.Rate.mustFit()
	if r.URL == nil {
		response, err := t.base().RoundTrip(r) // the base knows what to say
		sent = true
		return response, err
	}
	came := time.Now()
	s, err := t.takeSlot(r.Context(), hostOf(r.URL), came)
	if err != nil {
		return nil, err
	}
	held := false
	defer func() { // in any case: the base may panic
		if !held {
			s.release()
		}
	}()
	if t.Rate.N > 0 {
		if err := t.takeTurn(r.Context(), s, came); err != nil {
			return nil, err
		}
	}
	s.begun = t.times.begins(came)
	response, err := t.base().RoundTrip(r)
	sent = true
	if err == nil && response != nil && hasBody(r, response) {
		response.Body = hold(response.Body, s)
		held = true
	}
	return response, err
}

// hasBody reports whether a response to r has a body. Where net/http speaks HTTP/2, one without has a value of a type of its own. A body that can be
// written to is that of an upgraded connection.
func hasBody(r *http.Request, response *http.Response) bool {
	if response.Body == nil || response.Body == http.NoBody {
		return false
	}
	if _, upgraded := response.Body.(io.Writer); upgraded || response.ProtoMajor < 2 {
		return true
	}
	switch response.StatusCode {
	case http.StatusNoContent, http.StatusNotModified:
		return false
	}
	return r.Method != http.MethodHead && response.ContentLength != 0
}

// CloseIdleConnections has the base close its idle connections, if the base can.
// [http.Client.CloseIdleConnections] calls it.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}
