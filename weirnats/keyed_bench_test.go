package weirnats_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// BenchmarkServeKeys measures 100 000 messages of 128 bytes that wait, of so many keys, served by a pool of 64 places on an embedded server. MB is by how much the heap has grown at
// most while Serve runs, with that of the server; held is how many messages were delivered and not done, at most.
func BenchmarkServeKeys(b *testing.B) {
	const messages = 100_000
	for _, keys := range []int{0, 1, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				q := open[[]byte](b, b.TempDir(), "a", weirnats.MaxMessages(10*messages))
				values := make([][]byte, messages)
				for i := range values {
					values[i] = payload
				}
				_, err := q.PutAll(b.Context(), values, nil, func(i int) string {
					if keys == 0 {
						return ""
					}
					return strconv.Itoa(i % keys)
				})
				noError(b, err)
				p := weir.New(64)
				before, most, held := heap(), uint64(0), 0
				ctx, cancel := context.WithCancel(b.Context())
				var all sync.WaitGroup
				all.Add(messages)
				done := make(chan error, 1)
				b.StartTimer()
				go func() {
					done <- q.Serve(ctx, p, func(context.Context, []byte) error { all.Done(); return nil })
				}()
				over := make(chan struct{})
				go func() { all.Wait(); close(over) }()
				for ended := false; !ended; {
					select {
					case <-over:
						ended = true
					case <-time.After(200 * time.Millisecond):
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						most = max(most, m.HeapAlloc)
						s, err := q.Stats(ctx)
						noError(b, err)
						held = max(held, s.Leased)
					}
				}
				b.StopTimer()
				cancel()
				noError(b, <-done)
				p.Close()
				b.ReportMetric(float64(held), "held")
				b.ReportMetric(float64(most-min(most, before))/1e6, "MB")
				b.StartTimer()
			}
			b.ReportMetric(messages*float64(b.N)/b.Elapsed().Seconds(), "message/s")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkIdleKeys measures what a process costs that serves an idle queue, with so many partitions that have had a message each, or with none: memory with that of the embedded
// server, and the time of the processors.
func BenchmarkIdleKeys(b *testing.B) {
	for _, partitions := range []int{0, 64, 256} {
		b.Run(fmt.Sprintf("partitions=%d", partitions), func(b *testing.B) {
			for b.Loop() {
				before, goroutines := heap(), runtime.NumGoroutine()
				q := open[[]byte](b, b.TempDir(), "a", weirnats.Partitions(max(partitions, 1)))
				p := weir.New(64)
				stop := serve(b, q, p, func(context.Context, []byte) error { return nil })
				begin := time.Now()
				for i := range 20 * partitions {
					noError(b, q.Put(b.Context(), payload, weirnats.Key(strconv.Itoa(i))))
					if i == 0 {
						b.ReportMetric(float64(time.Since(begin).Microseconds())/1e3, "first-put-ms")
					}
				}
				drained(b, q)
				var took time.Duration
				for range 100 {
					begin := time.Now()
					_, err := q.Stats(b.Context())
					noError(b, err)
					took += time.Since(begin)
				}
				b.ReportMetric(float64(took.Microseconds())/100, "stats-us")
				b.ReportMetric(float64(heap()-before)/1e6, "MB")
				b.ReportMetric(float64(runtime.NumGoroutine()-goroutines), "goroutines")
				used, since := cpu(), time.Now()
				time.Sleep(5 * time.Second)
				b.ReportMetric(100*(cpu()-used).Seconds()/time.Since(since).Seconds(), "%CPU")
				stop()
				p.Close()
			}
		})
	}
}

// cpu is the time of the processors that this process has used, as far as the system tells.
func cpu() time.Duration {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
