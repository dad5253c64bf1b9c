package suite

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

var dispatchSuite = Suite{
	Name:  "dispatch",
	Title: "What handing over a task costs",
	About: "Tasks that do nothing, or next to nothing: all that is measured is the library. " +
		"And what is built of tasks: loops, streams, recursion, a sort.",
	LeftOut: "GOMAXPROCS other than the number of cores, further forms of each library, most combinations of limit " +
		"and producers, 900 000 of the million tasks that block, nine tenths of the numbers to sort, and most of the recursion",
	Experiments: func(s Scale) []Experiment {
		var list []Experiment
		list = append(list, empty(s)...)
		list = append(list, bursts(s)...)
		list = append(list, lone(s)...)
		list = append(list, groups(s)...)
		list = append(list, forkJoin(s)...)
		list = append(list, results(s), nested(s))
		list = append(list, loop(s)...)
		list = append(list, skewed(s), stream(s), sorted(s))
		list = append(list, newClose(s), idlePools(s), blocked(s), queued(s))
		return list
	},
}

const shortTurn = 120 * time.Millisecond

func empty(s Scale) []Experiment {
	type setting struct {
		limit     int
		producers string
		procs     int
	}
	var settings []setting
	for _, procs := range s.procs() {
		for _, producers := range []string{"1", allCores} {
			if procs == 1 && producers == allCores {
				continue
			}
			for _, limit := range []int{2, 64, 50_000} {
				if s.Full || limit == 64 || producers == "1" {
					settings = append(settings, setting{limit, producers, procs})
				}
			}
		}
	}
	var list []Experiment
	for _, at := range settings {
		list = append(list, Experiment{
			ID: record.ID{
				Experiment: "empty", Procs: at.procs,
				Params: []record.Setting{param("limit", at.limit), param("producers", at.producers)},
			},
			About:  "one empty task, from its submission until all have finished",
			Rounds: s.rounds(shortTurn), Turn: shortTurn,
			Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
				r := p.Open(at.limit, peer.Work{Same: nothing})
				defer r.Close()
				m.throughput(func(n int) {
					submit(r, producers(at.producers), n)
					r.Wait()
				})
			}),
		})
	}
	return list
}

func bursts(s Scale) []Experiment {
	var list []Experiment
	for _, size := range pick(s, []int{10, 100, 1000}, []int{100}) {
		list = append(list, Experiment{
			ID: record.ID{
				Experiment: "burst", Procs: s.Cores,
				Params: []record.Setting{param("tasks", size), param("limit", 64)},
			},
			About:  "one empty task of a burst, when the next burst begins after the last has ended",
			Rounds: s.rounds(shortTurn), Turn: shortTurn,
			Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
				r := p.Open(64, peer.Work{Same: nothing})
				defer r.Close()
				m.throughput(func(n int) {
					for begin := 0; begin < n; begin += size {
						r.Submit(0, min(size, n-begin))
						r.Wait()
					}
				})
			}),
		})
	}
	return list
}

func lone(s Scale) []Experiment {
	var list []Experiment
	for _, pause := range []time.Duration{0, time.Millisecond} {
		samples := 20_000
		if pause > 0 {
			samples = pick(s, 1000, 150)
		}
		turn := 50*time.Millisecond + time.Duration(samples)*(pause+pause/10+time.Microsecond)
		list = append(list, Experiment{
			ID:     record.ID{Experiment: "lone", Procs: s.Cores, Params: []record.Setting{param("pause", pause)}},
			About:  "from the submission of a task to an idle pool until the task starts: the median, and the slowest",
			Rounds: s.rounds(turn), Turn: turn,
			Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
				var begin time.Time
				took := make(chan time.Duration)
				r := p.Open(2, peer.Work{Same: func() { took <- time.Since(begin) }})
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
				r.Wait()
				m.percentiles(all)
			}),
		})
	}
	return list
}

// forkRoots makes a task of about 0.7 µs on the machine of the published results.
const forkRoots = 150

