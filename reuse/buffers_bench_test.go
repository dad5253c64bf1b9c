package reuse_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir/reuse"
)

// Run with
//
//	go test -run '^$' -bench Buffers -cpu 1,2,8 -count 10 ./reuse
//
// and compare with benchstat.

// BenchmarkBuffersOfOneSize takes something of one size and gives it back: what sizes cost
// compared with a sync.Pool that knows of none.
func BenchmarkBuffersOfOneSize(b *testing.B) {
	const size = 1000
	var (
		buffers reuse.Buffers
		slices  = sync.Pool{New: func() any { s := make([]byte, size); return &s }}
		plain   = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, size)) }}
		text    [size]byte
	)
	for _, way := range []struct {
		name string
		op   func()
	}{
		{"slice/sync.Pool", func() {
			s := slices.Get().(*[]byte)
			(*s)[0]++
			slices.Put(s)
		}},
		{"slice/Buffers", func() {
			s := buffers.Get(size)
			s[0]++
			buffers.Put(s)
		}},
		{"buffer/sync.Pool", func() {
			s := plain.Get().(*bytes.Buffer)
			s.Write(text[:])
			s.Reset()
			plain.Put(s)
		}},
		{"buffer/Buffers", func() {
			s := buffers.GetBuffer()
			s.Write(text[:])
			buffers.PutBuffer(s)
		}},
		{"buffer/Buffers-reset", func() {
			s := buffers.GetBuffer()
			s.Write(text[:])
			s.Reset()
			buffers.PutBuffer(s)
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					way.op()
				}
			})
		})
	}
}

// mixes are loads of mixed sizes: that of the i-th use.
var mixes = []struct {
	name string
	size func(r *rand.Rand, i int) int
}{
	// Median 1 KiB, one in 100 above 64 KiB, none above 4 MiB.
	{"lognormal", func(r *rand.Rand, _ int) int {
		return min(int(1024*math.Exp(r.NormFloat64()*math.Log(64)/2.3263)), 4<<20)
	}},
	{"bimodal", func(r *rand.Rand, _ int) int {
		if r.IntN(20) == 0 {
			return 64 << 10
		}
		return 256
	}},
	{"shift", func(_ *rand.Rand, i int) int {
		if i/(mixed/2)%2 == 1 {
			return 64 << 10
		}
		return 256
	}},
}

const mixed = 1 << 16 // sizes, drawn beforehand

// BenchmarkBuffersOfMixedSizes has 64 buffers in use at once for each processor, and
// writes to them in pieces of 512 bytes. B-heap is the mean of what is in use on the heap.
func BenchmarkBuffersOfMixedSizes(b *testing.B) {
	for _, mix := range mixes {
		r := rand.New(rand.NewPCG(1, 2))
		sizes := make([]int, mixed)
		for i := range sizes {
			sizes[i] = mix.size(r, i)
		}
		var buffers reuse.Buffers
		plain := sync.Pool{New: func() any { return new(bytes.Buffer) }}
		for _, way := range []struct {
			name string
			get  func() *bytes.Buffer
			put  func(*bytes.Buffer)
		}{
			{"Buffers", buffers.GetBuffer, buffers.PutBuffer},
			{"Buffers-reset", buffers.GetBuffer, func(s *bytes.Buffer) { s.Reset(); buffers.PutBuffer(s) }},
			{"sync.Pool", func() *bytes.Buffer { return plain.Get().(*bytes.Buffer) }, func(s *bytes.Buffer) { s.Reset(); plain.Put(s) }},
			{"new", func() *bytes.Buffer { return new(bytes.Buffer) }, func(*bytes.Buffer) {}},
		} {
			b.Run(mix.name+"/"+way.name, func(b *testing.B) { benchmarkMixed(b, sizes, way.get, way.put) })
		}
	}
}

func benchmarkMixed(b *testing.B, sizes []int, get func() *bytes.Buffer, put func(*bytes.Buffer)) {
	const (
		inUse = 64
		piece = 512
	)
	var users, looks, total atomic.Uint64
	for range 3 {
		runtime.GC() // what the one before has left
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		user := int(users.Add(1))
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		var held [inUse]*bytes.Buffer
		var text [piece]byte
		for i := user * 7919; pb.Next(); i++ {
			place := &held[i%inUse]
			if *place != nil {
				put(*place)
			}
			*place = get()
			for rest := sizes[i%len(sizes)]; rest > 0; rest -= piece {
				(*place).Write(text[:min(rest, piece)])
			}
			if user == 1 && i%1024 == 0 {
				metrics.Read(heap)
				total.Add(heap[0].Value.Uint64())
				looks.Add(1)
			}
		}
	})
	if n := looks.Load(); n > 0 {
		b.ReportMetric(float64(total.Load()/n), "B-heap")
	}
}
