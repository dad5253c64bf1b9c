package peers_test

import (
	"testing"

	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/internal/check"
)

// errgroupCases show what no test of the library shows as a whole.
var errgroupCases = cases{
	"StagesOfAPipelineShareAGroup": func(t *testing.T) {
		for _, want := range []error{nil, errBoom} {
			var g errgroup.Group
			numbers, squares := make(chan int), make(chan int)
			g.Go(func() error {
				defer close(numbers)
				for i := range 100 {
					numbers <- i
				}
				return want
			})
			for range 4 {
				g.Go(func() error {
					for n := range numbers {
						squares <- n * n
					}
					return nil
				})
			}
			go func() {
				check.Equal(t, "outcome", g.Wait(), want)
				close(squares)
			}()
			sum := 0
			for square := range squares {
				sum += square
			}
			check.Equal(t, "outcome", g.Wait(), want)
			check.Equal(t, "sum of the squares", sum, 328350)
		}
	},
}
