package rounds

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

// Vitals is what a process holds, after a garbage collection.
type Vitals struct{ Goroutines, Bytes, Objects int64 } // timers are objects of few bytes

// measure gives goroutines that have just ended a moment to go.
func measure() Vitals {
	time.Sleep(time.Millisecond)
	m := check.Heap()
	return Vitals{int64(runtime.NumGoroutine()), m.Bytes, m.Objects}
}

// Growth says what grows in a series, in the order of time. It compares the median of the later half with that of the
// earlier half, and needs six vitals to judge. In addition to a factor of two a small program may hold as much more as
// its noise is.
func Growth(series []Vitals) (grows []string) {
	if len(series) < 6 {
		return nil
	}
	for _, kind := range []struct {
		name          string
		of            func(Vitals) int64
		factor, noise int64
	}{
		{"bytes on the heap", func(v Vitals) int64 { return v.Bytes }, 2, 2 << 20},
		{"objects", func(v Vitals) int64 { return v.Objects }, 2, 5000},
		{"goroutines", func(v Vitals) int64 { return v.Goroutines }, 1, 0},
	} {
		median := func(half []Vitals) int64 {
			var values []int64
			for _, v := range half {
				values = append(values, kind.of(v))
			}
			slices.Sort(values)
			return values[len(values)/2]
		}
		before, after := median(series[:len(series)/2]), median(series[len(series)/2:])
		if after > kind.factor*before+kind.noise {
			grows = append(grows, fmt.Sprintf("%s grow: the median was %d at first, and is %d later", kind.name, before, after))
		}
	}
	return grows
}
