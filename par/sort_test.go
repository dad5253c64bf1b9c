package par_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestSortSorts(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	r := random(t)
	p := weir.New(2)
	defer p.Close()
	shapes := map[string]func(i, n int) int{
		"random":    func(int, int) int { return r.Int() },
		"few":       func(int, int) int { return r.IntN(3) },
		"sorted":    func(i, _ int) int { return i },
		"reverse":   func(i, _ int) int { return -i },
		"organ":     func(i, n int) int { return min(i, n-i) },
		"saw":       func(i, n int) int { return i % 100 },
		"one":       func(int, int) int { return 7 },
		"last":      func(i, n int) int { return (i + 1) % n },
		"halves up": func(i, n int) int { return (i + n/2) % n },
	}
	sizes := []int{0, 1, 2, 100, 1<<13 - 1, 1 << 13, 1<<13 + 1, 3*(1<<13) - 1, check.Scale(50_003, 9_001)}
	limits := []int{1, 2, 3, 4, 8}
	if testing.Short() {
		limits = []int{1, 3}
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, n := range sizes {
				for _, limit := range limits {
					numbers := make([]int, n)
					for i := range numbers {
						numbers[i] = shape(i, n)
					}
					want := slices.Sorted(slices.Values(numbers))
					got := slices.Clone(numbers)
					par.Sort(got, par.Limit(limit))
					if !slices.Equal(got, want) {
						t.Fatalf("Sort of %d, limit %d", n, limit)
					}
					slices.Reverse(want)
					par.SortFunc(numbers, func(a, b int) int { return cmp.Compare(b, a) }, par.Limit(limit), par.On(p))
					if !slices.Equal(numbers, want) {
						t.Fatalf("SortFunc of %d, limit %d", n, limit)
					}
				}
			}
		})
	}
}

// Of items that compare equal each must be there once, too.
func TestSortLosesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	type item struct{ key, number int }
	for _, limit := range []int{2, 3, 8} {
		items := make([]item, 60_000)
		for i := range items {
			items[i] = item{rand.IntN(20), i}
		}
		par.SortFunc(items, func(a, b item) int { return cmp.Compare(a.key, b.key) }, par.Limit(limit))
		seen := make([]bool, len(items))
		for i, it := range items {
			if seen[it.number] {
				t.Fatalf("item %d is there twice", it.number)
			}
			seen[it.number] = true
			if i > 0 && it.key < items[i-1].key {
				t.Fatalf("item %d is not in order", i)
			}
		}
	}
}

// A comparison that is no order may sort nothing, but it loses no item and doubles none. A comparison that panics does not either.
func TestSortFuncReturnsAPermutation(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	compares := map[string]func(a, b float64) int{
		"NaN": func(a, b float64) int {
			switch {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		},
		"random":  func(_, _ float64) int { return rand.IntN(3) - 1 },
		"less":    func(_, _ float64) int { return -1 },
		"greater": func(_, _ float64) int { return 1 },
		"ring":    func(a, b float64) int { return int(math.Float64bits(a)+2*math.Float64bits(b))%3 - 1 },
	}
	all := []int{1, 2, 3, 5, 8}
	for name, compare := range compares {
		for panics := range 2 {
			for _, limit := range check.Size([]int{1, 5}, all, all) {
				items := make([]float64, 1<<13+rand.IntN(check.Scale(1<<16, 1<<13)))
				for i := range items {
					items[i] = float64(i)
					if i%100 == 0 {
						items[i] = math.Float64frombits(math.Float64bits(math.NaN()) + uint64(i))
					}
				}
				want := sortedBits(items)
				rand.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
				var calls atomic.Int64
				last := int64(math.MaxInt64)
				if panics == 1 {
					last = rand.Int64N(20 * int64(len(items)))
				}
				check.Caught(func() {
					par.SortFunc(items, func(a, b float64) int {
						if calls.Add(1) > last {
							panic(errBoom)
						}
						return compare(a, b)
					}, par.Limit(limit))
				})
				if !slices.Equal(sortedBits(items), want) {
					t.Fatalf("%s, limit %d, last call %d: items are lost or doubled", name, limit, last)
				}
			}
		}
	}
}

func sortedBits(items []float64) []uint64 {
	bits := make([]uint64, len(items))
	for i, x := range items {
		bits[i] = math.Float64bits(x)
	}
	slices.Sort(bits)
	return bits
}

// For computation a limit beyond the processors must cost nothing.
func TestHugeLimitsCostNothing(t *testing.T) {
	items := make([]int, 1<<18)
	add := func(_ context.Context, a, b int) (int, error) { return a + b, nil }
	loops := map[string]func(limit par.Option){
		"Range": func(limit par.Option) {
			par.Range(len(items), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					items[i] = items[i]*7 + 5
				}
			}, limit)
		},
		"Reduce": func(limit par.Option) {
			_, err := par.Reduce(t.Context(), items, add, limit)
			check.OK(t, err)
		},
		"Sort": func(limit par.Option) { par.Sort(items, limit) },
	}
	for name, loop := range loops {
		t.Run(name, func(t *testing.T) {
			check.Flat(t, 512, func(n int) (f, end func()) {
				return func() { loop(par.Limit(n)) }, func() {}
			})
		})
	}
}

func TestSortPutsNaNsFirst(t *testing.T) {
	numbers := make([]float64, 50_000)
	for i := range numbers {
		numbers[i] = rand.Float64()
		if i%10 == 0 {
			numbers[i] = math.NaN()
		}
	}
	par.Sort(numbers, par.Limit(4))
	if !slices.IsSorted(numbers) {
		t.Error("not sorted")
	}
}

func TestSortFuncPanicsAsItsFunction(t *testing.T) {
	for _, n := range []int{10, 50_000} { // the first is in place
		watched(t)
		calls := 0
		value := check.Caught(func() {
			par.SortFunc(make([]int, n), func(a, b int) int {
				if calls++; calls > n/2 {
					explode()
				}
				return 0
			}, par.Limit(1))
		})
		check.Equal(t, "without helpers", value, any(errBoom))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // on one it sorts in place
	wantPanic(t, func() {
		par.SortFunc(upTo(50_000), func(a, b int) int {
			if a == 40_000 {
				explode()
			}
			return cmp.Compare(b, a)
		}, par.Limit(2))
	})
}
