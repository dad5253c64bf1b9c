package weir_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// Run with
//
//	go test -run '^$' -bench . -benchmem -count 10 .
//
// and compare with benchstat. All times include the end of the last task: they use
// b.N, as b.Loop stops the clock before the tasks that are still queued then.

// runner runs tasks on some means, at most limit at once, and waits for them.
type runner interface {
	run(task func())
	wait()
	end()
}

type plainGo struct{ tasks sync.WaitGroup }

func (r *plainGo) run(task func()) { r.tasks.Go(task) }
func (r *plainGo) wait()           { r.tasks.Wait() }
func (r *plainGo) end()            {}

// semaphore is what is usually written by hand: a goroutine for each task, and a
// channel that bounds their number.
type semaphore struct {
	tasks sync.WaitGroup
	slots chan struct{}
}

func (r *semaphore) run(task func()) {
	r.slots <- struct{}{}
	r.tasks.Go(func() {
		task()
		<-r.slots
	})
}
func (r *semaphore) wait() { r.tasks.Wait() }
func (r *semaphore) end()  {}

type poolRunner struct{ p *weir.Pool }

func (r poolRunner) run(task func()) { must(r.p.Submit(task)) }
func (r poolRunner) wait()           { r.p.Wait() }
func (r poolRunner) end()            { r.p.Close() }

type funcRunner struct{ p *weir.FuncPool[func()] }

func (r funcRunner) run(task func()) { must(r.p.Invoke(task)) }
func (r funcRunner) wait()           { r.p.Wait() }
func (r funcRunner) end()            { r.p.Close() }

type groupRunner struct{ g *weir.Group }

func (r groupRunner) run(task func()) {
	r.g.Go(func(context.Context) error {
		task()
		return nil
	})
}
func (r groupRunner) wait() { must(r.g.Wait()) }
func (r groupRunner) end()  {}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

var runners = []struct {
	name string
	make func(limit int) runner
}{
	{"go", func(int) runner { return new(plainGo) }},
	{"semaphore", func(limit int) runner { return &semaphore{slots: make(chan struct{}, limit)} }},
	{"Pool", func(limit int) runner { return poolRunner{weir.New(limit)} }},
	{"FuncPool", func(limit int) runner { return funcRunner{weir.NewFunc(limit, func(task func()) { task() })} }},
	{"Group", func(limit int) runner { return groupRunner{weir.NewGroup(context.Background(), limit)} }},
}

var limits = []int{2, 64, 50_000}

func BenchmarkEmptyTask(b *testing.B) {
	for _, limit := range limits {
		for _, r := range runners {
			b.Run(fmt.Sprintf("limit=%d/%s", limit, r.name), func(b *testing.B) {
				r := r.make(limit)
				b.ReportAllocs()
				for range b.N {
					r.run(nothing)
				}
				r.wait()
				b.StopTimer()
				r.end()
			})
		}
	}
}

func BenchmarkEmptyTaskFromAllCores(b *testing.B) {
	for _, limit := range limits {
		for _, r := range runners {
			b.Run(fmt.Sprintf("limit=%d/%s", limit, r.name), func(b *testing.B) {
				r := r.make(limit)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						r.run(nothing)
					}
				})
				r.wait()
				b.StopTimer()
				r.end()
			})
		}
	}
}

// BenchmarkTaskLength is of tasks that compute for so long: the shorter they are, the more the workers get in each other's way.
func BenchmarkTaskLength(b *testing.B) {
	for _, length := range []time.Duration{0, 200 * time.Nanosecond, time.Microsecond, 5 * time.Microsecond} {
		task := computing(length)
		b.Run(length.String(), func(b *testing.B) {
			r := poolRunner{weir.New(64)}
			for range b.N {
				r.run(task)
			}
			r.wait()
			b.StopTimer()
			r.end()
		})
	}
}

// computing returns a task that computes for about so long.
func computing(length time.Duration) func() {
	const try = 1_000_000
	begin := time.Now()
	spin(try)
	n := int(length * try / time.Since(begin))
	return func() { spin(n) }
}

// BenchmarkSleepers is a flood of tasks that wait, as for a network: one operation
// is all of them.
func BenchmarkSleepers(b *testing.B) {
	const limit, pause = 50_000, 10 * time.Millisecond
	n := check.Scale(1_000_000, 100_000)
	sleep := func() { time.Sleep(pause) }
	for _, r := range runners {
		b.Run(fmt.Sprintf("tasks=%d/%s", n, r.name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := r.make(limit)
				for range n {
					r.run(sleep)
				}
				r.wait()
				r.end()
			}
		})
	}
}

