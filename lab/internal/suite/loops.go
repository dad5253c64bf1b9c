package suite

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/peer"
)

func loop(s Scale) []Experiment {
	const n = 1_000_000
	return each(pick(s, s.oneAndAll(), []int{s.Cores}), func(procs int) Experiment {
		return Experiment{
			ID:    id(procs, "loop", "items", n),
			About: "a loop over 10⁶ numbers, one square root each",
			Contenders: allForms(func(p peer.Peer) bool { return p.Loop != nil }, func(m *Meter, p peer.Peer) {
				items := make([]float64, n)
				for i := range items {
					items[i] = float64(i)
				}
				m.repeated(p.Loop(runtime.GOMAXPROCS(0), items, squareRoot))
			}),
		}
	})
}

// skewed is a loop in which equal shares of the items are not equal shares of the work. The last hundredth of
// the items takes 99 % of the time, about 15 ms on the machine of the published results.
func skewed(s Scale) Experiment {
	const n, light, heavy = 10_000, 3, 3 * 99 * 99 // square roots
	return Experiment{
		ID:    id(s.Cores, "skewed", "items", n),
		About: "a loop over 10 000 items, of which the last 100 take 99 % of the time: 3 square roots each of the others, 29 403 of these",
		Contenders: allForms(func(p peer.Peer) bool { return p.Loop != nil }, func(m *Meter, p peer.Peer) {
			items := make([]float64, n)
			for i := range items {
				items[i] = light
				if i >= n-n/100 {
					items[i] = heavy
				}
			}
			m.repeated(p.Loop(runtime.GOMAXPROCS(0), items, someRoots))
		}),
	}
}

// stream measures results that are used one by one, in order. On the machine of the published results higher
// limits, up to 64, made no peer faster.
func stream(s Scale) Experiment {
	const size = 100_000
	return Experiment{
		ID:    id(s.Cores, "stream", "items", size),
		About: "one item of an ordered stream of 100 000: a function that does nothing, and a consumer that adds up what it returns",
		Contenders: allForms(func(p peer.Peer) bool { return p.Stream != nil }, func(m *Meter, p peer.Peer) {
			sum := 0
			m.throughput(func(n int) {
				for begin := 0; begin < n; begin += size {
					p.Stream(runtime.GOMAXPROCS(0), min(size, n-begin), func(i int) int { return i }, func(value int) { sum += value })
				}
			})
		}),
	}
}

// sorted sorts the same random integers in each turn.
func sorted(s Scale) Experiment {
	n := pick(s, 10_000_000, 1_000_000)
	return Experiment{
		ID:    id(s.Cores, "sort", "items", n),
		About: "random integers, sorted; by quicksort, with two tasks for each part that is divided, where nothing else is said",
		Turn:  pick(s, time.Second, 150*time.Millisecond),
		Contenders: allForms(func(p peer.Peer) bool { return p.Sort != nil }, func(m *Meter, p peer.Peer) {
			random := rand.New(rand.NewPCG(1, 2))
			items := make([]int, n)
			for i := range items {
				items[i] = random.Int()
			}
			p.Sort(runtime.GOMAXPROCS(0), slices.Clone(items[:n/100]))
			m.time(1, func() { p.Sort(runtime.GOMAXPROCS(0), items) })
			m.Add("peak-B", float64(memory.Peak()))
		}),
	}
}
