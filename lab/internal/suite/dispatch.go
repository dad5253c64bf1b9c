package suite

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/peer"
)

var dispatchSuite = Suite{
	Name:  "dispatch",
	Title: "What handing over a task costs",
	About: "Tasks that do nothing, or next to nothing: all that is measured is the library. " +
		"And what is built of tasks: loops, streams, recursion, a sort.",
	Experiments: func(s Scale) []Experiment {
		return slices.Concat(
			empty(s), bursts(s), lone(s), groups(s), []Experiment{forkJoin(s), results(s), nested(s)}, loop(s),
			[]Experiment{skewed(s), stream(s), sorted(s), newClose(s), idlePools(s)}, blocked(s), []Experiment{queued(s)},
		)
	},
}

const shortTurn = 120 * time.Millisecond

func empty(s Scale) []Experiment {
	var list []Experiment
	for _, procs := range s.procs() {
		for _, from := range []string{"1", allCores} {
			if procs == 1 && from == allCores {
				continue
			}
			limits := pick(s, []int{2, 64, 50_000}, []int{2, 64}) // suite seeds also has the third
			if !s.Full && from == allCores {
				limits = []int{64}
			}
			list = append(list, each(limits, func(limit int) Experiment {
				return Experiment{
					ID:    id(procs, "empty", "limit", limit, "producers", from),
					About: "one empty task, from its submission until all have finished",
					Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
						r := p.Open(limit, nothing)
						defer r.Close()
						m.throughput(func(n int) {
							submit(r, producers(from), n)
							must(r.Wait())
						})
					}),
				}
			})...)
		}
	}
	return list
}

func bursts(s Scale) []Experiment {
	return each(pick(s, []int{10, 100, 1000}, []int{100}), func(size int) Experiment {
		return Experiment{
			ID:    id(s.Cores, "burst", "tasks", size, "limit", 64),
			About: "one empty task of a burst, when the next burst begins after the last has ended",
			Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
				r := p.Open(64, nothing)
				defer r.Close()
				m.throughput(func(n int) {
					for begin := 0; begin < n; begin += size {
						r.Submit(0, min(size, n-begin))
						must(r.Wait())
					}
				})
			}),
		}
	})
}

func lone(s Scale) []Experiment {
	return each([]time.Duration{0, time.Millisecond}, func(pause time.Duration) Experiment {
		samples := 20_000
		if pause > 0 {
			samples = pick(s, 1000, 90)
		}
		return Experiment{
			ID:    id(s.Cores, "lone", "pause", pause),
			About: "from the submission of a task to an idle pool until the task starts: the median, and the slowest",
			Turn:  50*time.Millisecond + time.Duration(samples)*(pause+pause/10+time.Microsecond),
			Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
				var begin time.Time
				took := make(chan time.Duration)
				r := p.Open(2, func() { took <- time.Since(begin) })
				defer r.Close()
				all := make([]time.Duration, 0, samples)
				for range samples / 10 {
					r.Submit(0, 1)
					<-took
				}
				for range samples {
					time.Sleep(pause)
					begin = time.Now()
					r.Submit(0, 1)
					all = append(all, <-took)
				}
				must(r.Wait())
				m.percentiles(all)
			}),
		}
	})
}

func forkJoin(s Scale) Experiment {
	const tasks, length = 10, 150 // about 0.7 µs on the machine of the published results
	return Experiment{
		ID:    id(s.Cores, "forkjoin", "tasks", tasks),
		About: "10 tasks of 150 square roots each, handed over together and waited for",
		Contenders: contenders(s, func(p peer.Peer) bool { return p.Open != nil }, func(m *Meter, p peer.Peer) {
			r := p.Open(runtime.GOMAXPROCS(0), func() { roots(length) })
			defer r.Close()
			m.repeated(func() {
				r.Submit(0, tasks)
				must(r.Wait())
			})
		}),
	}
}

func newClose(s Scale) Experiment {
	return Experiment{
		ID:    id(s.Cores, "newclose", "limit", 64),
		About: "making a pool, and closing it unused",
		Contenders: contenders(s, func(p peer.Peer) bool { return p.New != nil }, func(m *Meter, p peer.Peer) {
			m.repeated(func() { p.New(64)() })
		}),
	}
}

func idlePools(s Scale) Experiment {
	const pools = 10_000
	return Experiment{
		ID:     id(s.Cores, "idlepools", "pools", pools),
		About:  "memory and goroutines of a pool that has run one task and waits for the next",
		Rounds: pick(s, 0, 3), // all rounds are alike
		Turn:   250 * time.Millisecond,
		Contenders: contenders(s, func(p peer.Peer) bool { return p.New != nil && p.Open != nil }, func(m *Meter, p peer.Peer) {
			open := make([]peer.Runner, pools)
			// In this order: goroutines that have ended count as goroutines until their stacks are freed.
			memory := inUse()
			goroutines := runtime.NumGoroutine()
			for i := range open {
				open[i] = p.Open(8, nothing)
				open[i].Submit(0, 1)
				must(open[i].Wait())
			}
			m.N = pools
			m.Add("B/pool", float64(inUse()-memory)/pools)
			m.Add("goroutines/pool", float64(max(0, runtime.NumGoroutine()-goroutines))/pools)
			// The process ends here without closing the pools: for some libraries, closing 10 000 pools takes
			// minutes.
			runtime.KeepAlive(open)
		}),
	}
}

// inUse returns the bytes that the heap and the stacks hold now.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // collect objects that had a finalizer or were in a sync.Pool
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapInuse + stats.StackInuse)
}

func blocked(s Scale) []Experiment {
	return each(pick(s, []int{1000, 10_000, 100_000, 1_000_000}, []int{100_000}), func(n int) Experiment {
		return Experiment{
			ID:    id(s.Cores, "blocked", "tasks", n),
			About: "one of many tasks that all run at once, until a channel is closed; the limit is their number",
			Turn:  max(shortTurn, time.Duration(n)*2*time.Microsecond),
			Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
				var started atomic.Int64
				release := make(chan struct{})
				all := make(chan struct{})
				r := p.Open(n, func() {
					if started.Add(1) == int64(n) {
						close(all)
					}
					<-release
				})
				defer r.Close()
				m.time(n, func() {
					r.Submit(0, n)
					<-all
					close(release)
					must(r.Wait())
				})
				m.Add("peak-B", float64(memory.Peak()))
			}),
		}
	})
}

func queued(s Scale) Experiment {
	const limit = 64
	n := pick(s, 1_000_000, 100_000)
	return Experiment{
		ID:    id(s.Cores, "queued", "tasks", n, "limit", limit),
		About: "one of many tasks that are accepted at once, while the limit lets 64 run and these block",
		Turn:  time.Duration(n) * 2 * time.Microsecond,
		Contenders: contenders(s, func(p peer.Peer) bool { return p.Queued != nil }, func(m *Meter, p peer.Peer) {
			release := make(chan struct{})
			r := p.Queued(limit, n, func() { <-release })
			defer r.Close()
			m.time(n, func() {
				r.Submit(0, n)
				close(release)
				must(r.Wait())
			})
			m.Add("peak-B", float64(memory.Peak()))
		}),
	}
}
