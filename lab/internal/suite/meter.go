package suite

import (
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A Meter takes the figures of one measurement. It is used by one goroutine.
type Meter struct {
	N      int
	Values []record.Value

	// Target is about how long the clock should run where the number of operations
	// can be chosen.
	Target time.Duration

	// Profiles is the folder for profiles of what is timed, if any, and Name the
	// measurement that they are called after.
	Profiles, Name string
}

func (m *Meter) set(unit string, value float64) {
	m.Values = append(m.Values, record.Value{Unit: unit, Value: value})
}

// time runs n operations on the clock and notes the time, bytes and allocations of
// each. What was left behind before is collected first.
func (m *Meter) time(n int, run func()) {
	defer m.profile()()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	run()
	elapsed := time.Since(begin)
	runtime.ReadMemStats(&after)
	m.N = n
	m.set("ns/op", float64(elapsed.Nanoseconds())/float64(n))
	m.set("B/op", float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
	m.set("allocs/op", float64(after.Mallocs-before.Mallocs)/float64(n))
}

// profile begins a CPU profile. What it returns ends that, and writes a heap profile too, of
// all that this process has allocated so far.
func (m *Meter) profile() (end func()) {
	if m.Profiles == "" {
		return func() {}
	}
	file, err := os.CreateTemp(m.Profiles, strings.NewReplacer("/", "_", "=", "-").Replace(m.Name)+"-*"+cpuProfile)
	must(err)
	must(pprof.StartCPUProfile(file))
	return func() {
		pprof.StopCPUProfile()
		must(file.Close())
		heap, err := os.Create(strings.TrimSuffix(file.Name(), cpuProfile) + ".heap.pprof")
		must(err)
		runtime.GC() // a heap profile says how things stood at the last collection
		must(pprof.WriteHeapProfile(heap))
		must(heap.Close())
	}
}

const cpuProfile = ".cpu.pprof"

// must ends a measurement that cannot be made. Its process is its own.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// throughput finds how many operations fill the target time, and times as many, but
// no fewer than three. The smaller runs that find it out warm up whatever run uses.
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
			// Once more: the machine may have been away for a moment.
			elapsed = min(elapsed, clocked(n))
		}
		if elapsed >= m.Target/4 {
			n = max(3, int(float64(n)*float64(m.Target)/float64(elapsed)))
			break
		}
		// An operation may become cheaper as it is repeated: go on in steps.
		n *= 4
	}
	m.time(n, func() { run(n) })
}

// repeated is throughput of an operation that is called by itself.
func (m *Meter) repeated(run func()) {
	m.throughput(func(n int) {
		for range n {
			run()
		}
	})
}

// percentiles notes how the samples lie. The median comes first, and then the mean,
// which says something else where most are fast and some slow. The slowest of
// a thousand is left out where there are too few: it would be an accident.
func (m *Meter) percentiles(samples []time.Duration) {
	slices.Sort(samples)
	at := func(share float64) float64 {
		return float64(samples[min(len(samples)-1, int(share*float64(len(samples))))].Nanoseconds())
	}
	m.N = len(samples)
	m.set("ns/op", at(0.5))
	m.set("mean-ns", mean(samples))
	m.set("p90-ns", at(0.9))
	m.set("p99-ns", at(0.99))
	if len(samples) >= 10_000 {
		m.set("p99.9-ns", at(0.999))
	}
}

func mean(samples []time.Duration) float64 {
	var sum time.Duration
	for _, d := range samples {
		sum += d
	}
	return float64(sum.Nanoseconds()) / float64(len(samples))
}

// peaks notes how much memory the process has held at once, and how many
// goroutines were seen by the watch.
func (m *Meter) peaks(w *watch) {
	goroutines := w.stop()
	m.set("peak-B", float64(memory.Peak()))
	m.set("peak-goroutines", float64(goroutines))
}

// A watch looks at the number of goroutines every few milliseconds.
type watch struct {
	done chan struct{}
	peak chan int
}

func startWatch() *watch {
	w := &watch{done: make(chan struct{}), peak: make(chan int)}
	// The watch itself and the goroutine that measures are no part of the figure.
	before := runtime.NumGoroutine() + 1
	go func() {
		peak := 0
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, runtime.NumGoroutine()-before)
			select {
			case <-tick.C:
			case <-w.done:
				w.peak <- peak
				return
			}
		}
	}()
	return w
}

func (w *watch) stop() int {
	close(w.done)
	return <-w.peak
}
