package suite

import (
	"runtime"
	"slices"
	"time"

	"github.com/64ed045f/weir/lab/internal/record"
)

// A Meter collects the figures of one measurement. Only one goroutine may use it.
type Meter struct {
	record.Result

	// Target is about how long the clock should run, if the number of operations can be chosen.
	Target time.Duration
}

// time runs n operations on the clock, and records time, bytes and allocations per operation. It collects
// earlier garbage first.
func (m *Meter) time(n int, run func()) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	run()
	elapsed := time.Since(begin)
	runtime.ReadMemStats(&after)
	m.N = n
	m.Add("ns/op", float64(elapsed.Nanoseconds())/float64(n))
	m.Add("B/op", float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
	m.Add("allocs/op", float64(after.Mallocs-before.Mallocs)/float64(n))
}

// must panics if err is not nil: the measurement is then impossible. It has a process of its own.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// throughput finds how many operations fill the target time, and times that many, but at least three. The
// smaller runs that find the number warm up what run uses.
func (m *Meter) throughput(run func(n int)) {
	clocked := func(n int) time.Duration {
		begin := time.Now()
		run(n)
		return max(time.Since(begin), 1)
	}
	n := 1
	for {
		elapsed := clocked(n)
		if elapsed >= m.Target/4 {
			// Once more: the machine may have stalled for a moment.
			elapsed = min(elapsed, clocked(n))
		}
		if elapsed >= m.Target/4 {
			n = max(3, int(float64(n)*float64(m.Target)/float64(elapsed)))
			break
		}
		// An operation may become cheaper when it is repeated, so go on in steps.
		n *= 4
	}
	m.time(n, func() { run(n) })
}

// repeated is throughput for an operation that runs once per call.
func (m *Meter) repeated(run func()) {
	m.throughput(func(n int) {
		for range n {
			run()
		}
	})
}

// percentiles records the distribution of the samples. The median comes first, then the mean, which differs
// if most samples are fast and some slow. It leaves out p99.9 if there are too few samples, as the slowest
// would be accidents.
func (m *Meter) percentiles(samples []time.Duration) {
	slices.Sort(samples)
	at := func(share float64) float64 {
		return float64(samples[min(len(samples)-1, int(share*float64(len(samples))))].Nanoseconds())
	}
	m.N = len(samples)
	m.Add("ns/op", at(0.5))
	m.Add("mean-ns", mean(samples))
	m.Add("p90-ns", at(0.9))
	m.Add("p99-ns", at(0.99))
	if len(samples) >= 10_000 {
		m.Add("p99.9-ns", at(0.999))
	}
}

func mean(samples []time.Duration) float64 {
	var sum time.Duration
	for _, d := range samples {
		sum += d
	}
	return float64(sum.Nanoseconds()) / float64(len(samples))
}
