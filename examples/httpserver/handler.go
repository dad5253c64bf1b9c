package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/64ed045f/weir/weirhttp"
)

// limited runs handler for at most limit requests at once. Up to queue more requests wait, each for at most
// wait. It refuses all others at once, with 503 and Retry-After. A request for the server's health gets an
// answer even when the server is overloaded.
func limited(handler http.Handler, limit, queue int, wait time.Duration) http.Handler {
	return weirhttp.Limit(handler, limit,
		weirhttp.Queue(queue),
		weirhttp.MaxWait(wait),
		weirhttp.Exempt(func(r *http.Request) bool { return r.URL.Path == "/healthz" }),
	)
}

// newHandler returns the server's handler; work stands for the slow part of a request.
func newHandler(work func(context.Context) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, []byte("ok\n")) })
	mux.HandleFunc("POST /reverse", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			status := http.StatusBadRequest
			if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
				status = http.StatusRequestEntityTooLarge
			}
			http.Error(w, err.Error(), status)
			return
		}
		if err := work(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		slices.Reverse(body)
		reply(w, body)
	})
	return mux
}

func reply(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(body) // an error means that the client has gone
}

// backendPlaces is how many requests a backend serves at once.
const backendPlaces = 8

// backend stands for a resource of a real server, such as a database. It serves a fixed number of requests at
// once, and gets no faster when more requests wait for it.
type backend struct {
	places  chan struct{}
	service time.Duration
}

func newBackend(service time.Duration) *backend {
	return &backend{make(chan struct{}, backendPlaces), service}
}

// work waits for a place, and takes the service time there. It fails when ctx is done.
func (b *backend) work(ctx context.Context) error {
	select {
	case b.places <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-b.places }()
	select {
	case <-time.After(b.service):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
