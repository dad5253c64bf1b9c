package books_test

import (
	"runtime"
	"testing"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

func TestGrowthIsABreachAndNoiseIsNot(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		n    int
		at   func(i int) books.Vitals
		want string
	}{
		"flat":        {20, func(int) books.Vitals { return books.Vitals{Goroutines: 5, Heap: mib, Objects: 3} }, ""},
		"falling":     {20, func(i int) books.Vitals { return books.Vitals{Goroutines: 50 - i, Heap: uint64(30-i) * mib} }, ""},
		"one high":    {20, func(i int) books.Vitals { return books.Vitals{Goroutines: 5 + i/19, Heap: uint64(1+i/19*100) * mib} }, ""},
		"too few":     {5, func(i int) books.Vitals { return books.Vitals{Heap: uint64(i) * 100 * mib} }, ""},
		"memory":      {6, func(i int) books.Vitals { return books.Vitals{Heap: uint64(1+i) * 4 * mib} }, "bytes on the heap grow"},
		"objects":     {6, func(i int) books.Vitals { return books.Vitals{Objects: uint64(i) * 3000} }, "objects grow"},
		"a goroutine": {6, func(i int) books.Vitals { return books.Vitals{Goroutines: 5 + i/3} }, "goroutines grow"},
	} {
		t.Run(name, func(t *testing.T) {
			var series []books.Vitals
			for i := range c.n {
				series = append(series, c.at(i))
			}
			j := books.NewJournal()
			books.New("load", j).Flat(series)
			wantBreach(t, j, c.want)
		})
	}
}

func TestMeasureSeesMemoryObjectsAndGoroutines(t *testing.T) {
	const n, size = 20_000, 8 << 20
	before := books.Measure()
	memory, objects, stop := make([]byte, size), make([]*int64, n), make(chan struct{})
	for i := range objects {
		objects[i] = new(int64)
	}
	for range 10 {
		go func() { <-stop }()
	}
	during := books.Measure()
	close(stop)
	runtime.KeepAlive(memory)
	runtime.KeepAlive(objects)
	if during.Goroutines-before.Goroutines != 10 || during.Heap-before.Heap < size || during.Objects-before.Objects < n/10 {
		t.Errorf("with %d bytes, %d objects and 10 goroutines more there are %+v, before %+v", size, n, during, before)
	}
}
