package weirhttp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirhttp"
)

// ask sends a request to a handler, and returns its answer.
func ask(h http.Handler, path string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Result()
}

// slow is a handler that tells when it is called, and returns when it may.
type slow struct{ called, done chan struct{} }

func newSlow() *slow { return &slow{make(chan struct{}), make(chan struct{})} }

func (s *slow) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.called <- struct{}{}
	<-s.done
	w.WriteHeader(http.StatusOK)
}

func ExampleLimit() {
	handler := newSlow()
	limited := weirhttp.Limit(handler, 1, weirhttp.Queue(0))

	first := make(chan *http.Response)
	go func() { first <- ask(limited, "/first") }()
	<-handler.called // it runs

	second := ask(limited, "/second")
	fmt.Println(second.Status, "- try again after", second.Header.Get("Retry-After"), "s")

	close(handler.done)
	fmt.Println((<-first).Status)
	// Output:
	// 503 Service Unavailable - try again after 1 s
	// 200 OK
}

// The whole server has a limit, and the costly routes have their own, behind it. Without a
// queue there, no request waits that holds a slot of the whole.
func ExampleLimit_routes() {
	report, search := newSlow(), newSlow()
	mux := http.NewServeMux()
	mux.Handle("GET /report/{id}", weirhttp.Limit(report, 1, weirhttp.Queue(0)))
	mux.Handle("GET /search", weirhttp.Limit(search, 4, weirhttp.Queue(0)))
	server := weirhttp.Limit(mux, 100)

	answers := make(chan string)
	go func() { answers <- ask(server, "/report/1").Status }()
	<-report.called
	go func() { answers <- ask(server, "/search").Status }()
	<-search.called

	fmt.Println(ask(server, "/report/2").Status)

	close(report.done)
	close(search.done)
	fmt.Println(<-answers, <-answers)
	// Output:
	// 503 Service Unavailable
	// 200 OK 200 OK
}

func ExampleLimiter_ServeHTTP() {
	limited := weirhttp.Limit(http.NotFoundHandler(), 10)

	fmt.Println(ask(limited, "/").Status)
	// Output: 404 Not Found
}

func ExampleLimiter_Resize() {
	handler := newSlow()
	limited := weirhttp.Limit(handler, 1)
	both := make(chan string)
	for range 2 {
		go func() { both <- ask(limited, "/").Status }()
	}
	<-handler.called

	limited.Resize(2)
	<-handler.called // the other runs, too

	close(handler.done)
	fmt.Println(<-both, <-both)
	// Output: 200 OK 200 OK
}

func ExampleLimiter_Stats() {
	handler := newSlow()
	limited := weirhttp.Limit(handler, 1, weirhttp.Queue(0))
	first := make(chan string)
	go func() { first <- ask(limited, "/").Status }()
	<-handler.called
	ask(limited, "/")

	stats := limited.Stats()
	fmt.Println(stats.Running, "runs,", stats.QueueFull, "was refused")

	close(handler.done)
	fmt.Println(<-first)
	// Output:
	// 1 runs, 1 was refused
	// 200 OK
}

func ExampleLimiter_Drain() {
	limited := weirhttp.Limit(http.NotFoundHandler(), 10)
	server := &http.Server{Handler: limited, ReadTimeout: time.Minute}
	server.RegisterOnShutdown(limited.Drain) // or at once, so that a load balancer takes note:
	limited.Drain()

	answer := ask(limited, "/")
	fmt.Println(answer.Status, "- connection:", answer.Header.Get("Connection"))
	fmt.Println(server.Shutdown(context.Background()))
	// Output:
	// 503 Service Unavailable - connection: close
	// <nil>
}

func ExampleQueue() {
	handler := newSlow()
	limited := weirhttp.Limit(handler, 1, weirhttp.Queue(1))
	answers := make(chan string)
	for range 3 {
		go func() { answers <- ask(limited, "/").Status }()
	}
	<-handler.called

	fmt.Println(<-answers) // one runs, one waits

	close(handler.done)
	<-handler.called
	fmt.Println(<-answers, <-answers)
	// Output:
	// 503 Service Unavailable
	// 200 OK 200 OK
}

func ExampleMaxWait() {
	handler := newSlow()
	limited := weirhttp.Limit(handler, 1, weirhttp.MaxWait(time.Millisecond))
	first := make(chan string)
	go func() { first <- ask(limited, "/").Status }()
	<-handler.called

	fmt.Println(ask(limited, "/").Status, limited.Stats().TooLate)

	close(handler.done)
	fmt.Println(<-first)
	// Output:
	// 503 Service Unavailable 1
	// 200 OK
}

func ExampleNewestFirst() {
	handler := newSlow()
	limited := weirhttp.Limit(handler, 1, weirhttp.Queue(1), weirhttp.NewestFirst(), weirhttp.MaxWait(time.Hour))
	first, oldest, newest := make(chan string), make(chan string), make(chan string)
	go func() { first <- ask(limited, "/").Status }()
	<-handler.called
	go func() { oldest <- ask(limited, "/").Status }()
	for limited.Stats().Waiting == 0 {
		runtime.Gosched()
	}
	go func() { newest <- ask(limited, "/").Status }()

	fmt.Println("oldest:", <-oldest)

	close(handler.done)
	<-handler.called
	fmt.Println("first:", <-first)
	fmt.Println("newest:", <-newest)
	// Output:
	// oldest: 503 Service Unavailable
	// first: 200 OK
	// newest: 200 OK
}

