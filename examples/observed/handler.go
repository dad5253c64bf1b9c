package main

import (
	"crypto/subtle"
	"expvar"
	"fmt"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/64ed045f/weir/weirdebug"
	"github.com/64ed045f/weir/weirprom"
)

// newHandler returns the handler of the shop and of the pages that show it at work.
func newHandler(s *shop, l *load, password string) http.Handler {
	registry := prometheus.NewRegistry() // most programs use prometheus.DefaultRegisterer
	registry.MustRegister(weirprom.New(weirprom.Limiter("api", s.api), weirprom.Transport("customers", l.transport), weirprom.Keeper("stock", s.stock)))
	publish()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", front)
	mux.Handle("POST /orders", s.api)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.Handle("GET /debug/vars", expvar.Handler())
	mux.Handle("/debug/weir/", askBeforeChanges(password, weirdebug.Handler(weirdebug.Control())))
	return mux
}

// publish runs once: package expvar accepts no second variable of the same name.
var publish = sync.OnceFunc(func() { expvar.Publish("weir", weirdebug.Var{}) })

// askBeforeChanges requires the password for requests that change something. This server listens on
// localhost, so that only its own machine can see the pages. On other addresses, ask for the password before
// all requests below /debug, and use TLS.
func askBeforeChanges(password string, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, given, _ := r.BasicAuth()
		if r.Method != http.MethodGet && r.Method != http.MethodHead && subtle.ConstantTimeCompare([]byte(given), []byte(password)) == 0 {
			w.Header().Set("WWW-Authenticate", `Basic realm="changes of pools"`)
			http.Error(w, "the password is wrong: the program has printed it when it started", http.StatusUnauthorized)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

func front(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprint(w, `<!doctype html>
<html lang="en">
<title>A shop, observed</title>
<h1>A shop, observed</h1>
<ul>
<li><a href="/debug/weir/">Pools</a>, and their tasks that have run for longest
<li><a href="/debug/weir/?groups">Groups</a>: what waits for what
<li><a href="/metrics">Metrics</a> for Prometheus
<li><a href="/debug/vars">Variables</a> of package expvar
</ul>
`)
}
