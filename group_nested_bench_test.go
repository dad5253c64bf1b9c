package weir_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func fibGo(n int) int {
	if n < 2 {
		return n
	}
	var x, y int
	var wg sync.WaitGroup
	wg.Go(func() { x = fibGo(n - 1) })
	wg.Go(func() { y = fibGo(n - 2) })
	wg.Wait()
	return x + y
}

func fibWeir(ctx context.Context, p *weir.Pool, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	var x, y int
	g := p.Group(ctx)
	g.Go(func(ctx context.Context) (err error) { x, err = fibWeir(ctx, p, n-1); return err })
	g.Go(func(ctx context.Context) (err error) { y, err = fibWeir(ctx, p, n-2); return err })
	err := g.Wait()
	return x + y, err
}

// BenchmarkRecursion is a tree of tasks that do nothing but hand on and wait.
func BenchmarkRecursion(b *testing.B) {
	const n = 22
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			fibGo(n)
		}
	})
	b.Run("Group", func(b *testing.B) {
		p := weir.New(runtime.GOMAXPROCS(0))
		defer p.Close()
		b.ReportAllocs()
		for b.Loop() {
			g := p.Group(b.Context())
			g.Go(func(ctx context.Context) error { _, err := fibWeir(ctx, p, n); return err })
			if err := g.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkQuicksort sorts numbers by tasks that hand on their halves.
func BenchmarkQuicksort(b *testing.B) {
	data := rand.Perm(check.Scale(10_000_000, 100_000))
	work := make([]int, len(data))
	b.Run("slices.Sort", func(b *testing.B) {
		for b.Loop() {
			copy(work, data)
			slices.Sort(work)
		}
	})
	b.Run("Group", func(b *testing.B) {
		p := weir.New(runtime.GOMAXPROCS(0))
		defer p.Close()
		for b.Loop() {
			copy(work, data)
			err := run(p, func(ctx context.Context) error { return quicksortNested(ctx, p, work) })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
