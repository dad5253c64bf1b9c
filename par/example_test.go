package par_test

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing/fstest"
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
	ctx := context.Background()
	pause := func(context.Context, int) error {
		time.Sleep(time.Millisecond)
		return nil
	}

	// All wait at once, on however few processors.
	fmt.Println(par.Each(ctx, make([]int, 1000), pause, par.Limit(1000)))
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

func ExampleStream() {
	numbers := func(yield func(int) bool) {
		for i := 1; yield(i); i++ { // for ever
		}
	}
	squares := par.Stream(context.Background(), numbers, func(_ context.Context, i int) (int, error) {
		return i * i, nil
	})

	for square, err := range squares {
		if err != nil {
			log.Fatal(err)
		}
		if square > 20 {
			break // ends the stream, and the source
		}
		fmt.Println(square)
	}
	// Output:
	// 1
	// 4
	// 9
	// 16
}

// The MD5 sums of all files in a tree, in two stages: some goroutines read while others
// calculate. Few files are in memory at a time. The first error ends everything.
func ExamplePipe() {
	ctx := context.Background()
	tree := fstest.MapFS{
		"poem.txt":       {Data: []byte("The quick brown fox jumps over the lazy dog")},
		"sub/empty.txt":  {},
		"sub/letter.txt": {Data: []byte("a")},
	}

	// The walk is the source. An error of it passes through the stages, too.
	walk := func(yield func(string, error) bool) {
		err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() || yield(path, nil):
				return nil
			default:
				return fs.SkipAll
			}
		})
		if err != nil {
			yield("", err)
		}
	}

	type file struct {
		path string
		data []byte
		sum  [md5.Size]byte
	}
	read := func(_ context.Context, path string) (file, error) {
		data, err := fs.ReadFile(tree, path)
		return file{path: path, data: data}, err
	}
	digest := func(_ context.Context, f file) (file, error) {
		f.sum, f.data = md5.Sum(f.data), nil
		return f, nil
	}

	files := par.Pipe(par.Results(walk), read, par.Limit(4), par.Ahead(8))
	for f, err := range par.Stream(ctx, files, digest, par.Ahead(8)) {
		if err != nil {
			fmt.Println("stopped:", err)
			break
		}
		fmt.Printf("%x  %s\n", f.sum, f.path)
	}
	// Output:
	// 9e107d9d372bb6826bd81d3542a419d6  poem.txt
	// d41d8cd98f00b204e9800998ecf8427e  sub/empty.txt
	// 0cc175b9c0f1b6a831c399e269772661  sub/letter.txt
}

func ExampleUnordered() {
	hosts := []string{"slow", "fast"}
	answered := make(chan struct{})
	ask := func(_ context.Context, host string) (string, error) {
		if host == "slow" {
			<-answered
		}
		return host, nil
	}

	for host, err := range par.Stream(context.Background(), hosts, ask, par.Unordered(), par.Limit(2)) {
		fmt.Println(host, err)
		if host == "fast" {
			close(answered)
		}
	}
	// Output:
	// fast <nil>
	// slow <nil>
}

func ExampleAhead() {
	// At most 2 pages are fetched ahead of the one that is printed.
	fetch := func(_ context.Context, page int) (string, error) { return fmt.Sprint("page ", page), nil }

	for page, err := range par.Stream(context.Background(), []int{1, 2, 3}, fetch, par.Ahead(2)) {
		fmt.Println(page, err)
	}
	// Output:
	// page 1 <nil>
	// page 2 <nil>
	// page 3 <nil>
}

func ExamplePipeline_All() {
	evenNumbers := par.Pipe([]int{1, 2, 3}, func(_ context.Context, i int) (int, error) { return 2 * i, nil })

	for i, err := range evenNumbers.All(context.Background()) {
		fmt.Println(i, err)
	}
	// Output:
	// 2 <nil>
	// 4 <nil>
	// 6 <nil>
}

func ExampleResults() {
	lines := func(yield func(string, error) bool) { // as of a scanner
		_ = yield("12", nil) && yield("34", nil) && yield("", errors.New("connection lost"))
	}

	numbers, err := par.Map(context.Background(), par.Results(lines), func(_ context.Context, line string) (int, error) {
		return strconv.Atoi(line)
	}, par.Limit(1))

	fmt.Println(numbers, err)
	// Output: [12 34 0] connection lost
}

func ExamplePairs() {
	lines := []string{"one", "two"}

	numbered, err := par.Map(context.Background(), par.Pairs(slices.All(lines)), func(_ context.Context, p par.Pair[int, string]) (string, error) {
		return fmt.Sprint(p.Key+1, ": ", p.Value), nil
	})

	fmt.Println(strings.Join(numbered, ", "), err)
	// Output: 1: one, 2: two <nil>
}

// Rows are stored several at a time, by several goroutines.
func ExampleBatch() {
	ctx := context.Background()
	rows := []string{"a", "b", "c", "d", "e"}
	store := func(_ context.Context, batch []string) (int, error) { return len(batch), nil }

	for stored, err := range par.Stream(ctx, par.Batch[string](rows, 2), store) {
		fmt.Println(stored, err)
	}
	// Output:
	// 2 <nil>
	// 2 <nil>
	// 1 <nil>
}

func ExampleBatchFor() {
	events, seen := make(chan string), make(chan struct{}, 2)
	go func() {
		defer close(events)
		events <- "door opened"
		events <- "light on"
		<-seen
		events <- "door closed"
	}()

	// At most 100 together, but none waits for longer than 20 ms.
	for batch, err := range par.BatchFor[string](events, 100, 20*time.Millisecond).All(context.Background()) {
		fmt.Println(batch, err)
		seen <- struct{}{}
	}
	// Output:
	// [door opened light on] <nil>
	// [door closed] <nil>
}
