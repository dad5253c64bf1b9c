package books

import (
	"runtime"
	"slices"

	"github.com/64ed045f/weir/internal/check"
)

// Vitals is what a process holds, after a garbage collection.
type Vitals struct {
	Goroutines int
	Heap       uint64 // bytes
	Objects    uint64 // also timers, which would be few bytes
}

// Measure collects garbage and returns what is left.
func Measure() Vitals {
	m := check.Heap()
	return Vitals{Goroutines: runtime.NumGoroutine(), Heap: uint64(m.Bytes), Objects: uint64(m.Objects)}
}

// Flat checks that a series, in the order of time, does not grow. It compares the median of the later half with
// that of the earlier half, and needs six vitals to judge. In addition to a factor of two a small program
// may hold as much more as its noise is.
func (b *Book) Flat(series []Vitals) {
	if len(series) < 6 {
		return
	}
	early, late := series[:len(series)/2], series[len(series)/2:]
	for _, kind := range []struct {
		name          string
		of            func(Vitals) uint64
		factor, noise uint64
	}{
		{"bytes on the heap", func(v Vitals) uint64 { return v.Heap }, 2, 2 << 20},
		{"objects", func(v Vitals) uint64 { return v.Objects }, 2, 5000},
		{"goroutines", func(v Vitals) uint64 { return uint64(v.Goroutines) }, 1, 0},
	} {
		before, after := median(early, kind.of), median(late, kind.of)
		b.Check(after <= kind.factor*before+kind.noise, "%s grow: the median was %d at first, and is %d later", kind.name, before, after)
	}
}

func median(series []Vitals, of func(Vitals) uint64) uint64 {
	values := make([]uint64, len(series))
	for i, v := range series {
		values[i] = of(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
