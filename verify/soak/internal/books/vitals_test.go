package books_test

import (
	"testing"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

func TestGrowthIsABreachAndNoiseIsNot(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		n    int
		at   func(i int) books.Vitals
		want string
	}{
		"flat":        {20, func(int) books.Vitals { return books.Vitals{Goroutines: 5, Heap: mib, Objects: 3} }, ""},
		"falling":     {20, func(i int) books.Vitals { return books.Vitals{Goroutines: 50 - i, Heap: uint64(30-i) * mib} }, ""},
		"one high":    {20, func(i int) books.Vitals { return books.Vitals{Goroutines: 5 + i/19, Heap: uint64(1+i/19*100) * mib} }, ""},
		"too few":     {5, func(i int) books.Vitals { return books.Vitals{Heap: uint64(i) * 100 * mib} }, ""},
		"memory":      {6, func(i int) books.Vitals { return books.Vitals{Heap: uint64(1+i) * 4 * mib} }, "bytes on the heap grow"},
		"objects":     {6, func(i int) books.Vitals { return books.Vitals{Objects: uint64(i) * 3000} }, "objects grow"},
		"a goroutine": {6, func(i int) books.Vitals { return books.Vitals{Goroutines: 5 + i/3} }, "goroutines grow"},
	} {
		t.Run(name, func(t *testing.T) {
			var series []books.Vitals
			for i := range c.n {
				series = append(series, c.at(i))
			}
			j := books.NewJournal()
			books.New("load", j).Flat(series)
			wantBreach(t, j, c.want)
		})
	}
}
