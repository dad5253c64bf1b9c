package par_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

func ExampleEach() {
	hosts := []string{"ant", "bee", "cat"}

	err := par.Each(context.Background(), hosts, func(ctx context.Context, host string) error {
		fmt.Println("asked", host)
		return nil
	}, par.Limit(2))

	fmt.Println(err)
	// Unordered output:
	// asked ant
	// asked bee
	// asked cat
	// <nil>
}

// The entries of a map are a sequence of pairs.
func ExampleEach_map() {
	prices := map[string]int{"apple": 30, "pear": 40}

	var sum atomic.Int64
	err := par.Each(context.Background(), par.Pairs(maps.All(prices)), func(_ context.Context, p par.Pair[string, int]) error {
		if p.Value < 0 {
			return errors.New("negative price of " + p.Key)
		}
		sum.Add(int64(p.Value))
		return nil
	})

	fmt.Println(sum.Load(), err)
	// Output: 70 <nil>
}

func ExampleEach_channel() {
	orders := make(chan int)
	go func() {
		defer close(orders)
		for id := range 3 {
			orders <- id
		}
	}()

	err := par.Each(context.Background(), orders, func(_ context.Context, id int) error {
		fmt.Println("order", id)
		return nil
	}, par.Limit(8))

	fmt.Println(err)
	// Unordered output:
	// order 0
	// order 1
	// order 2
	// <nil>
}

func ExampleMap() {
	words := []string{"still", "waters", "run", "deep"}

	lengths, err := par.Map(context.Background(), words, func(_ context.Context, word string) (int, error) {
		return len(word), nil
	})

	fmt.Println(lengths, err)
	// Output: [5 6 3 4] <nil>
}

func ExampleFilter() {
	numbers := []int{2, 3, 4, 5, 6, 7, 8, 9}

	primes, err := par.Filter(context.Background(), numbers, func(_ context.Context, n int) (bool, error) {
		for d := 2; d*d <= n; d++ {
			if n%d == 0 {
				return false, nil
			}
		}
		return true, nil
	})

	fmt.Println(primes, err)
	// Output: [2 3 5 7] <nil>
}

func ExampleReduce() {
	lines := []string{"to be", "or not", "to be"}

	text, err := par.Reduce(context.Background(), lines, func(_ context.Context, a, b string) (string, error) {
		return a + " " + b, nil
	})

	fmt.Println(text, err)
	// Output: to be or not to be <nil>
}

func ExampleRange() {
	squares := make([]int, 1_000_000)

	par.Range(len(squares), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			squares[i] = i * i
		}
	})

	fmt.Println(squares[:4])
	// Output: [0 1 4 9]
}

func ExampleSort() {
	names := []string{"cat", "ant", "bee"}
	par.Sort(names)
	fmt.Println(names)
	// Output: [ant bee cat]
}

func ExampleSortFunc() {
	names := []string{"hippo", "ant", "horse fly"}
	par.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	fmt.Println(names)
	// Output: [horse fly hippo ant]
}

func ExampleKeepGoing() {
	hosts := []string{"ant", "bee", "cat"}

	addresses, err := par.Map(context.Background(), hosts, func(_ context.Context, host string) (string, error) {
		if host != "bee" {
			return "", errors.New(host + " does not answer")
		}
		return "10.0.0.2", nil
	}, par.KeepGoing())

	fmt.Printf("%q\n%v\n", addresses, err)
	// Output:
	// ["" "10.0.0.2" ""]
	// task 0: ant does not answer
	// task 2: cat does not answer
}

func ExampleLimit() {
	const calls = 1000
	var begun atomic.Int64
	all := make(chan struct{})
	meet := func(context.Context, int) error {
		if begun.Add(1) == calls {
			close(all)
		}
		<-all
		return nil
	}

	// All wait at once, on however few processors.
	fmt.Println(par.Each(context.Background(), make([]int, calls), meet, par.Limit(calls)))
	// Output: <nil>
}

// A time-out for each call.
func ExampleEach_timeout() {
	ask := func(ctx context.Context, host string) error {
		if host == "bee" {
			<-ctx.Done() // does not answer
			return ctx.Err()
		}
		return nil
	}

	err := par.Each(context.Background(), []string{"ant", "bee", "cat"}, func(ctx context.Context, host string) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
		defer cancel()
		return ask(ctx, host)
	}, par.KeepGoing())

	fmt.Println(err)
	// Output: task 1: context deadline exceeded
}

// Calls on a pool may run loops on the same pool, with the context that they got. While
// they wait for them, they do not count under its limit.
func ExampleOn_nested() {
	pool := weir.New(1)
	defer pool.Close()
	rows := [][]int{{1, 2}, {3, 4}}

	add := func(_ context.Context, a, b int) (int, error) { return a + b, nil }
	sum := func(ctx context.Context, row []int) (int, error) {
		return par.Reduce(ctx, row, add, par.On(pool))
	}
	fmt.Println(par.Map(context.Background(), rows, sum, par.On(pool)))
	// Output: [3 7] <nil>
}

// All requests share 8 workers, however many requests there are.
func ExampleOn() {
	pool := weir.New(8)
	defer pool.Close()

	handle := func(ctx context.Context, parts []string) ([]int, error) {
		return par.Map(ctx, parts, func(_ context.Context, part string) (int, error) {
			return len(part), nil
		}, par.On(pool))
	}

	fmt.Println(handle(context.Background(), []string{"head", "body", "tails"}))
	// Output: [4 4 5] <nil>
}
