package weirhttp_test

import (
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

var nothing = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

func TestALimiterAllocatesNextToNothing(t *testing.T) {
	r := request(t, nil, 0)
	w := newSink()
	full, free := busy(t)
	fullForKeys, freeForKeys := busy(t, weirhttp.PerKey(1, keyHeader))
	for _, tc := range []struct {
		name string
		most float64
		l    *weirhttp.Limiter
	}{
		{"a request", 0, weirhttp.Limit(nothing, 1)},
		{"a request with a new key", 1, weirhttp.Limit(nothing, 1, weirhttp.PerKey(1, keyHeader))},
		{"a refusal", 0, full},
		{"a refusal with a key", 0, fullForKeys},
	} {
		got := testing.AllocsPerRun(100, func() { tc.l.ServeHTTP(w, r) })
		if got > tc.most && !check.Race {
			t.Errorf("%s takes %.1f allocations, more than %g", tc.name, got, tc.most)
		}
	}
	free()
	freeForKeys()
}

// waitMany has n requests wait at the Limiter, and returns what each of them has allocated.
func waitMany(t testing.TB, l *weirhttp.Limiter, n int) (each float64) {
	r := request(t, nil, 0)
	start := make(chan struct{})
	var ready, done sync.WaitGroup
	ready.Add(n)
	for range n {
		done.Go(func() {
			w := &sink{} // without a header: it must run in the end
			ready.Done()
			<-start
			l.ServeHTTP(w, r)
		})
	}
	ready.Wait()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	close(start)
	check.Until(t, "all wait", func() bool { return l.Stats().Waiting == n-1 })
	runtime.ReadMemStats(&after)
	l.Resize(n)
	done.Wait()
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}

func TestARequestThatWaitsTakesLittleMemory(t *testing.T) {
	n := check.Scale(10_000, 1_000)
	for name, opts := range map[string][]weirhttp.Option{
		"plain": nil,
		"keys":  {weirhttp.PerKey(1<<20, keyHeader), weirhttp.PerKeyQueue(n)},
	} {
		g := newGate()
		l := weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-g.leave }), 1,
			append(opts, weirhttp.Queue(n), weirhttp.MaxWait(time.Hour))...)
		time.AfterFunc(0, func() {
			for l.Stats().Limit == 1 {
				runtime.Gosched()
			}
			close(g.leave)
		})
		each := waitMany(t, l, n)
		t.Logf("%s: %.0f bytes each", name, each)
		if each > 800 && !check.Race {
			t.Errorf("%s: a request that waits takes %.0f bytes, more than 800", name, each)
		}
		check.Equal(t, "served", l.Stats(), weirhttp.Stats{Limit: n, Served: uint64(n)})
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, bc := range []struct {
		name string
		h    http.Handler
	}{
		{"bare", nothing},
		{"limit", weirhttp.Limit(nothing, 100)},
		{"per key", weirhttp.Limit(nothing, 100, weirhttp.PerKey(10, keyHeader))},
	} {
		r, w := request(b, nil, 0), newSink()
		r.Header.Set("Key", "10.0.0.1")
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bc.h.ServeHTTP(w, r)
			}
		})
		b.Run(bc.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				w := newSink()
				for pb.Next() {
					bc.h.ServeHTTP(w, r)
				}
			})
		})
	}
}

func BenchmarkRefusal(b *testing.B) {
	for name, opts := range map[string][]weirhttp.Option{"plain": nil, "per key": {weirhttp.PerKey(10, keyHeader)}} {
		b.Run(name, func(b *testing.B) {
			l, free := busy(b, opts...)
			defer free()
			r := request(b, nil, 0)
			b.ReportAllocs()
			for b.Loop() {
				l.ServeHTTP(newSink(), r)
			}
		})
	}
}

// BenchmarkDisplaced is for a queue of 10 000 that is full, where each newcomer displaces the
// oldest.
func BenchmarkDisplaced(b *testing.B) {
	for name, opts := range map[string][]weirhttp.Option{"plain": nil, "per key": {weirhttp.PerKey(1, keyHeader), weirhttp.PerKeyQueue(10_000)}} {
		b.Run(name, func(b *testing.B) {
			l, free := busy(b, append(opts, weirhttp.Queue(10_000), weirhttp.NewestFirst(), weirhttp.MaxWait(time.Hour))...)
			r := request(b, nil, 0)
			var wg sync.WaitGroup
			b.ReportAllocs()
			for b.Loop() {
				wg.Go(func() { l.ServeHTTP(newSink(), r) })
			}
			l.Drain()
			wg.Wait()
			free()
		})
	}
}