func ExamplePriority() {
	handler := http.NotFoundHandler()
	limited := weirhttp.Limit(handler, 10, weirhttp.Priority(func(r *http.Request) int {
		switch {
		case strings.HasPrefix(r.URL.Path, "/checkout"):
			return 2
		case r.Header.Get("Purpose") == "prefetch":
			return 0
		default:
			return 1
		}
	}))

	fmt.Println(ask(limited, "/checkout").Status)
	// Output: 404 Not Found
}

// No client has more than 2 of the 10 slots, nor more than 5 of the 50 places in the queue.
func ExamplePerKey() {
	handler := newSlow()
	limited := weirhttp.Limit(handler, 10, weirhttp.Queue(50), weirhttp.PerKeyQueue(5), weirhttp.PerKey(2, func(r *http.Request) string {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			return r.RemoteAddr
		}
		return host
	}))
	answers := make(chan string)
	for range 8 { // all from the same address
		go func() { answers <- ask(limited, "/").Status }()
	}
	<-handler.called
	<-handler.called

	fmt.Println(<-answers)

	close(handler.done)
	for range 5 {
		<-handler.called
	}
	for range 7 {
		if status := <-answers; status != "200 OK" {
			fmt.Println(status)
		}
	}
	// Output: 503 Service Unavailable
}

// No route runs more than 5 requests at once. Unlike with a Limiter for each route, a request
// that waits for its route holds no slot.
func ExamplePerKey_routes() {
	mux := http.NewServeMux()
	mux.Handle("GET /report/{id}", http.NotFoundHandler())
	mux.Handle("GET /search", http.NotFoundHandler())
	server := weirhttp.Limit(mux, 20, weirhttp.PerKey(5, func(r *http.Request) string {
		_, pattern := mux.Handler(r)
		return pattern
	}))

	fmt.Println(ask(server, "/report/1").Status)
	// Output: 404 Not Found
}

func ExamplePerKeyQueue() {
	// Each client runs 1 request, and may have 10 of the 100 that wait.
	limited := weirhttp.Limit(http.NotFoundHandler(), 20, weirhttp.Queue(100),
		weirhttp.PerKey(1, func(r *http.Request) string { return r.Header.Get("Authorization") }), weirhttp.PerKeyQueue(10))

	fmt.Println(ask(limited, "/").Status)
	// Output: 404 Not Found
}

func ExampleExempt() {
	handler := newSlow()
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	limited := weirhttp.Limit(mux, 1, weirhttp.Queue(0), weirhttp.Exempt(func(r *http.Request) bool { return r.URL.Path == "/health" }))
	first := make(chan string)
	go func() { first <- ask(limited, "/").Status }()
	<-handler.called

	fmt.Println(ask(limited, "/other").Status)
	fmt.Println(ask(limited, "/health").Status)

	close(handler.done)
	fmt.Println(<-first)
	// Output:
	// 503 Service Unavailable
	// 204 No Content
	// 200 OK
}

// Requests and background tasks together have four places.
func ExampleOn() {
	pool := weir.New(4)
	defer pool.Close()
	limited := weirhttp.Limit(http.NotFoundHandler(), 3, weirhttp.On(pool)) // one is always left to the tasks
	if err := pool.Submit(func() { fmt.Println("tidied up") }); err != nil {
		panic(err)
	}
	pool.Wait()

	fmt.Println(ask(limited, "/").Status)
	// Output:
	// tidied up
	// 404 Not Found
}

func ExampleStatus() {
	limited := weirhttp.Limit(http.NotFoundHandler(), 1, weirhttp.Status(http.StatusTooManyRequests))
	limited.Drain()

	fmt.Println(ask(limited, "/").Status)
	// Output: 429 Too Many Requests
}

func ExampleRefusal() {
	limited := weirhttp.Limit(http.NotFoundHandler(), 1,
		weirhttp.Refusal(func(w http.ResponseWriter, _ *http.Request, why weirhttp.Reason) {
			status := http.StatusServiceUnavailable
			if why == weirhttp.KeyFull {
				status = http.StatusTooManyRequests // the client is to blame, not the server
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error": %q}`, why)
		}))
	limited.Drain()

	answer := ask(limited, "/")
	body, err := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, answer.Header.Get("Retry-After"), string(body), err)
	// Output: 503 1 {"error": "closed"} <nil>
}

func ExampleRetryAfter() {
	limited := weirhttp.Limit(http.NotFoundHandler(), 1, weirhttp.RetryAfter(time.Minute))
	limited.Drain()

	fmt.Println(ask(limited, "/").Header.Get("Retry-After"), "s")
	// Output: 60 s
}
