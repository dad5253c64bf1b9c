package weir_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/64ed045f/weir"
)

func ExampleNewResults() {
	g := weir.NewGroup(context.Background(), 4)
	squares := weir.NewResults[int](g)
	for i := range 5 {
		squares.Go(func(context.Context) (int, error) { return i * i, nil })
	}
	fmt.Println(squares.Wait())
	// Output: [0 1 4 9 16] <nil>
}

func ExampleResults_Go() {
	// Results of several types, from one group.
	g := weir.NewGroup(context.Background(), 4)
	names, ages := weir.NewResults[string](g), weir.NewResults[int](g)
	names.Go(func(context.Context) (string, error) { return "Ann", nil })
	names.Go(func(context.Context) (string, error) { return "Bob", nil })
	ages.Go(func(context.Context) (int, error) { return 42, nil })

	if err := g.Wait(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(names.Wait())
	fmt.Println(ages.Wait())
	// Output:
	// [Ann Bob] <nil>
	// [42] <nil>
}

func ExampleResults_Wait() {
	hosts := []string{"ant", "bee", "cat"}
	g := weir.NewGroup(context.Background(), 4, weir.KeepGoing())
	addresses := weir.NewResults[string](g)
	for _, host := range hosts {
		addresses.Go(func(context.Context) (string, error) {
			if host == "bee" {
				return "", errors.New("no such host")
			}
			return host + ".example", nil
		})
	}

	// A failure hides no value: each is in its task's place.
	found, err := addresses.Wait()
	fmt.Printf("%q\n", found)
	if failed, ok := errors.AsType[*weir.TaskError](err); ok {
		fmt.Println(hosts[failed.Index], "failed:", failed.Err)
	}
	// Output:
	// ["ant.example" "" "cat.example"]
	// bee failed: no such host
}

func ExampleResults_All() {
	g := weir.NewGroup(context.Background(), 4)
	pages := weir.NewResults[string](g)
	for _, path := range []string{"/", "/about", "/news"} {
		pages.Go(func(context.Context) (string, error) { return "page " + path, nil })
	}

	for page, err := range pages.All() {
		if err != nil {
			fmt.Println(err)
			break // cancels what still runs, and waits for it
		}
		fmt.Println(page)
	}
	// Unordered output:
	// page /
	// page /about
	// page /news
}

// The body of the loop may give more tasks: here, for what a page links to.
func ExampleResults_All_crawl() {
	links := map[string][]string{"/": {"/a", "/b"}, "/a": {"/a/1"}, "/b": {"/"}}
	g := weir.NewGroup(context.Background(), 4)
	pages := weir.NewResults[[]string](g)
	seen := map[string]bool{}
	visit := func(path string) {
		if !seen[path] {
			seen[path] = true
			pages.Go(func(context.Context) ([]string, error) { return links[path], nil })
		}
	}

	visit("/")
	for found, err := range pages.All() {
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, path := range found {
			visit(path)
		}
	}
	fmt.Println(len(seen), "pages")
	// Output: 4 pages
}

// A quorum: the first two that agree to answer are enough.
func ExampleResults_All_quorum() {
	g := weir.NewGroup(context.Background(), 5, weir.KeepGoing())
	votes := weir.NewResults[string](g)
	for _, replica := range []string{"ant", "bee", "cat"} {
		votes.Go(func(ctx context.Context) (string, error) {
			if replica == "bee" {
				<-ctx.Done() // takes too long
				return "", ctx.Err()
			}
			return replica, nil
		})
	}

	got := 0
	for _, err := range votes.All() {
		if err == nil {
			got++
		}
		if got == 2 {
			break
		}
	}
	fmt.Println(got, "votes")
	// Output: 2 votes
}

func ExampleResults_Ordered() {
	g := weir.NewGroup(context.Background(), 4)
	lines := weir.NewResults[string](g)
	for i := range 4 {
		lines.Go(func(context.Context) (string, error) { return fmt.Sprint("line ", i), nil })
	}

	for line, err := range lines.Ordered() {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(line)
	}
	// Output:
	// line 0
	// line 1
	// line 2
	// line 3
}

func ExampleResults_First() {
	g := weir.NewGroup(context.Background(), 4, weir.KeepGoing())
	answers := weir.NewResults[string](g)
	for _, mirror := range []string{"ant", "bee", "cat"} {
		answers.Go(func(ctx context.Context) (string, error) {
			switch mirror {
			case "ant":
				return "", errors.New("ant is down")
			case "bee":
				return "bee was faster", nil
			default:
				<-ctx.Done() // cancelled when bee has answered
				return "", ctx.Err()
			}
		})
	}
	fmt.Println(answers.First())
	// Output: bee was faster <nil>
}

func ExampleAsync() {
	ctx := context.Background()
	pool := weir.New(4)
	defer pool.Close()

	price := weir.Async(ctx, pool, func(context.Context) (int, error) { return 12, nil })
	stock := weir.Async(ctx, pool, func(context.Context) (int, error) { return 3, nil })

	// Both are under way; now they are needed.
	each, err := price.Get(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	number, err := stock.Get(ctx)
	fmt.Println(each*number, err)
	// Output: 36 <nil>
}

func ExampleFuture_Get() {
	ctx := context.Background()
	pool := weir.New(1)
	defer pool.Close()

	f := weir.Async(ctx, pool, func(context.Context) (string, error) { panic("no such user") })
	_, err := f.Get(ctx)
	if p, ok := errors.AsType[*weir.Panic](err); ok {
		fmt.Println(p.Value) // p.Stack says where
	}
	// Output: no such user
}

func ExampleFuture_Done() {
	ctx := context.Background()
	pool := weir.New(1)
	defer pool.Close()

	f := weir.Async(ctx, pool, func(context.Context) (string, error) { return "ready", nil })
	select {
	case <-f.Done():
		fmt.Println(f.Get(ctx))
	case <-time.After(time.Minute):
		fmt.Println("goes on without it")
	}
	// Output: ready <nil>
}
