package weirhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/64ed045f/weir"
)

// Do returns a handler that has h serve its requests on workers of the pool, as tasks among others,
// so that requests and tasks together keep the pool's limit. For most servers [Limit] with [On] is
// better.
//
// ServeHTTP blocks while the pool is full and while the request is queued, and returns when h has.
// Any number of goroutines may call it at once. It refuses a request, as [Limit] does with the
// status 503 and Retry-After, if the pool is closed, or full beyond [weir.MaxWaiting], or if the
// context of the request is done before a worker has started it. A panic or [runtime.Goexit] of h
// comes out of ServeHTTP; [weir.OnPanic] is not called.
//
// The request that h gets has the context of a task: groups, futures, loops and streams made from
// it may run on the same pool, to any depth. It is done when h has returned. ServeHTTP synchronizes
// before the call of h, and the return of h before that of ServeHTTP.
func Do(pool *weir.Pool, h http.Handler) http.Handler {
	must(pool != nil, "pool must not be nil", "nil")
	must(h != nil, "handler must not be nil", "nil")
	return &pooled{pool, h, newRefusal(http.StatusServiceUnavailable, defaultRetryAfter)}
}

type pooled struct {
	pool    *weir.Pool
	handler http.Handler
	refusal refusal
}

func (p *pooled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A future would cost half of what a group does. But a group that is cancelled makes room
	// in the queue, and its Wait says how the task ended whatever became of the context.
	v := &visit{handler: p.handler, writer: w, request: r}
	group := p.pool.Group(r.Context())
	group.Go(v.run)
	panicked, err := wait(group)
	if v.begun {
		handBack(r, v.request)
	}
	switch {
	case aborts(panicked):
		panic(http.ErrAbortHandler)
	case panicked != nil:
		panic(&handlerPanic{panicked})
	case !v.begun:
		why := QueueFull // Wait says no more than that the pool is not closed
		if errors.Is(err, weir.ErrClosed) {
			why = Closed
		}
		p.refusal.answer(w, r, why)
	case !v.returned:
		panic(http.ErrAbortHandler)
	}
}

// handlerPanic is the panic of a handler, as the log of the server is to show it: net/http prints it by %v.
type handlerPanic struct{ panicked *weir.Panic }

func (p *handlerPanic) Error() string { return fmt.Sprintf("%+v", p.panicked) }
func (p *handlerPanic) Unwrap() error { return p.panicked }

// visit is a request at a worker. The end of its task synchronizes before the goroutine that
// waits for it looks at the result.
type visit struct {
	handler         http.Handler
	writer          http.ResponseWriter
	request         *http.Request
	begun, returned bool
}

func (v *visit) run(ctx context.Context) error {
	v.begun = true
	v.request = v.request.WithContext(ctx)
	v.handler.ServeHTTP(v.writer, v.request)
	v.returned = true
	return nil
}

// wait returns the panic of the group's task, or why it has not run. Its visit knows all else.
func wait(group *weir.Group) (panicked *weir.Panic, err error) {
	defer func() {
		if value := recover(); value != nil {
			panicked = value.(*weir.Panic) // as Wait says
		}
	}()
	return nil, group.Wait()
}

// aborts reports whether the handler panicked with [http.ErrAbortHandler], or a task that
// it waited for did.
func aborts(p *weir.Panic) bool {
	for p != nil {
		if p.Value == http.ErrAbortHandler { //nolint:errorlint // as net/http compares
			return true
		}
		p, _ = p.Value.(*weir.Panic)
	}
	return false
}

// handBack copies to r what h has left in its own copy for others: the server removes the files of
// a form, and a handler outside may report the pattern.
func handBack(r, served *http.Request) {
	if served.MultipartForm != r.MultipartForm {
		r.MultipartForm = served.MultipartForm
	}
	if served.Pattern != r.Pattern {
		r.Pattern = served.Pattern
	}
}
