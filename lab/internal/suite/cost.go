package suite

import (
	"runtime"
	"time"

	"github.com/64ed045f/weir/lab/internal/peer"
)

var costSuite = Suite{
	Name:  "cost",
	Title: "From what length a task pays",
	About: "Tasks of 1 to 5000 square roots, 1000 to 700 000 of them: in a loop, each in a goroutine, each in a pool.",
	Experiments: func(s Scale) []Experiment {
		var list []Experiment
		for _, procs := range pick(s, s.oneAndAll(), []int{s.Cores}) {
			for _, length := range []int{1, 10, 100, 1000, 5000} {
				list = append(list, each(pick(s, []int{1000, 3000, 10_000, 30_000, 100_000, 300_000, 700_000}, []int{10_000}), func(tasks int) Experiment {
					return curve(s, procs, length, tasks)
				})...)
			}
		}
		return list
	},
}

func curve(s Scale, procs, length, tasks int) Experiment {
	const rootTime = 5 * time.Nanosecond
	turn := max(shortTurn/2, time.Duration(tasks)*(time.Duration(length)*rootTime+200*time.Nanosecond))
	names := pick(s, []string{peer.InPlace, peer.Go, "weir.Pool", "weir.FuncPool"}, []string{peer.InPlace, peer.Go, "weir.FuncPool"})
	e := Experiment{
		ID:    id(procs, "curve", "roots", length, "tasks", tasks),
		About: "one task, when so many run and are waited for; gc-ns/op has the collection afterwards too",
		Turn:  turn,
	}
	for _, name := range names {
		p := peer.Find(name)
		e.Contenders = append(e.Contenders, Contender{Name: name, Measure: func(m *Meter) {
			r := p.Open(runtime.GOMAXPROCS(0), func() { roots(length) })
			defer r.Close()
			run := func() {
				r.Submit(0, tasks)
				must(r.Wait())
			}
			run()
			runtime.GC()
			// A few thousand short tasks take less time than the clock needs for a useful reading, and a
			// collection takes longer than they do.
			const enough, most = 30 * time.Millisecond, 100
			var work, all time.Duration
			for all < enough && m.N < most*tasks {
				begin := time.Now()
				run()
				done := time.Now()
				runtime.GC()
				all += time.Since(begin)
				work += done.Sub(begin)
				m.N += tasks
			}
			m.Add("ns/op", float64(work.Nanoseconds())/float64(m.N))
			m.Add("gc-ns/op", float64(all.Nanoseconds())/float64(m.N))
		}})
	}
	return e
}
