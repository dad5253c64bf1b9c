package hostile_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

var keyCount = flag.Int("hostile.keys", 100_000, "how many keys an attacker makes up")

// keys is that flag, or less under -short.
func keys() int {
	if testing.Short() {
		return min(*keyCount, 5_000)
	}
	return *keyCount
}

// lobby is a Limiter in a bubble. Its handlers run until the test lets them go.
type lobby struct {
	*weirhttp.Limiter
	testing.TB
	leave    chan struct{}
	requests sync.WaitGroup
	how      func() // the handlers end
}

func newLobby(tb testing.TB, n, waiting int, opts ...weirhttp.Option) *lobby {
	b := &lobby{TB: tb, leave: make(chan struct{}), how: func() {}}
	b.Limiter = weirhttp.Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-b.leave
		b.how()
	}), n, append([]weirhttp.Option{
		weirhttp.PerKey(1, keyOf), weirhttp.Priority(priority), weirhttp.Queue(waiting), weirhttp.MaxWait(forever),
	}, opts...)...)
	return b
}

// come has a request come, and does not wait for it.
func (b *lobby) come(ctx context.Context, key string, priority int) {
	b.requests.Go(func() { b.call(ctx, key, priority) })
}

// call has a request come, waits for its end, and returns the status.
func (b *lobby) call(ctx context.Context, key string, priority int) int {
	defer func() { _ = recover() }()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	r.Header.Set("Key", key)
	r.Header.Set("Priority", strconv.Itoa(priority))
	b.ServeHTTP(w, r)
	return w.Code
}

// forgotten waits for all requests, and fails the test if the Limiter knows a key, or keeps more memory alive than a new one.
func (b *lobby) forgotten() {
	b.Helper()
	b.requests.Wait()
	check.Equal(b, "keys", b.Stats().Keys, 0)
	with := check.Heap()
	runtime.KeepAlive(b.Limiter)
	b.Limiter = nil
	atMost(b, "bytes that the Limiter keeps", with.Bytes-check.Heap().Bytes, 64<<10)
}

func madeUp(i int) string { return "a key that was made up: " + strconv.Itoa(i) }

// All requests are there at once, which is the most that clients can make a Limiter remember. Those that are refused have no key there,
// and then nothing is left, whatever has become of the others.
func TestKeysOfAllRequestsAreForgotten(t *testing.T) {
	for name, end := range map[string]func(b *lobby, cancel func()){
		"served":    func(b *lobby, _ func()) { close(b.leave) },
		"cancelled": func(b *lobby, cancel func()) { cancel(); synctest.Wait(); close(b.leave) },
		"drained":   func(b *lobby, _ func()) { b.Drain(); synctest.Wait(); close(b.leave) },
		"displaced": func(b *lobby, _ func()) { close(b.leave) },
		"panicked": func(b *lobby, _ func()) {
			b.how = func() { panic(errPlanned) }
			close(b.leave)
		},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			n := max(keys()/check.Size(10, 25, 10), 4_000)
			var opts []weirhttp.Option
			if name == "displaced" {
				opts = append(opts, weirhttp.NewestFirst())
			}
			b := newLobby(t, 1, n, opts...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for i := range n + 1 {
				b.come(ctx, madeUp(i), i)
			}
			synctest.Wait()
			check.Equal(t, "keys", b.Stats().Keys, n+1)
			for i := range n {
				if name == "displaced" {
					b.come(ctx, madeUp(-1-i), n)
					synctest.Wait()
				} else {
					check.Equal(t, "status", b.call(ctx, madeUp(-1-i), -1), http.StatusServiceUnavailable)
				}
			}
			check.Equal(t, "keys", b.Stats().Keys, n+1)
			end(b, cancel)
			b.forgotten()
		})
	}
}

// As each request comes before the last one has gone, the Limiter never forgets the key. Of all the equal
// strings it keeps only one.
func TestAKeyThatNeverRestsTakesMemoryOnce(t *testing.T) {
	const size = 1 << 20
	synctest.Test(t, func(t *testing.T) {
		b := newLobby(t, 1, 2, weirhttp.PerKeyQueue(2))
		before := check.Heap()
		for range 50 {
			b.come(t.Context(), strings.Repeat("k", size), 0)
			synctest.Wait()
			if b.Stats().Running+b.Stats().Waiting == 2 {
				b.leave <- struct{}{}
				synctest.Wait()
			}
		}
		check.Equal(t, "running", b.Stats().Running, 1)
		atMost(t, "bytes of one request that runs, and the one with whose key it came", check.Heap().Bytes-before.Bytes, 3*size)
		close(b.leave)
		b.forgotten()
	})
}