// BenchmarkLoneTask is the way from a submission to the start of the task when
// nothing else happens.
func BenchmarkLoneTask(b *testing.B) {
	for _, r := range runners {
		b.Run(r.name, func(b *testing.B) {
			r := r.make(2)
			defer r.end()
			started := make(chan struct{})
			task := func() { started <- struct{}{} }
			b.ReportAllocs()
			for b.Loop() {
				r.run(task)
				<-started
			}
			r.wait()
		})
	}
}

func BenchmarkNewAndClose(b *testing.B) {
	b.Run("Pool", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			weir.New(64).Close()
		}
	})
	b.Run("Group", func(b *testing.B) {
		b.ReportAllocs()
		ctx := context.Background()
		for b.Loop() {
			must(weir.NewGroup(ctx, 64).Wait())
		}
	})
}

var sink atomic.Uint64

// shortWork takes about 0.7 µs.
func shortWork() {
	x := uint64(88172645463325252)
	for range 700 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		sink.Add(1)
	}
}

// BenchmarkForkJoin divides 10 short tasks and waits for them.
func BenchmarkForkJoin(b *testing.B) {
	const tasks = 10
	b.Run("in place", func(b *testing.B) {
		for b.Loop() {
			for range tasks {
				shortWork()
			}
		}
	})
	for _, r := range runners {
		b.Run(r.name, func(b *testing.B) {
			r := r.make(runtime.GOMAXPROCS(0))
			defer r.end()
			b.ReportAllocs()
			for b.Loop() {
				for range tasks {
					r.run(shortWork)
				}
				r.wait()
			}
		})
	}
	b.Run("Group on a pool", func(b *testing.B) {
		p := weir.New(runtime.GOMAXPROCS(0))
		defer p.Close()
		g := p.Group(context.Background())
		task := func(context.Context) error { shortWork(); return nil }
		b.ReportAllocs()
		for b.Loop() {
			for range tasks {
				g.Go(task)
			}
			must(g.Wait())
		}
	})
}

// BenchmarkGroup has context and error, and tasks that need no closure.
func BenchmarkGroup(b *testing.B) {
	const limit = 64
	ctx := context.Background()
	b.Run("go", func(b *testing.B) {
		// By hand: a wait group, a semaphore, and the first error cancels.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var tasks sync.WaitGroup
		slots := make(chan struct{}, limit)
		b.ReportAllocs()
		for range b.N {
			slots <- struct{}{}
			tasks.Go(func() {
				defer func() { <-slots }()
				if err := succeed(ctx); err != nil {
					cancel(err)
				}
			})
		}
		tasks.Wait()
	})
	p := weir.New(limit)
	defer p.Close()
	for name, g := range map[string]*weir.Group{
		"own workers": weir.NewGroup(ctx, limit),
		"on a pool":   p.Group(ctx),
		"Limit":       p.Group(ctx, weir.Limit(limit)),
		"KeepGoing":   p.Group(ctx, weir.KeepGoing()),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				g.Go(succeed)
			}
			must(g.Wait())
		})
	}
}

// BenchmarkBlockingTask has tasks that wait for a moment in a channel, which is
// where workers must be woken.
func BenchmarkBlockingTask(b *testing.B) {
	for _, r := range runners {
		b.Run(r.name, func(b *testing.B) {
			r := r.make(64)
			meet := make(chan struct{})
			give, take := func() { meet <- struct{}{} }, func() { <-meet }
			b.ReportAllocs()
			for range b.N {
				r.run(give)
				r.run(take)
			}
			r.wait()
			b.StopTimer()
			r.end()
		})
	}
}

// BenchmarkAmongBusyGoroutines has twice as many goroutines as processors compute meanwhile. A pool
// that yields or wakes others at the wrong moment then waits behind them for 20 ms.
func BenchmarkAmongBusyGoroutines(b *testing.B) {
	small := append(slices.Clone(runners), struct {
		name string
		make func(limit int) runner
	}{"small queue", func(limit int) runner { return poolRunner{weir.New(limit, weir.Queue(16))} }})
	for _, r := range small {
		b.Run(r.name, func(b *testing.B) {
			var over atomic.Bool
			var others sync.WaitGroup
			for range 2 * runtime.GOMAXPROCS(0) {
				others.Go(func() {
					for !over.Load() {
						runtime.KeepAlive(r)
					}
				})
			}
			r := r.make(64)
			b.ReportAllocs()
			for range b.N {
				r.run(nothing)
			}
			r.wait()
			b.StopTimer()
			r.end()
			over.Store(true)
			others.Wait()
		})
	}
}
