package weir_test

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync/atomic"
	"testing/fstest"

	"github.com/64ed045f/weir"
)

// Tasks that hand folders on to more tasks: a limit of 2 is enough for any depth.
func ExamplePool_Group_walk() {
	pool := weir.New(2)
	defer pool.Close()
	files := fstest.MapFS{"a/b/c/deep.txt": {}, "a/b/two.txt": {}, "one.txt": {}}

	var found atomic.Int64
	var walk func(ctx context.Context, dir string) error
	walk = func(ctx context.Context, dir string) error {
		entries, err := fs.ReadDir(files, dir)
		if err != nil {
			return err
		}
		subdirs := pool.Group(ctx) // ctx is the task's own: that is what makes it safe to wait
		for _, entry := range entries {
			if entry.IsDir() {
				subdirs.Go(func(ctx context.Context) error { return walk(ctx, path.Join(dir, entry.Name())) })
			} else {
				found.Add(1)
			}
		}
		return subdirs.Wait()
	}

	g := pool.Group(context.Background())
	g.Go(func(ctx context.Context) error { return walk(ctx, ".") })
	fmt.Println(g.Wait(), found.Load())
	// Output: <nil> 3
}

func ExamplePool_Group_quicksort() {
	pool := weir.New(2)
	defer pool.Close()

	var sort func(ctx context.Context, s []int) error
	sort = func(ctx context.Context, s []int) error {
		if len(s) < 1000 { // worth less than a task costs
			slices.Sort(s)
			return nil
		}
		pivot, lo, hi := s[len(s)/2], 0, len(s)-1
		for lo <= hi {
			switch {
			case s[lo] < pivot:
				lo++
			case s[hi] > pivot:
				hi--
			default:
				s[lo], s[hi] = s[hi], s[lo]
				lo++
				hi--
			}
		}
		halves := pool.Group(ctx)
		halves.Go(func(ctx context.Context) error { return sort(ctx, s[:hi+1]) })
		halves.Go(func(ctx context.Context) error { return sort(ctx, s[lo:]) })
		return halves.Wait()
	}

	numbers := make([]int, 100_000)
	for i := range numbers {
		numbers[i] = i * 7919 % 100_003
	}
	g := pool.Group(context.Background())
	g.Go(func(ctx context.Context) error { return sort(ctx, numbers) })
	fmt.Println(g.Wait(), slices.IsSorted(numbers))
	// Output: <nil> true
}
