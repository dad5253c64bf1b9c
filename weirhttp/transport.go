package weirhttp

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrOverloaded is why [Transport.RoundTrip] did not send a request: too many requests already waited for its
// host, or it had waited for too long.
var ErrOverloaded = errors.New("weirhttp: too many requests to one host")

// Transport is an [http.RoundTripper] that bounds how many requests to any one host are under way at once.
// More requests wait for their turn, in the order of arrival; a task that waits so keeps its place, unless it calls RoundTrip in [weir.Blocking].
//
//	client := &http.Client{Transport: &weirhttp.Transport{PerHost: 8}}
//
// Any number of goroutines may use a Transport at once. Its fields must not change then, and it must not be
// copied. It starts no goroutine, except to watch the context of a request whose body is open.
//
// A request is under way, and holds a slot of its host, until the body of its response is closed, or is read
// to its end or to an error, or until the context of the request ends. If there is no body, it is under way
// until RoundTrip returns. A goroutine that keeps a body open while it waits for another response of the same
// host can wait forever.
type Transport struct {
	// Base sends the requests; nil means [http.DefaultTransport].
	Base http.RoundTripper

	// PerHost is the most requests to one host that are under way at once, at least 1.
	PerHost int

	// Queue is how many requests may wait for one host, for a slot or for Rate. More are refused with
	// [ErrOverloaded]. 0 means no bound, as in the fields of [http.Transport]; below 0, none may wait. In
	// contrast, the option [Queue] of a [Limiter] takes 0 for none.
	Queue int

	// MaxWait is the longest time that a request waits before it is refused with [ErrOverloaded]. 0 means no
	// bound except the context of the request, which always bounds the wait.
	MaxWait time.Duration

	// Rate is how often requests to one host are sent; the zero value sets no bound. A request first waits
	// for its slot, then for its turn. MaxWait bounds both waits together.
	Rate HostRate

	slots slots
	rates rates
	times times
}

// RoundTrip sends the request through Base when it is the request's turn. It blocks while as many requests to
// the host are under way as PerHost allows, or while Rate allows no more, and returns
//
//   - an error that wraps the cause of the request's context, if the context ends while the request waits, or
//     [context.Canceled], if the request's Cancel is closed then; the request has not been sent then;
//   - an error that wraps [ErrOverloaded], if the request would have to wait and as many wait as Queue
//     allows, or if it has waited for MaxWait;
//   - otherwise what Base returns.
//
// RoundTrip does not change the request, and closes its body in any case. The end of one request synchronizes
// before the start of the next that has its slot.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := false
	defer func() {
		if !sent && r.Body != nil {
			_ = r.Body.Close() // the error that RoundTrip returns matters more
		}
	}()
	must(t.PerHost >= 1, "requests per host must be at least 1", t.PerHost)
	must(t.MaxWait >= 0, "longest wait must be at least 0", t.MaxWait)
	t.Rate.mustFit()
	if r.URL == nil {
		response, err := t.base().RoundTrip(r) // Base returns the error for it
		sent = true
		return response, err
	}
	came := time.Now()
	s, err := t.takeSlot(r, hostOf(r.URL), came)
	if err != nil {
		return nil, err
	}
	held := false
	defer func() { // in any case: Base may panic
		if !held {
			s.release()
		}
	}()
	if t.Rate.N > 0 {
		if err := t.takeTurn(r, s, came); err != nil {
			return nil, err
		}
	}
	s.begun = t.times.begins(came)
	response, err := t.base().RoundTrip(r)
	sent = true
	if err == nil && response != nil && hasBody(r, response) {
		response.Body = hold(r.Context(), response.Body, s)
		held = true
	}
	return response, err
}

// hasBody reports whether a response to r has a body. Base may wrap the Body of a response without one, and
// with HTTP/2 net/http gives it a private type, so hasBody looks at the method and the status. From HTTP/2 on it
// also looks at the length; before, a Base that the program has written may leave it 0. A body that can be
// written to belongs to an upgraded connection.
func hasBody(r *http.Request, response *http.Response) bool {
	if response.Body == nil || response.Body == http.NoBody {
		return false
	}
	if _, upgraded := response.Body.(io.Writer); upgraded {
		return true
	}
	switch response.StatusCode {
	case http.StatusNoContent, http.StatusNotModified:
		return false
	}
	return r.Method != http.MethodHead && (response.ProtoMajor < 2 || response.ContentLength != 0)
}

// CloseIdleConnections makes Base close its idle connections, if Base has that method.
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
