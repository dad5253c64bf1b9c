package books

import (
	"math"
	"runtime"
	"slices"
)

// Vitals is what a process holds, after a garbage collection.
type Vitals struct {
	Goroutines int
	Heap       uint64 // bytes
	Objects    uint64
	Timers     int // an estimate, see ProfileRate
}

// ProfileRate is what runtime.MemProfileRate is to be, from the start of the process on. The
// profile of the heap is the only place that knows of timers: one of a hundred and some bytes is
// in it with a probability of some three percent.
const ProfileRate = 4096

// Measure collects garbage and returns what is left.
func Measure() Vitals {
	// What a sync.Pool holds is gone after two collections, and the profile lags as much behind.
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Vitals{Goroutines: runtime.NumGoroutine(), Heap: m.HeapAlloc, Objects: m.HeapObjects, Timers: timers()}
}

// timers estimates how many timers and tickers are alive.
func timers() int {
	if runtime.MemProfileRate <= 0 {
		return 0
	}
	var records []runtime.MemProfileRecord
	for n, ok := runtime.MemProfile(nil, false); !ok; n, ok = runtime.MemProfile(records, false) {
		records = make([]runtime.MemProfileRecord, n+50)
		if got, all := runtime.MemProfile(records, false); all {
			records = records[:got]
			break
		}
	}
	var sum float64
	for _, r := range records {
		if r.InUseObjects() == 0 || !makesTimer(r.Stack()) {
			continue
		}
		size := float64(r.InUseBytes()) / float64(r.InUseObjects())
		// The chance that one of this size is in the profile.
		chance := 1 - math.Exp(-size/float64(runtime.MemProfileRate))
		sum += float64(r.InUseObjects()) / chance
	}
	return int(math.Round(sum))
}

func makesTimer(stack []uintptr) bool {
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		switch frame.Function {
		case "time.newTimer", "time.NewTimer", "time.AfterFunc", "time.NewTicker":
			return true
		}
		if !more {
			return false
		}
	}
}

// What may differ between medians in addition to a factor of two: the noise of a small program.
const (
	heapSlack  = 2 << 20
	timerSlack = 400
)

// Flat checks that a series, in the order of time, does not grow. It compares the median of the later half with
// that of the earlier half, and needs six vitals to judge.
func (b *Book) Flat(series []Vitals) {
	if len(series) < 6 {
		return
	}
	early, late := series[:len(series)/2], series[len(series)/2:]
	for _, kind := range []struct {
		name   string
		of     func(Vitals) uint64
		factor uint64
		slack  uint64
	}{
		{"bytes on the heap", func(v Vitals) uint64 { return v.Heap }, 2, heapSlack},
		{"timers", func(v Vitals) uint64 { return uint64(v.Timers) }, 2, timerSlack},
		{"goroutines", func(v Vitals) uint64 { return uint64(v.Goroutines) }, 1, 0},
	} {
		before, after := median(early, kind.of), median(late, kind.of)
		b.Check(after <= kind.factor*before+kind.slack, "%s grow: the median was %d at first, and is %d later", kind.name, before, after)
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

// MedianHeap returns the median of the bytes on the heap.
func MedianHeap(series []Vitals) uint64 {
	return median(series, func(v Vitals) uint64 { return v.Heap })
}
