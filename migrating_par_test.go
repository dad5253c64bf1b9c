package weir_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/par"
)

func Example_fromErrgroupWithResults() {
	ctx, hosts := context.Background(), []string{"ant", "cat"}
	addresses, err := par.Map(ctx, hosts, lookup, par.Limit(8))
	fmt.Println(addresses, err)
	// Output: [ant.example cat.example] <nil>
}

func Example_fromConcIter() {
	ctx := context.Background()
	prices := []int{10, 20, 30}

	par.Range(len(prices), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			prices[i] *= 2
		}
	})

	fmt.Println(prices)

	fmt.Println(par.Each(ctx, hosts, ping))
	visit := func(ctx context.Context, host par.Pair[int, string]) error {
		return ping(ctx, host.Value)
	}
	fmt.Println(par.Each(ctx, par.Pairs(slices.All(hosts)), visit))
	fmt.Println(par.Map(ctx, hosts, lookup, par.KeepGoing()))

	hosts := hosts[2:]
	addresses, err := par.Map(ctx, hosts, lookup)
	fmt.Println(addresses, err)
	// Output:
	// [20 40 60]
	// task 1: bee: timeout
	// task 1: bee: timeout
	// [ant.example bee.example cat.example] task 1: bee: timeout
	// [cat.example] <nil>
}

func Example_fromConcStream() {
	ctx := context.Background()
	run := func(hosts []string) error {
		for address, err := range par.Stream(ctx, hosts, lookup, par.Limit(8)) {
			if err != nil {
				return err
			}
			fmt.Println(address) // in the order of the hosts
		}
		return nil
	}
	fmt.Println(run(hosts))
	// Output:
	// ant.example
	// task 1: bee: timeout
}

func Example_fromRill() {
	ctx := context.Background()
	urls := []string{"a", "b", "c"}
	fetch := func(_ context.Context, url string) (string, error) { return "page " + url, nil }
	storeAll := func(_ context.Context, pages []string) (int, error) { return len(pages), nil }
	total := 0
	run := func() error {
		pages := par.Pipe(urls, fetch, par.Limit(8))
		for stored, err := range par.Stream(ctx, par.Batch[string](pages, 100), storeAll, par.Limit(2)) {
			if err != nil {
				return err
			}
			total += stored
		}
		return nil
	}
	fmt.Println(run(), total)

	pages := par.Pipe(urls, fetch, par.Limit(8), par.Unordered())
	save := func(context.Context, string) error { return errTimeout }
	store := func(_ context.Context, page string) (int, error) { return len(page), nil }
	fmt.Println(errors.Is(par.Each(ctx, pages, save, par.Limit(4)), errTimeout))
	for n, err := range par.Stream(ctx, pages, store, par.Limit(4)) {
		fmt.Println(n, err)
	}
	for batch, err := range par.BatchFor[string](pages, 100, time.Second).All(ctx) {
		fmt.Println(len(batch), err)
	}
	fmt.Println(par.Map(ctx, urls, fetch, par.Limit(8)))
	keep := func(_ context.Context, url string) (bool, error) { return url != "b", nil }
	fmt.Println(par.Filter(ctx, urls, keep, par.Limit(8)))
	join := func(_ context.Context, a, b string) (string, error) { return a + b, nil }
	fmt.Println(par.Reduce(ctx, urls, join, par.Limit(8)))

	lines := func(yield func(string, error) bool) { _ = yield("one", nil) && yield("", errTimeout) }
	fmt.Println(par.Map(ctx, par.Results(lines), fetch, par.KeepGoing()))

	defer func() {
		if p, ok := recover().(*weir.Panic); ok {
			fmt.Println("a panic:", p.Value)
		}
	}()
	fmt.Println(par.Each(ctx, urls, func(context.Context, string) error { panic("no disk") }))
	// Output:
	// <nil> 3
	// true
	// 6 <nil>
	// 6 <nil>
	// 6 <nil>
	// 3 <nil>
	// [page a page b page c] <nil>
	// [a c] <nil>
	// abc <nil>
	// [page one ] timeout
	// a panic: no disk
}
