package weirnats_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

var payload = make([]byte, 128)

// BenchmarkOpen measures Open and Close of an empty folder.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		b.StartTimer()
		q, err := weirnats.Open[[]byte](b.Context(), "a", weirnats.Dir(dir), quiet)
		noError(b, err)
		b.StopTimer()
		noError(b, q.Close())
		b.StartTimer()
	}
}

// BenchmarkPut measures Put of 128 bytes, by one goroutine or by many at once.
func BenchmarkPut(b *testing.B) {
	for _, durability := range []weirnats.Durability{weirnats.Lazy, weirnats.Always} {
		for _, putters := range []int{1, 64} {
			b.Run(fmt.Sprintf("durability=%v/putters=%d", durability, putters), func(b *testing.B) {
				q := open[[]byte](b, b.TempDir(), "a", durability, weirnats.MaxMessages(100_000_000))
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ResetTimer()
				var all sync.WaitGroup
				for range putters {
					all.Go(func() {
						for left.Add(-1) >= 0 {
							noError(b, q.Put(b.Context(), payload))
						}
					})
				}
				all.Wait()
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "put/s")
			})
		}
	}
}

// BenchmarkLarge measures messages of 1 MB: Put by one goroutine, then Serve with 8 places.
func BenchmarkLarge(b *testing.B) {
	q := open[[]byte](b, b.TempDir(), "a")
	large := make([]byte, 1_000_000)
	b.ResetTimer()
	for range b.N {
		noError(b, q.Put(b.Context(), large))
	}
	put := b.Elapsed()
	p := weir.New(8)
	defer p.Close()
	var calls atomic.Int64
	done := make(chan struct{})
	stop := serve(b, q, p, func(context.Context, []byte) error {
		if calls.Add(1) == int64(b.N) {
			close(done)
		}
		return nil
	})
	<-done
	b.StopTimer()
	stop()
	b.ReportMetric(float64(b.N)/put.Seconds(), "put/s")
	b.ReportMetric(float64(b.N)/(b.Elapsed()-put).Seconds(), "message/s")
}

// BenchmarkServe measures messages of 128 bytes that wait, and are served by a pool with so many places.
func BenchmarkServe(b *testing.B) {
	for _, places := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("places=%d", places), func(b *testing.B) {
			q := open[[]byte](b, b.TempDir(), "a", weirnats.MaxMessages(100_000_000))
			g := weir.NewGroup(b.Context(), 256)
			for range b.N {
				g.Go(func(ctx context.Context) error { return q.Put(ctx, payload) })
			}
			noError(b, g.Wait())
			p := weir.New(places)
			defer p.Close()
			var calls atomic.Int64
			done := make(chan struct{})
			b.ResetTimer()
			stop := serve(b, q, p, func(context.Context, []byte) error {
				if calls.Add(1) == int64(b.N) {
					close(done)
				}
				return nil
			})
			<-done
			stop()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "message/s")
		})
	}
}

// BenchmarkIdle measures the time from the begin of a Put into an idle queue until the message runs.
func BenchmarkIdle(b *testing.B) {
	q := open[[]byte](b, b.TempDir(), "a")
	p := weir.New(4)
	defer p.Close()
	ran := make(chan time.Time, 1)
	stop := serve(b, q, p, func(context.Context, []byte) error { ran <- time.Now(); return nil })
	var all []time.Duration
	for b.Loop() {
		begin := time.Now()
		noError(b, q.Put(b.Context(), payload))
		all = append(all, (<-ran).Sub(begin))
		b.StopTimer()
		time.Sleep(time.Millisecond) // until the queue is idle again
		b.StartTimer()
	}
	stop()
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkPutAll measures PutAll of values of 128 bytes, so many at once.
func BenchmarkPutAll(b *testing.B) {
	for _, durability := range []weirnats.Durability{weirnats.Lazy, weirnats.Always} {
		for _, n := range []int{10, 64, 500} {
			b.Run(fmt.Sprintf("durability=%v/values=%d", durability, n), func(b *testing.B) {
				q := open[[]byte](b, b.TempDir(), "a", durability, weirnats.MaxMessages(100_000_000))
				all := slices.Repeat([][]byte{payload}, n)
				for b.Loop() {
					_, err := q.PutAll(b.Context(), all, nil)
					noError(b, err)
				}
				b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "value/s")
			})
		}
	}
}
