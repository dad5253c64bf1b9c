package errgroup_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

// Run with
//
//	go test -run '^$' -bench . -benchmem -count 10 ./errgroup
//
// All times include the end of the last function: they use b.N, as b.Loop stops the
// clock before that.

// group is what is measured: ours, and what is usually written by hand, a goroutine
// for each function and a channel that bounds their number.
type group interface {
	Go(func() error)
	Wait() error
}

type byHand struct {
	functions sync.WaitGroup
	slots     chan struct{}
	once      sync.Once
	err       error
}

func (g *byHand) Go(f func() error) {
	if g.slots != nil {
		g.slots <- struct{}{}
	}
	g.functions.Go(func() {
		if g.slots != nil {
			defer func() { <-g.slots }()
		}
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err })
		}
	})
}

func (g *byHand) Wait() error {
	g.functions.Wait()
	return g.err
}

var groups = []struct {
	name string
	make func(limit int) group
}{
	{"go", func(limit int) group {
		g := new(byHand)
		if limit >= 0 {
			g.slots = make(chan struct{}, limit)
		}
		return g
	}},
	{"Group", func(limit int) group { return limited(limit) }},
}

func waited(b *testing.B, g group) {
	if err := g.Wait(); err != nil {
		b.Error(err)
	}
}

func limitName(limit int) string {
	if limit < 0 {
		return "none"
	}
	return fmt.Sprint(limit)
}

func BenchmarkGo(b *testing.B) {
	for _, limit := range []int{-1, 1, 2, 64} {
		for _, kind := range groups {
			b.Run(fmt.Sprintf("limit=%s/%s", limitName(limit), kind.name), func(b *testing.B) {
				g := kind.make(limit)
				b.ReportAllocs()
				for range b.N {
					g.Go(succeed)
				}
				waited(b, g)
			})
		}
	}
}

func BenchmarkGoFromAllCores(b *testing.B) {
	for _, limit := range []int{-1, 2, 64} {
		for _, kind := range groups {
			b.Run(fmt.Sprintf("limit=%s/%s", limitName(limit), kind.name), func(b *testing.B) {
				g := kind.make(limit)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						g.Go(succeed)
					}
				})
				waited(b, g)
			})
		}
	}
}

// BenchmarkSmallGroup has groups as most programs use them: made, given some
// functions, and waited for.
func BenchmarkSmallGroup(b *testing.B) {
	for _, n := range []int{1, 2, 3, 10} {
		for _, limit := range []int{-1, 2} {
			for _, kind := range groups {
				b.Run(fmt.Sprintf("functions=%d/limit=%s/%s", n, limitName(limit), kind.name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						g := kind.make(limit)
						for range n {
							g.Go(succeed)
						}
						waited(b, g)
					}
				})
			}
		}
	}
	b.Run("WithContext", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g, _ := errgroup.WithContext(context.Background())
			for range 3 {
				g.Go(succeed)
			}
			waited(b, g)
		}
	})
}

// BenchmarkWork divides work among functions, and waits for them.
func BenchmarkWork(b *testing.B) {
	for _, work := range []struct {
		name  string
		turns int
	}{{"1µs", 1_000}, {"100µs", 100_000}} {
		for _, limit := range []int{-1, runtime.GOMAXPROCS(0)} {
			for _, kind := range groups {
				b.Run(fmt.Sprintf("%s/limit=%s/%s", work.name, limitName(limit), kind.name), func(b *testing.B) {
					for b.Loop() {
						g := kind.make(limit)
						for range 16 {
							g.Go(func() error { return spend(work.turns) })
						}
						waited(b, g)
					}
				})
			}
		}
	}
}

// BenchmarkBusyProcessors has others compute on all processors. A goroutine that gives
// way then waits for tens of milliseconds.
func BenchmarkBusyProcessors(b *testing.B) {
	var stop atomic.Bool
	var others sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		others.Go(func() {
			for !stop.Load() {
				_ = spend(1000)
			}
		})
	}
	for _, kind := range groups {
		b.Run("one after the other/"+kind.name, func(b *testing.B) {
			g := kind.make(-1)
			started := make(chan struct{})
			f := func() error { started <- struct{}{}; return nil }
			for range b.N {
				g.Go(f)
				<-started
			}
			waited(b, g)
		})
		for _, limit := range []int{-1, 2, 64} {
			b.Run(fmt.Sprintf("limit=%s/%s", limitName(limit), kind.name), func(b *testing.B) {
				g := kind.make(limit)
				for range b.N {
					g.Go(succeed)
				}
				waited(b, g)
			})
		}
	}
	stop.Store(true)
	others.Wait()
}

var sink atomic.Uint64

// spend takes about a nanosecond for each turn.
func spend(turns int) error {
	x := uint64(88172645463325252)
	for range turns {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		sink.Add(1)
	}
	return nil
}

// BenchmarkSleepers has functions that wait, as for a network.
func BenchmarkSleepers(b *testing.B) {
	n := check.Scale(100_000, 10_000)
	for _, limit := range []int{-1, 10_000} {
		for _, kind := range groups {
			b.Run(fmt.Sprintf("functions=%d/limit=%s/%s", n, limitName(limit), kind.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					g := kind.make(limit)
					for range n {
						g.Go(func() error { time.Sleep(10 * time.Millisecond); return nil })
					}
					waited(b, g)
				}
			})
		}
	}
}
