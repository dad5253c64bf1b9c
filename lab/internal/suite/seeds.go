package suite

import (
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// What documents 000, 003 and 004 measure: tasks that sleep.
const (
	nap     = 10 * time.Millisecond
	seedCap = 50_000
)

var seedsSuite = Suite{
	Name:    "seeds",
	Title:   "A million tasks that sleep; throughput",
	About:   "Tasks that sleep 10 ms, at most 50 000 at once; plain goroutines know no limit.",
	LeftOut: "10⁷ tasks, throughput of 10⁶, and further forms of each library",
	Experiments: func(s Scale) []Experiment {
		var list []Experiment
		for _, n := range pick(s, []int{1_000_000, 10_000_000}, []int{1_000_000}) {
			list = append(list, sleepers(s, s.Cores, n))
		}
		for _, n := range pick(s, []int{100_000, 1_000_000, 10_000_000}, []int{100_000}) {
			list = append(list, handOver(s, n))
		}
		return list
	},
}

func sleepers(s Scale, procs, n int) Experiment {
	turn := time.Duration(n) * 1600 * time.Nanosecond
	return Experiment{
		ID: record.ID{
			Experiment: "sleep", Procs: procs,
			Params: []record.Setting{param("tasks", n), param("limit", seedCap)},
		},
		About:  "all tasks together, each of which sleeps 10 ms, until the last has ended",
		Rounds: s.rounds(turn), Turn: turn,
		Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
			r := p.Open(seedCap, peer.Work{Same: sleep})
			w := startWatch()
			m.time(1, func() {
				r.Submit(0, n)
				r.Wait()
			})
			m.peaks(w)
			r.Close()
		}),
	}
}

func handOver(s Scale, n int) Experiment {
	turn := time.Duration(n) * 1600 * time.Nanosecond
	return Experiment{
		ID: record.ID{
			Experiment: "throughput", Procs: s.Cores,
			Params: []record.Setting{param("tasks", n), param("limit", seedCap)},
		},
		About:  "handing over all tasks, each of which sleeps 10 ms, without waiting for their end",
		Rounds: s.rounds(turn), Turn: turn,
		Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
			r := p.Open(seedCap, peer.Work{Same: sleep})
			w := startWatch()
			m.time(1, func() { r.Submit(0, n) })
			m.peaks(w)
			r.Wait()
			r.Close()
		}),
	}
}

func sleep() { time.Sleep(nap) }
