package errgroup_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/64ed045f/weir/errgroup"
)

func Example() {
	words := []string{"a", "weir", "lets", "a", "steady", "stream", "through"}
	lengths := make([]int, len(words))

	var g errgroup.Group
	g.SetLimit(3)
	for i, word := range words {
		g.Go(func() error {
			lengths[i] = len(word)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		fmt.Println(err)
	}

	fmt.Println(lengths)
	// Output: [1 4 4 1 6 6 7]
}

func ExampleWithContext() {
	g, ctx := errgroup.WithContext(context.Background())
	g.Go(func() error {
		<-ctx.Done() // the error of the other one
		fmt.Println("gives up, as", context.Cause(ctx))
		return ctx.Err()
	})
	g.Go(func() error { return errors.New("the disk is full") })

	fmt.Println("failed:", g.Wait())
	// Output:
	// gives up, as the disk is full
	// failed: the disk is full
}

func ExampleGroup_Go() {
	var g errgroup.Group
	for _, host := range []string{"ant", "bee", "cat"} {
		g.Go(func() error {
			fmt.Println("asked", host)
			return nil
		})
	}
	fmt.Println(g.Wait())
	// Unordered output:
	// asked ant
	// asked bee
	// asked cat
	// <nil>
}

func ExampleGroup_TryGo() {
	var g errgroup.Group
	g.SetLimit(1)
	release := make(chan struct{})
	f := func() error {
		<-release
		return nil
	}

	fmt.Println(g.TryGo(f), g.TryGo(f))

	close(release)
	fmt.Println(g.Wait())
	// Output:
	// true false
	// <nil>
}

func ExampleGroup_SetLimit() {
	var g errgroup.Group
	g.SetLimit(1)
	for i := range 3 {
		g.Go(func() error {
			fmt.Println("one after the other:", i)
			return nil
		})
	}
	fmt.Println(g.Wait())
	// Output:
	// one after the other: 0
	// one after the other: 1
	// one after the other: 2
	// <nil>
}

func ExampleGroup_Wait() {
	var g errgroup.Group
	g.Go(func() error { return nil })
	fmt.Println(g.Wait())
	g.Go(func() error { return errors.New("no answer") })
	fmt.Println(g.Wait())
	fmt.Println(g.Wait()) // the first error stays
	// Output:
	// <nil>
	// no answer
	// no answer
}
