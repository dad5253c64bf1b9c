package weirnats_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// BenchmarkShards measures messages of 128 bytes that are spread over one, two and four queues, put by 64 goroutines and then served by one pool of 64 places. The queues
// are on the embedded server, on one server in a process of its own, or each on a server in a process of its own. docs/scale.md has its figures.
func BenchmarkShards(b *testing.B) {
	embedded := func(d weirnats.Durability) func(*testing.B, int) [][]weirnats.Option {
		return func(b *testing.B, _ int) [][]weirnats.Option {
			return [][]weirnats.Option{{weirnats.Dir(b.TempDir()), d}}
		}
	}
	for _, at := range []struct {
		name  string
		where func(b *testing.B, shards int) [][]weirnats.Option // options of the shards, in turn
	}{
		{"embedded", embedded(weirnats.Lazy)},
		{"embedded-always", embedded(weirnats.Always)},
		{"one-process", func(b *testing.B, _ int) [][]weirnats.Option { return serverProcesses(b, 1) }},
		{"processes", serverProcesses},
	} {
		for _, shards := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("server=%s/shards=%d", at.name, shards), func(b *testing.B) {
				where := at.where(b, shards)
				queues := make([]*weirnats.Queue[[]byte], shards)
				for i := range queues {
					opts := append(slices.Clip(where[i%len(where)]), weirnats.MaxMessages(100_000_000), quiet)
					q, err := weirnats.Open[[]byte](b.Context(), fmt.Sprint("shard-", i), opts...)
					noError(b, err)
					b.Cleanup(func() { noError(b, q.Close()) })
					queues[i] = q
				}
				measureShards(b, queues)
			})
		}
	}
}

func measureShards(b *testing.B, queues []*weirnats.Queue[[]byte]) {
	const putters, places = 64, 64
	var next atomic.Int64
	b.ResetTimer()
	var all sync.WaitGroup
	for range putters {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				noError(b, queues[i%int64(len(queues))].Put(b.Context(), payload))
			}
		})
	}
	all.Wait()
	put := b.Elapsed()

	p := weir.New(places)
	defer p.Close()
	var calls atomic.Int64
	done := make(chan struct{})
	var stops []func()
	for _, q := range queues {
		stops = append(stops, serve(b, q, p, func(context.Context, []byte) error {
			if calls.Add(1) == int64(b.N) {
				close(done)
			}
			return nil
		}))
	}
	<-done
	served := b.Elapsed() - put
	b.StopTimer()
	for _, stop := range stops {
		stop()
	}
	b.ReportMetric(float64(b.N)/put.Seconds(), "put/s")
	b.ReportMetric(float64(b.N)/served.Seconds(), "message/s")
}

// serverProcesses starts n servers, each in a process of its own, until the end of the benchmark, and returns what leads to them.
func serverProcesses(b *testing.B, n int) (where [][]weirnats.Option) {
	b.Helper()
	for range n {
		c := start(b, "server", b.TempDir(), "")
		b.Cleanup(c.kill)
		url, err := c.out.ReadString('\n')
		noError(b, err)
		where = append(where, []weirnats.Option{weirnats.Server(strings.TrimSpace(url))})
	}
	return where
}

// childServer is a server that listens on a port of its own, or on that of childURL.
func childServer() error {
	port := server.RANDOM_PORT
	if u, err := url.Parse(os.Getenv(childURL)); err == nil && u.Port() != "" {
		port, _ = strconv.Atoi(u.Port())
	}
	dir := os.Getenv(childDir)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, SyncAlways: is(dir, synced), NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		return fmt.Errorf("the server does not start")
	}
	fmt.Printf("ready\n%s\n", s.ClientURL())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// BenchmarkWindow measures how much memory the server takes for an ID of 16 bytes, as long as it knows it.
func BenchmarkWindow(b *testing.B) {
	const n = 500
	values := slices.Repeat([][]byte{payload}, n)
	heap := func(named bool) (bytes float64) {
		q := open[[]byte](b, b.TempDir(), "a", weirnats.MaxMessages(100_000_000), weirnats.Window(time.Hour))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := 0; i < b.N; i += n {
			var id func(int) string
			if named {
				id = func(j int) string { return fmt.Sprintf("%016d", i+j) }
			}
			_, err := q.PutAll(b.Context(), values, id)
			noError(b, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		return float64(after.HeapAlloc) - float64(before.HeapAlloc)
	}
	without := heap(false)
	b.ReportMetric((heap(true)-without)/float64((b.N+n-1)/n*n), "B/ID")
}
