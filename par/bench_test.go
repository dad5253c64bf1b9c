package par_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/64ed045f/weir/par"
)

// Run with
//
//	go test -run '^$' -bench . -benchmem -count 10 ./par
//
// and compare with benchstat.

// roots takes the square root of each of n numbers: the least work there is.
func rootNumbers() (from, to []float64) {
	const n = 1_000_000
	from, to = make([]float64, n), make([]float64, n)
	for i := range from {
		from[i] = float64(i)
	}
	return from, to
}

// byHand divides a loop into as many equal parts as there are processors.
func byHand(n int, body func(lo, hi int)) {
	var parts sync.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for p := range procs {
		parts.Go(func() { body(p*n/procs, (p+1)*n/procs) })
	}
	parts.Wait()
}

func BenchmarkRoots(b *testing.B) {
	from, to := rootNumbers()
	body := func(lo, hi int) {
		part := to[lo:hi]
		for i, x := range from[lo:hi] {
			part[i] = math.Sqrt(x)
		}
	}
	b.Run("in place", func(b *testing.B) {
		for b.Loop() {
			body(0, len(from))
		}
	})
	b.Run("split by hand", func(b *testing.B) {
		for b.Loop() {
			byHand(len(from), body)
		}
	})
	b.Run("Range", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			par.Range(len(from), body)
		}
	})
	ctx := context.Background()
	places := make([]*float64, len(to))
	for i := range to {
		places[i] = &to[i]
	}
	root := func(_ context.Context, x *float64) error {
		*x = math.Sqrt(*x)
		return nil
	}
	b.Run("split by hand, calls", func(b *testing.B) {
		for b.Loop() {
			byHand(len(places), func(lo, hi int) {
				for _, x := range places[lo:hi] {
					if err := root(ctx, x); err != nil {
						panic(err)
					}
				}
			})
		}
	})
	b.Run("Each", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(par.Each(ctx, places, root))
		}
	})
	b.Run("Map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := par.Map(ctx, from, func(_ context.Context, x float64) (float64, error) { return math.Sqrt(x), nil })
			must(err)
		}
	})
	b.Run("Reduce", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := par.Reduce(ctx, from, func(_ context.Context, x, y float64) (float64, error) { return x + y, nil })
			must(err)
		}
	})
}

// BenchmarkSmall is loops that are hardly worth dividing, or not at all.
func BenchmarkSmall(b *testing.B) {
	numbers := make([]float64, 10_000)
	for _, n := range []int{1, 10, 100, 1000, 10_000} {
		body := func(lo, hi int) {
			for i := lo; i < hi; i++ {
				numbers[i] = math.Sqrt(float64(i))
			}
		}
		b.Run(fmt.Sprintf("n=%d/in place", n), func(b *testing.B) {
			for b.Loop() {
				body(0, n)
			}
		})
		b.Run(fmt.Sprintf("n=%d/Range", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				par.Range(n, body)
			}
		})
		ctx := context.Background()
		b.Run(fmt.Sprintf("n=%d/Each", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(par.Each(ctx, numbers[:n], func(_ context.Context, x float64) error { return nil }))
			}
		})
	}
}

func BenchmarkSort(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000, 10_000_000} {
		numbers := make([]int, n)
		for i := range numbers {
			numbers[i] = rand.Int()
		}
		for name, sort := range map[string]func([]int){
			"slices.Sort":     slices.Sort[[]int],
			"Sort":            func(s []int) { par.Sort(s) },
			"slices.SortFunc": func(s []int) { slices.SortFunc(s, func(a, b int) int { return a - b }) },
			"SortFunc":        func(s []int) { par.SortFunc(s, func(a, b int) int { return a - b }) },
		} {
			b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				s := make([]int, n)
				for b.Loop() {
					b.StopTimer()
					copy(s, numbers)
					b.StartTimer()
					sort(s)
				}
			})
		}
	}
}

func BenchmarkStream(b *testing.B) {
	ctx := context.Background()
	numbers := make([]int, 1_000_000)
	double := func(_ context.Context, i int) (int, error) { return 2 * i, nil }
	for name, run := range map[string]func() int{
		"slice": func() (n int) {
			for _, err := range par.Stream(ctx, numbers, double) {
				must(err)
				n++
			}
			return n
		},
		"sequence": func() (n int) {
			for _, err := range par.Stream(ctx, slices.Values(numbers), double) {
				must(err)
				n++
			}
			return n
		},
		"unordered": func() (n int) {
			for _, err := range par.Stream(ctx, slices.Values(numbers), double, par.Unordered()) {
				must(err)
				n++
			}
			return n
		},
		"two stages": func() (n int) {
			for _, err := range par.Stream(ctx, par.Pipe(numbers, double), double) {
				must(err)
				n++
			}
			return n
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			items := 0
			for b.Loop() {
				items += run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(items), "ns/item")
		})
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
