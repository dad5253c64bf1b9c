package weirhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

func TestDoAllocatesLittle(t *testing.T) {
	pool := weir.New(2)
	defer pool.Close()
	h, r, w := weirhttp.Do(pool, handler(func() {})), aGet(t), newSink()
	allocations := testing.AllocsPerRun(1000, func() { h.ServeHTTP(w, r) })
	if allocations > 12 && !check.Race {
		t.Errorf("%v allocations a request", allocations)
	}
	t.Logf("%v allocations a request", allocations)
}

// BenchmarkDo has a handler that does nothing serve requests, with Do and without.
func BenchmarkDo(b *testing.B) {
	pool := weir.New(64)
	defer pool.Close()
	plain := handler(func() {})
	for _, test := range []struct {
		name string
		h    http.Handler
	}{
		{"plain", plain},
		{"do", weirhttp.Do(pool, plain)},
	} {
		b.Run("call/"+test.name, func(b *testing.B) {
			r, w := aGet(b), newSink()
			b.ReportAllocs()
			for b.Loop() {
				test.h.ServeHTTP(w, r)
			}
		})
		b.Run("loopback/"+test.name, func(b *testing.B) {
			s := startServer(b, test.h, (*httptest.Server).Start)
			client := s.Client()
			b.ReportAllocs()
			for b.Loop() {
				response, err := client.Get(s.URL)
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, response.Body)
				check.OK(b, err)
				check.OK(b, response.Body.Close())
			}
		})
	}
}