func forkJoin(s Scale) []Experiment {
	const tasks = 10
	return []Experiment{{
		ID:     record.ID{Experiment: "forkjoin", Procs: s.Cores, Params: []record.Setting{param("tasks", tasks)}},
		About:  "10 tasks of 150 square roots each, handed over together and waited for",
		Rounds: s.rounds(shortTurn), Turn: shortTurn,
		Contenders: contenders(s, func(p peer.Peer) bool { return p.Open != nil }, func(m *Meter, p peer.Peer) {
			r := p.Open(runtime.GOMAXPROCS(0), peer.Work{Same: func() { roots(forkRoots) }})
			defer r.Close()
			m.throughput(func(n int) {
				for range n {
					r.Submit(0, tasks)
					r.Wait()
				}
			})
		}),
	}}
}

func newClose(s Scale) Experiment {
	return Experiment{
		ID:     record.ID{Experiment: "newclose", Procs: s.Cores, Params: []record.Setting{param("limit", 64)}},
		About:  "making a pool, and closing it unused",
		Rounds: s.rounds(shortTurn), Turn: shortTurn,
		Contenders: contenders(s, func(p peer.Peer) bool { return p.New != nil }, func(m *Meter, p peer.Peer) {
			m.throughput(func(n int) {
				for range n {
					p.New(64)()
				}
			})
		}),
	}
}

func idlePools(s Scale) Experiment {
	const pools = 10_000
	turn := 250 * time.Millisecond
	return Experiment{
		ID:     record.ID{Experiment: "idlepools", Procs: s.Cores, Params: []record.Setting{param("pools", pools)}},
		About:  "memory and goroutines of a pool that has run one task and waits for the next",
		Rounds: s.rounds(turn), Turn: turn,
		Contenders: contenders(s, func(p peer.Peer) bool { return p.New != nil && p.Open != nil }, func(m *Meter, p peer.Peer) {
			open := make([]peer.Runner, pools)
			// In this order: while the stacks of ended goroutines are freed they count as goroutines.
			memory := inUse()
			goroutines := runtime.NumGoroutine()
			for i := range open {
				open[i] = p.Open(8, peer.Work{Same: nothing})
				open[i].Submit(0, 1)
				open[i].Wait()
			}
			m.N = pools
			m.set("B/pool", float64(inUse()-memory)/pools)
			m.set("goroutines/pool", float64(max(0, runtime.NumGoroutine()-goroutines))/pools)
			// The process ends here: closing 10 000 pools takes some of them minutes.
			runtime.KeepAlive(open)
		}),
	}
}

// inUse is what the heap and the stacks hold now, in bytes.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what had a finalizer or lay in a sync.Pool
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapInuse + stats.StackInuse)
}

func blocked(s Scale) Experiment {
	n := pick(s, 1_000_000, 100_000)
	turn := time.Duration(n) * 2 * time.Microsecond
	return Experiment{
		ID:     record.ID{Experiment: "blocked", Procs: s.Cores, Params: []record.Setting{param("tasks", n)}},
		About:  "one of many tasks that all run at once, until a channel is closed; the limit is their number",
		Rounds: s.rounds(turn), Turn: turn,
		Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
			var started atomic.Int64
			release := make(chan struct{})
			all := make(chan struct{})
			r := p.Open(n, peer.Work{Same: func() {
				if started.Add(1) == int64(n) {
					close(all)
				}
				<-release
			}})
			defer r.Close()
			m.time(n, func() {
				r.Submit(0, n)
				<-all
				close(release)
				r.Wait()
			})
			m.set("peak-B", float64(memory.Peak()))
		}),
	}
}

func queued(s Scale) Experiment {
	const limit = 64
	n := pick(s, 1_000_000, 100_000)
	turn := time.Duration(n) * 2 * time.Microsecond
	return Experiment{
		ID: record.ID{
			Experiment: "queued", Procs: s.Cores,
			Params: []record.Setting{param("tasks", n), param("limit", limit)},
		},
		About:  "one of many tasks that are accepted at once, while the limit lets 64 run and these block",
		Rounds: s.rounds(turn), Turn: turn,
		Contenders: contenders(s, func(p peer.Peer) bool { return p.Queued != nil }, func(m *Meter, p peer.Peer) {
			release := make(chan struct{})
			r := p.Queued(limit, n, peer.Work{Same: func() { <-release }})
			defer r.Close()
			m.time(n, func() {
				r.Submit(0, n)
				close(release)
				r.Wait()
			})
			m.set("peak-B", float64(memory.Peak()))
		}),
	}
}
