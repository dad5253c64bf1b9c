package suite

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/valyala/bytebufferpool"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/reuse"
)

// A load gives the size of the i-th of n buffers.
type load struct {
	name string
	size func(random *rand.Rand, i, n int) int
}

const (
	small = 256
	large = 64 << 10
)

var loads = []load{
	{"log-normal", func(random *rand.Rand, _, _ int) int {
		const median, z99 = 1 << 10, 2.3263 // 99 % of a normal distribution are below z99
		return int(median * math.Exp(random.NormFloat64()*math.Log(large/median)/z99))
	}},
	{"bimodal", func(random *rand.Rand, _, _ int) int {
		if random.Float64() < 0.05 {
			return large
		}
		return small
	}},
	{"shift", func(_ *rand.Rand, i, n int) int {
		if i < n/4 || i >= n*3/4 {
			return small
		}
		return large
	}},
}

// drawn is the number of sizes in one pass. They are the same in each turn.
const drawn = 40_000

// Sizes are those of the load with the name.
func Sizes(name string) []int {
	return loads[slices.IndexFunc(loads, func(l load) bool { return l.name == name })].sizes()
}

func (l load) sizes() []int {
	random := rand.New(rand.NewPCG(1, 2))
	sizes := make([]int, drawn)
	for i := range sizes {
		sizes[i] = l.size(random, i, drawn)
	}
	return sizes
}

// sizes measures buffers of many sizes, of which each goroutine has a few in use at once.
func sizes(s Scale) []Experiment {
	passes := pick(s, 3, 1)
	return each(pick(s, loads, loads[:1]), func(l load) Experiment {
		return Experiment{
			ID:    id(s.Cores, "sizes", "load", l.name),
			About: "one buffer that is filled in pieces of 512 bytes and given back, of 64 that each goroutine has in use; and 1 KB of garbage for each",
			Turn:  pick(s, time.Second, 200*time.Millisecond),
			Contenders: []Contender{
				{Name: "weir.reuse.Buffers", Measure: func(m *Meter) {
					var pool reuse.Buffers
					mixed(m, passes, l.sizes(), pool.GetBuffer, grow, pool.PutBuffer)
				}},
				{Name: peer.Made, Measure: func(m *Meter) {
					mixed(m, passes, l.sizes(), newBuffer, grow, func(*bytes.Buffer) {})
				}},
				{Name: "sync.Pool", Measure: func(m *Meter) {
					pool := sync.Pool{New: func() any { return newBuffer() }}
					mixed(m, passes, l.sizes(), func() *bytes.Buffer { return pool.Get().(*bytes.Buffer) }, grow, func(b *bytes.Buffer) {
						b.Reset()
						pool.Put(b)
					})
				}},
				{Name: "bytebufferpool", Measure: func(m *Meter) {
					var pool bytebufferpool.Pool
					mixed(m, passes, l.sizes(), pool.Get, growTheirs, pool.Put)
				}},
			},
		}
	})
}

var piece = make([]byte, 512)

func grow(b *bytes.Buffer, size int) {
	for ; size > 0; size -= len(piece) {
		b.Write(piece[:min(size, len(piece))])
	}
}

// growTheirs is a copy of grow, for the reason that fillTheirs gives.
func growTheirs(b *bytebufferpool.ByteBuffer, size int) {
	for ; size > 0; size -= len(piece) {
		_, err := b.Write(piece[:min(size, len(piece))])
		must(err)
	}
}

// A use is one use of a buffer. rest stands for the other memory of a request, which becomes garbage. Without
// it the collector would hardly ever run, and never empty a pool.
type use[B any] struct {
	buffer B
	rest   []byte
}

// mixed goes through the sizes once to warm up, and then passes times on the clock.
func mixed[B any](m *Meter, passes int, sizes []int, get func() B, fill func(B, int), put func(B)) {
	goroutines := runtime.GOMAXPROCS(0)
	var heap []float64
	run := func(n int) {
		heap = heap[:0]
		// Each goroutine takes every second size, or every third, and so on: so all are at about the same size.
		shared(goroutines, goroutines, func(k, _ int) {
			var uses [64]use[B]
			inUse := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
			count := 0
			for i := k; i < n; i += goroutines {
				at := &uses[count%len(uses)]
				if count >= len(uses) {
					put(at.buffer)
				}
				*at = use[B]{get(), make([]byte, 1024)}
				fill(at.buffer, sizes[i%len(sizes)])
				count++
				if k == 0 && count%512 == 0 {
					metrics.Read(inUse)
					heap = append(heap, float64(inUse[0].Value.Uint64()))
				}
			}
			for _, u := range uses[:min(count, len(uses))] {
				put(u.buffer)
				sink(u.rest)
			}
		})
	}
	run(len(sizes))
	m.time(passes*len(sizes), func() { run(passes * len(sizes)) })
	sum := 0.0
	for _, bytes := range heap {
		sum += bytes
	}
	m.Add("heap-B", sum/float64(len(heap)))
}
