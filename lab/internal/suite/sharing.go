package suite

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
	"golang.org/x/sync/singleflight"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/lab/internal/peer"
)

var sharingSuite = Suite{
	Name:  "sharing",
	Title: "Places and values that are shared",
	About: "Parts of a pool, each with a queue of its own: what a task of one costs, and how long tasks wait behind those of another. And calls that share a value.",
	Experiments: func(s Scale) []Experiment {
		return slices.Concat([]Experiment{emptyInPart(s)}, tenants(s), calls(s))
	},
}

// parted are pools of which two users have a part each, if the library has parts. open returns the submit
// functions of the two parts. No part has a limit below that of the pool.
var parted = []struct {
	name string
	open func(limit int) (one, other func(task func()) error, end func())
}{
	{"weir.Pool", func(limit int) (one, other func(func()) error, end func()) {
		p := weir.New(limit)
		return p.Submit, p.Submit, p.Close
	}},
	{"weir.Lane", func(limit int) (one, other func(func()) error, end func()) {
		p := weir.New(limit)
		return p.Lane(limit).Submit, p.Lane(limit).Submit, p.Close
	}},
	{"weir.Keyed", func(limit int) (one, other func(func()) error, end func()) {
		p := weir.New(limit)
		keys := weir.NewKeyed[string](p, limit)
		of := func(key string) func(func()) error {
			return func(task func()) error { return keys.Submit(key, task) }
		}
		return of("one"), of("other"), p.Close
	}},
	{"pond", func(limit int) (one, other func(func()) error, end func()) {
		p := pond.NewPool(limit)
		return p.Go, p.Go, p.StopAndWait
	}},
	{"pond.subpool", func(limit int) (one, other func(func()) error, end func()) {
		p := pond.NewPool(limit)
		a, b := p.NewSubpool(limit), p.NewSubpool(limit)
		return a.Go, b.Go, func() {
			a.StopAndWait()
			b.StopAndWait()
			p.StopAndWait()
		}
	}},
}

// emptyInPart makes all contenders wait in the same way, because not all parts have a wait.
func emptyInPart(s Scale) Experiment {
	const limit = 64
	e := Experiment{
		ID:    id(s.Cores, "empty", "limit", limit),
		About: "one task of one part that only counts itself, from its submission until all have finished",
	}
	for _, p := range parted {
		e.Contenders = append(e.Contenders, Contender{Name: p.name, Measure: func(m *Meter) {
			submit, _, end := p.open(limit)
			defer end()
			var live sync.WaitGroup
			task := live.Done
			m.throughput(func(n int) {
				live.Add(n)
				for range n {
					must(submit(task))
				}
				live.Wait()
			})
		}})
	}
	return e
}

func tenants(s Scale) []Experiment {
	const limit, long, short = 4, 5 * time.Millisecond, time.Millisecond
	before := pick(s, 800, 80)
	return each([]int{1, 40}, func(tasks int) Experiment {
		e := Experiment{
			ID: id(s.Cores, "tenants", "tasks", tasks, "before", before, "limit", limit),
			About: "tasks of 1 ms in one part, from the first submission until all have ended, where tasks of 5 ms were submitted to another part before, " +
				"and the first of them run",
			Turn: time.Duration(before/limit) * long * 4 / 5, // some contenders take all of that time, and some almost none
		}
		for _, p := range parted {
			e.Contenders = append(e.Contenders, Contender{Name: p.name, Measure: func(m *Meter) {
				many, few, end := p.open(limit)
				defer end()
				over := make(chan struct{})
				defer close(over) // lets the remaining tasks end early
				var busy, live sync.WaitGroup
				busy.Add(limit)
				for i := range before {
					must(many(func() {
						if i < limit {
							busy.Done()
						}
						select {
						case <-time.After(long):
						case <-over:
						}
					}))
				}
				busy.Wait()
				live.Add(tasks)
				begin := time.Now()
				for range tasks {
					must(few(func() {
						time.Sleep(short)
						live.Done()
					}))
				}
				live.Wait()
				m.N = 1
				m.Add("ns/op", float64(time.Since(begin).Nanoseconds()))
			}})
		}
		return e
	})
}

// calls measures calls that share a value, which is ready as soon as all callers have asked for it. A caller
// that is delayed after it has asked computes again, so runs/op is a little more than 1 even where calls
// share the value.
func calls(s Scale) []Experiment {
	return each([]int{1, 16}, func(callers int) Experiment {
		var asked, runs atomic.Int64
		compute := func() (int, error) {
			runs.Add(1)
			for asked.Load() < int64(callers) {
				runtime.Gosched()
			}
			return 1, nil
		}
		measure := func(m *Meter, call func() error) {
			one := func(int, int) {
				asked.Add(1)
				must(call())
			}
			m.throughput(func(n int) {
				runs.Store(0)
				for range n {
					asked.Store(0)
					if callers == 1 {
						one(0, 1)
						continue
					}
					shared(callers, callers, one)
				}
			})
			m.Add("runs/op", float64(runs.Load())/float64(m.N))
		}
		return Experiment{
			ID:    id(s.Cores, "calls", "callers", callers),
			About: "calls for one key, from the first until all have its value; with several callers each has a goroutine, made for it",
			Contenders: []Contender{
				{Name: "weir.Once", Measure: func(m *Meter) {
					p := weir.New(64)
					defer p.Close()
					ctx, cancel := context.WithCancel(context.Background()) // like the contexts of requests
					defer cancel()
					values := weir.NewOnce[string, int](p)
					measure(m, func() error {
						_, err := values.Do(ctx, "key", func(context.Context) (int, error) { return compute() })
						return err
					})
				}},
				{Name: "singleflight", Measure: func(m *Meter) {
					var values singleflight.Group
					measure(m, func() error {
						_, err, _ := values.Do("key", func() (any, error) { return compute() })
						return err
					})
				}},
				{Name: peer.Go, Measure: func(m *Meter) { // each caller computes for itself
					measure(m, func() error {
						_, err := compute()
						return err
					})
				}},
			},
		}
	})
}
