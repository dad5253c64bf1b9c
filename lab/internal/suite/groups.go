package suite

import (
	"context"
	"runtime"
	"time"

	"github.com/64ed045f/weir/lab/internal/memory"
	"github.com/64ed045f/weir/lab/internal/peer"
)

func groups(s Scale) []Experiment {
	var list []Experiment
	succeed := func(ctx context.Context) error { return ctx.Err() }
	for _, from := range []string{"1", allCores} {
		for _, closure := range pick(s, []string{"none", "each"}, []string{"none"}) {
			work := peer.GroupWork{Same: succeed}
			if closure == "each" {
				work = peer.GroupWork{Each: func(ctx context.Context, _ int) error { return ctx.Err() }}
			}
			list = append(list, Experiment{
				ID:    id(s.Cores, "group", "limit", 64, "producers", from, "closure", closure),
				About: "one task that gets a context and returns an error, from its submission until all have finished",
				Contenders: allForms(func(p peer.Peer) bool { return p.Group != nil }, func(m *Meter, p peer.Peer) {
					g := p.Group(context.Background(), 64, work)
					defer g.Close()
					m.throughput(func(n int) {
						submit(g, producers(from), n)
						must(g.Wait())
					})
				}),
			})
		}
	}
	return list
}

// results measures groups whose tasks return values, all made again for each 10 000 tasks.
func results(s Scale) Experiment {
	const size, limit = 10_000, 64
	value := func(i int) (int, error) { return i, nil }
	return Experiment{
		ID:    id(s.Cores, "results", "tasks", size, "limit", limit),
		About: "one of 10 000 empty tasks that return a value, until all values are there in the order of the tasks",
		Contenders: allForms(func(p peer.Peer) bool { return p.Collect != nil }, func(m *Meter, p peer.Peer) {
			m.throughput(func(n int) {
				for begin := 0; begin < n; begin += size {
					_, err := p.Collect(limit, min(size, n-begin), value)
					must(err)
				}
			})
		}),
	}
}

// nested measures recursion: tasks that submit tasks and wait for them.
func nested(s Scale) Experiment {
	n := pick(s, 27, 20)
	return Experiment{
		ID:    id(s.Cores, "nested", "fibonacci", n),
		About: "a Fibonacci number by recursion, two tasks for each number above 1",
		Turn:  pick(s, time.Second, 100*time.Millisecond),
		Contenders: allForms(func(p peer.Peer) bool { return p.Fibonacci != nil }, func(m *Meter, p peer.Peer) {
			p.Fibonacci(runtime.GOMAXPROCS(0), n/2)
			m.time(1, func() { p.Fibonacci(runtime.GOMAXPROCS(0), n) })
			m.Add("peak-B", float64(memory.Peak()))
		}),
	}
}
