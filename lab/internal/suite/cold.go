package suite

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// The cold suite measures what most programs do with a pool or a group. A handler that has waited for its
// client, or computed, submits a few calls and waits for them. A loop that does nothing else would keep
// everything warm, and each contender would find the machine in the state in which it had left it itself.
var coldSuite = Suite{
	Name:  "cold",
	Title: "A few tasks, after a pause",
	About: "A few tasks that are handed over together and waited for, after a pause in which the goroutine has slept or computed.",
	Experiments: func(s Scale) []Experiment {
		var list []Experiment
		for _, length := range pick(s, []time.Duration{0, 2 * time.Microsecond, 10 * time.Microsecond, 50 * time.Microsecond, 200 * time.Microsecond},
			[]time.Duration{0, 10 * time.Microsecond}) {
			for _, tasks := range pick(s, []int{1, 2, 3, 5, 10, 30}, []int{3}) {
				list = append(list, few(s, tasks, length))
			}
		}
		return list
	},
}

const (
	coldLimit = 64
	longPause = 200 * time.Microsecond           // the longest pause
	meanPause = longPause/4 + time.Millisecond/2 // on an idle machine, a sleep shorter than a millisecond takes about a millisecond
	warmSets  = 20                               // sets before those that count: pools then have workers, as in a program that has run for a while
)

// few measures the median of all sets of a contender. The contender changes after each set, in random order.
func few(s Scale, tasks int, length time.Duration) Experiment {
	sets := pick(s, 300, 40)
	var peers []peer.Peer
	var names []Contender
	for _, p := range peer.All() {
		if p.Set != nil {
			p.Open = p.Set
		}
		if fewForms[p.Name] {
			peers, names = append(peers, p), append(names, Contender{Name: p.Name})
		}
	}
	return Experiment{
		ID:         id(s.Cores, "few", "work", length, "tasks", tasks),
		About:      "all tasks of a small set, each of which computes for that long, from the first submission until all have ended",
		Contenders: names,
		Rounds:     pick(s, 0, 3),
		Turn:       time.Duration(warmSets+sets) * (meanPause + time.Duration(tasks)*length/2),
		Together: func(meters []Meter) {
			task := nothing
			if length > 0 {
				n := rootsIn(length)
				task = func() { roots(n) }
			}
			samples := make([][]time.Duration, len(peers))
			runners := make([]peer.Runner, len(peers))
			for k, p := range peers {
				runners[k] = p.Open(coldLimit, task)
				samples[k] = make([]time.Duration, 0, warmSets+sets)
			}
			runtime.GC()
			for range warmSets + sets {
				for _, k := range rand.Perm(len(peers)) {
					pause()
					begin := time.Now()
					runners[k].Submit(0, tasks)
					must(runners[k].Wait())
					samples[k] = append(samples[k], time.Since(begin))
				}
			}
			for k, r := range runners {
				all := samples[k][warmSets:]
				slices.Sort(all)
				meters[k].N = len(all)
				meters[k].Add("ns/op", float64(all[len(all)/2].Nanoseconds()))
				r.Close()
			}
		},
	}
}

// fewForms are the forms that a handler would use. The work in place is not among them, as tasks exist to avoid it.
var fewForms = map[string]bool{
	"weir.Pool": true, "weir.FuncPool": true, "weir.PoolGroup": true, "weir.Group": true, "weir.errgroup": true,
	"go": true, "errgroup": true, "errgroup.context": true, "conc": true, "ants": true, "pond": true, "workerpool": true, "gopool": true,
}

// pause sleeps or computes for a random time.
func pause() {
	length := rand.N(longPause)
	if rand.IntN(2) == 0 {
		time.Sleep(length)
		return
	}
	for begin := time.Now(); time.Since(begin) < length; {
		roots(100)
	}
}

// rootsIn returns how many square roots take that long on an idle machine.
func rootsIn(length time.Duration) int {
	const n = 1000
	best := time.Hour
	for range 100 {
		begin := time.Now()
		roots(n)
		best = min(best, time.Since(begin))
	}
	return max(1, int(n*length/best))
}
