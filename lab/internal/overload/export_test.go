package overload

import (
	"net/http"
	"sync/atomic"
)

// Contenders that the tests add.
const (
	Unlimited = "unlimited" // promises a limit and has none
	Dropping  = "dropping"  // breaks off every fourth request
	Rude      = "rude"      // refuses every second one, and does not say until when
)

// AddContenders adds them, in the process of the test and in those that it starts.
func AddContenders() {
	var count atomic.Int64
	every := func(n int64, what http.HandlerFunc) func(h http.Handler, _ Setup) http.Handler {
		return func(h http.Handler, _ Setup) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if count.Add(1)%n == 0 {
					what(w, r)
					return
				}
				h.ServeHTTP(w, r)
			})
		}
	}
	contenders = append(contenders,
		contender{Unlimited, true, func(h http.Handler, _ Setup) http.Handler { return h }},
		contender{Dropping, false, every(4, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })},
		contender{Rude, false, every(2, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })},
	)
}
