package weirhttp_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirhttp"
)

func ExampleDo() {
	// Four at once, ten more wait, the rest is refused.
	pool := weir.New(4, weir.Queue(10), weir.MaxWaiting(0))
	defer pool.Close()

	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := fmt.Fprintln(w, "hello", r.FormValue("name")); err != nil {
			log.Print(err) // the client has gone
		}
	})
	mux := http.NewServeMux()
	mux.Handle("/hello", weirhttp.Do(pool, hello))

	answer := httptest.NewRecorder() // in a program: http.ListenAndServe(addr, mux)
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/hello?name=Ada", http.NoBody))
	fmt.Print(answer.Code, " ", answer.Body)
	// Output: 200 hello Ada
}

// The parts of a request's work run on the pool that the request itself is on.
func ExampleDo_group() {
	pool := weir.New(4)
	defer pool.Close()

	page := weirhttp.Do(pool, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := weir.NewResults[string](pool.Group(r.Context()))
		for _, name := range []string{"head", "body", "foot"} {
			parts.Go(func(context.Context) (string, error) { return "<" + name + ">", nil })
		}
		all, err := parts.Wait()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if _, err := fmt.Fprintln(w, all); err != nil {
			log.Print(err)
		}
	}))

	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	fmt.Print(answer.Body)
	// Output: [<head> <body> <foot>]
}
