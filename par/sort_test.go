package par_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

func TestSortSorts(t *testing.T) {
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
	sizes := []int{0, 1, 2, 100, 1<<13 - 1, 1 << 13, 1<<13 + 1, 3*(1<<13) - 1, check.Scale(100_003, 9_001)}
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
	wantPanic(t, func() {
		par.SortFunc(upTo(50_000), func(a, b int) int {
			if a == 40_000 {
				explode()
			}
			return cmp.Compare(b, a)
		}, par.Limit(2))
	})
}
