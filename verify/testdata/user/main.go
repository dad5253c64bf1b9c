// Command user is what a user of the library may write.
package main

import (
	"context"
	"fmt"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/errgroup"
	"github.com/64ed045f/weir/par"
)

func main() {
	g := weir.NewGroup(context.Background(), 2)
	g.Go(func(context.Context) error { return nil })
	var e errgroup.Group
	e.Go(func() error { return nil })
	squares, err := par.Map(context.Background(), []int{1, 2}, func(_ context.Context, n int) (int, error) { return n * n, nil })
	fmt.Println(g.Wait(), e.Wait(), squares, err)
}
