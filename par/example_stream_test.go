package par_test

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"github.com/64ed045f/weir/par"
)

func ExampleStream() {
	numbers := func(yield func(int) bool) {
		for i := 1; yield(i); i++ { // forever
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
