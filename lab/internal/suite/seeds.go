package suite

import (
	"runtime"
	"slices"
	"time"

	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/peer"
)

// The measurements of documents 000, 003 and 004: tasks that sleep.
const (
	nap     = 10 * time.Millisecond
	seedCap = 50_000
)

var seedsSuite = Suite{
	Name:  "seeds",
	Title: "A million tasks that sleep; throughput",
	About: "Tasks that sleep 10 ms, at most 50 000 at once; plain goroutines know no limit.",
	Experiments: func(s Scale) []Experiment {
		return slices.Concat(
			each(pick(s, []int{200_000, 1_000_000, 10_000_000}, []int{1_000_000}), func(n int) Experiment { return sleepers(s, s.Cores, n) }),
			each(pick(s, []int{100_000, 1_000_000, 10_000_000}, []int{100_000}), func(n int) Experiment {
				return asleep(s, s.Cores, n, "throughput", "handing over all tasks, each of which sleeps 10 ms, without waiting for their end", false)
			}),
		)
	},
}

func sleepers(s Scale, procs, n int) Experiment {
	return asleep(s, procs, n, "sleep", "all tasks together, each of which sleeps 10 ms, until the last has ended", true)
}

// asleep submits n tasks that sleep. If untilTheEnd is set, the time includes their ends.
func asleep(s Scale, procs, n int, name, about string, untilTheEnd bool) Experiment {
	return Experiment{
		ID:    id(procs, name, "tasks", n, "limit", seedCap),
		About: about,
		Turn:  time.Duration(n) * 1600 * time.Nanosecond,
		Contenders: contenders(s, concurrent, func(m *Meter, p peer.Peer) {
			r := p.Open(seedCap, func() { time.Sleep(nap) })
			before := runtime.NumGoroutine() + 1 // the watch is not counted, nor the goroutine that measures
			most := memory.Watch(2*time.Millisecond, func() int { return runtime.NumGoroutine() - before })
			m.time(1, func() {
				r.Submit(0, n)
				if untilTheEnd {
					must(r.Wait())
				}
			})
			peak := most()
			m.Add("peak-B", float64(memory.Peak()))
			m.Add("peak-goroutines", float64(peak))
			must(r.Wait())
			r.Close()
		}),
	}
}
