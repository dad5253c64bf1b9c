package weirhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/64ed045f/weir"
)

// Do returns a handler that serves its requests with h on workers of the pool, as tasks among others. So
// requests and tasks together keep the pool's limit. For most servers [Limit] with [On] is better.
//
// ServeHTTP blocks while the pool is full and while the request is queued, and returns when h has returned.
// Any number of goroutines may call it at once. It refuses a request if the pool is closed, or full beyond
// [weir.MaxWaiting], if the request was queued for longer than [weir.ExpireAfter] allows, or if its context
// is done before a worker has started it. A refusal is that of [Limit], with the status 503 and Retry-After.
// If h panics or calls [runtime.Goexit], ServeHTTP panics: see the package documentation. [weir.OnPanic] is
// not called.
//
// The request that h gets has the context of a task: groups, futures, loops and streams made from it may run
// on the same pool, to any depth. That context is done when h has returned. The call of ServeHTTP
// synchronizes before the call of h, and the return of h synchronizes before the return of ServeHTTP.
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
	// A future would cost half as much as a group. But a cancelled group makes room in the queue, and its
	// Wait says how the task ended, whatever became of the context.
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
		why := QueueFull // Wait does not say whether the pool was full or the context ended
		if errors.Is(err, weir.ErrClosed) {
			why = Closed
		}
		p.refusal.answer(w, r, why)
	case !v.returned:
		panic(http.ErrAbortHandler)
	}
}

// handlerPanic is the panic of a handler in the form that the log of the server shows: net/http prints it by
// %v.
type handlerPanic struct{ panicked *weir.Panic }

func (p *handlerPanic) Error() string { return fmt.Sprintf("%+v", p.panicked) }
func (p *handlerPanic) Unwrap() error { return p.panicked }

// visit is a request on a worker. The end of its task synchronizes before the goroutine that waits for the
// task reads the fields.
type visit struct {
	handler         http.Handler
	writer          http.ResponseWriter
	request         *http.Request
	begun, returned bool
}

func (v *visit) run(ctx context.Context) error {
	v.begun = true
	defer func() {
		// ServeHTTP passes this panic on. It is no fault of the program, which would end here with [weir.CrashOnPanic].
		if value := recover(); value != nil && value != http.ErrAbortHandler { //nolint:errorlint // as net/http compares
			panic(value)
		}
	}()
	v.request = handIn(ctx, v.request)
	v.handler.ServeHTTP(v.writer, v.request)
	v.returned = true
	return nil
}

// wait returns the panic of the group's task, or why the task did not run. The visit has everything else.
func wait(group *weir.Group) (panicked *weir.Panic, err error) {
	defer func() {
		if value := recover(); value != nil {
			panicked = value.(*weir.Panic) // Wait panics with nothing else
		}
	}()
	return nil, group.Wait()
}

// aborts reports whether the handler, or a task that it waited for, panicked with [http.ErrAbortHandler].
func aborts(p *weir.Panic) bool {
	for p != nil {
		if p.Value == http.ErrAbortHandler { //nolint:errorlint // as net/http compares
			return true
		}
		p, _ = p.Value.(*weir.Panic)
	}
	return false
}

// handIn returns the copy of r that h gets, with another context. When h has read the body to its end, net/http
// writes the trailers to r: into r.Trailer, which only then it makes if the client has announced no trailers.
// So handIn makes it, for h to find those trailers in its copy. Only a body of unknown length has trailers.
func handIn(ctx context.Context, r *http.Request) *http.Request {
	if r.Trailer == nil && r.ProtoMajor == 1 && r.ContentLength < 0 {
		r.Trailer = make(http.Header)
	}
	return r.WithContext(ctx)
}

// handBack copies to r what h has set in its own copy of the request for use outside h. The server removes
// the files of a form, and a handler outside may report the pattern.
func handBack(r, served *http.Request) {
	if served.MultipartForm != r.MultipartForm {
		r.MultipartForm = served.MultipartForm
	}
	if served.Pattern != r.Pattern {
		r.Pattern = served.Pattern
	}
}
