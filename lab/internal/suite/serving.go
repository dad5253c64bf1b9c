package suite

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

// A strategy is a way to get an object for a request. open prepares it for requests of which at most limit
// are served at once.
type strategy struct {
	name string
	open func(limit int) server
}

// A server serves requests.
type server struct {
	// serve returns when it has served one request.
	serve func()

	// all serves n requests. If all is nil, as many goroutines as may run at once share the requests, and
	// each calls serve.
	all func(n int)

	close func() // nil if there is nothing to end
}

func serving(s Scale, procs int, experiment string, strategies []strategy) Experiment {
	e := Experiment{
		ID:    id(procs, experiment),
		About: "one request, served by as many goroutines as there are processors",
		Turn:  pick(s, 2*shortTurn, shortTurn*4/3), // the latency samples have a run of their own
	}
	for _, way := range strategies {
		e.Contenders = append(e.Contenders, Contender{Name: way.name, Measure: way.measure})
	}
	return e
}

func (way strategy) measure(m *Meter) {
	limit := runtime.GOMAXPROCS(0)
	s := way.open(limit)
	if s.close != nil {
		defer s.close()
	}
	all := s.all
	if all == nil {
		all = func(n int) {
			shared(limit, n, func(lo, hi int) {
				for range hi - lo {
					s.serve()
				}
			})
		}
	}
	var before, after runtime.MemStats
	m.throughput(func(n int) {
		runtime.ReadMemStats(&before)
		all(n)
		runtime.ReadMemStats(&after)
	})
	m.Add("gc/Mop", float64(after.NumGC-before.NumGC)/float64(m.N)*1e6)
	m.Add("pause-ns/op", float64(after.PauseTotalNs-before.PauseTotalNs)/float64(m.N))
	m.Latency(limit, s.serve)
}

// shared runs a goroutine for each part of n, and waits for them.
func shared(parts, n int, run func(lo, hi int)) {
	var live sync.WaitGroup
	for k := range parts {
		live.Go(func() { run(k*n/parts, (k+1)*n/parts) })
	}
	live.Wait()
}

// Latency measures how long a request takes from start to end, while several goroutines serve requests, each
// one after the other. It times only some requests, because reading the clock takes as long as a short request.
func (m *Meter) Latency(goroutines int, serve func()) {
	const most = 10_000 // samples of each goroutine; few enough to be no load for the collector
	clock := clockCost()
	perRequest := max(m.Values[0].Value*float64(goroutines), 1)
	// An odd number: the allocator takes longer for, say, every eighth object of 1 KB, and timed requests
	// must meet that as often as others.
	apart := max(16, int(float64(m.Target)/perRequest/most)) | 1
	samples := make([][]time.Duration, goroutines)
	for k := range samples {
		samples[k] = make([]time.Duration, 0, most)
	}
	runtime.GC()
	begin := time.Now()
	shared(goroutines, goroutines, func(k, _ int) {
		mine := samples[k]
		for now := time.Since(begin); len(mine) == 0 || now < m.Target && len(mine) < most; {
			for range apart - 1 {
				serve()
			}
			now = time.Since(begin)
			serve()
			mine = append(mine, max(0, time.Since(begin)-now-clock))
		}
		samples[k] = mine
	})
	together := slices.Concat(samples...)
	slices.Sort(together)
	m.Add("mean-ns", mean(together))
	m.Add("p99-ns", float64(together[len(together)*99/100].Nanoseconds()))
}

// clockCost returns the measured time between two readings of the clock.
func clockCost() time.Duration {
	begin := time.Now()
	samples := make([]time.Duration, 1001)
	for k := range samples {
		now := time.Since(begin)
		samples[k] = time.Since(begin) - now
	}
	slices.Sort(samples)
	return samples[len(samples)/2]
}
