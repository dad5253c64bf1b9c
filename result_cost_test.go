package weir_test

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestScenario12ManyResultsTakeLinearMemory(t *testing.T) {
	// A place for an int takes 64 bytes, and there may be twice as many as are
	// used; the rest is the slice, the pool's queue, and the group.
	const most = 2*64 + 8 + 32
	task := gives(1)
	for _, n := range []int{10_000, check.Scale(100_000, 12_000)} {
		for name, take := range map[string]func(r *weir.Results[int]) int{
			"Wait": func(r *weir.Results[int]) int {
				values, err := r.Wait()
				check.OK(t, err)
				return len(values)
			},
			"All":     func(r *weir.Results[int]) int { return drain(t, r.All()) },
			"Ordered": func(r *weir.Results[int]) int { return drain(t, r.Ordered()) },
		} {
			g := weir.NewGroup(context.Background(), 1)
			r := weir.NewResults[int](g)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range n {
				r.Go(task)
			}
			check.Equal(t, "results", take(r), n)
			runtime.ReadMemStats(&after)
			each := float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
			t.Logf("%d results at limit 1, %s: %.1f bytes for each", n, name, each)
			if each > most && !check.Race {
				t.Errorf("%d results at limit 1, %s: %.1f bytes for each, more than %d", n, name, each, most)
			}
		}
	}
}

// taskThatHolds returns a task, and a pointer that says whether anything still holds it.
func taskThatHolds() (func(context.Context) (int, error), weak.Pointer[[1 << 10]byte]) {
	held := new([1 << 10]byte)
	return func(context.Context) (int, error) { return int(held[0]), nil }, weak.Make(held)
}

func TestResultsKeepNoTaskThatHasRun(t *testing.T) {
	r := weir.NewResults[int](weir.NewGroup(context.Background(), 1))
	task, held := taskThatHolds()
	r.Go(task)
	r.Go(gives(1)) // the worker has another one in hand when this has run
	v := check.NewValve()
	r.Go(func(context.Context) (int, error) { v.Hold(); return 2, nil })
	eventually(t, "the last task runs", func() bool { return v.Running() == 1 })
	runtime.GC()
	check.Equal(t, "what the first task held is gone", held.Value() == nil, true)
	v.Open()
	values, err := r.Wait()
	check.OK(t, err)
	equalSlices(t, "values", values, []int{0, 1, 2})
}

func TestResultsAllocateInChunks(t *testing.T) {
	const ops, most = 1000, 0.05
	p := weir.New(4)
	defer p.Close()
	r := weir.NewResults[int](p.Group(context.Background()))
	task := gives(1)
	for name, take := range map[string]func(){
		"Wait": func() {
			values, err := r.Wait()
			check.OK(t, err)
			check.Equal(t, "values", len(values), ops)
		},
		"All":     func() { check.Equal(t, "results", drain(t, r.All()), ops) },
		"Ordered": func() { check.Equal(t, "results", drain(t, r.Ordered()), ops) },
	} {
		each := func() {
			for range ops {
				r.Go(task)
			}
			take()
		}
		each()
		if got := testing.AllocsPerRun(check.Scale(20, 5), each) / ops; got > most && !check.Race {
			t.Errorf("%s: %.3f allocations for each task, more than %g", name, got, most)
		}
	}
}

// BenchmarkResults compares with a slice filled by hand, whose tasks need a closure.
func BenchmarkResults(b *testing.B) {
	const limit = 64
	ctx := context.Background()
	task := gives(1)
	b.Run("Group.Go", func(b *testing.B) {
		g := weir.NewGroup(ctx, limit)
		b.ReportAllocs()
		for range b.N {
			g.Go(succeed)
		}
		must(g.Wait())
	})
	b.Run("Group.Go and a slice", func(b *testing.B) {
		g := weir.NewGroup(ctx, limit)
		b.ReportAllocs()
		values := make([]int, b.N)
		for i := range b.N {
			g.Go(func(ctx context.Context) error {
				v, err := task(ctx)
				values[i] = v
				return err
			})
		}
		must(g.Wait())
	})
	for name, take := range map[string]func(r *weir.Results[int]) int{
		"Wait": func(r *weir.Results[int]) int {
			values, err := r.Wait()
			must(err)
			return len(values)
		},
		"All":     func(r *weir.Results[int]) int { return drain(b, r.All()) },
		"Ordered": func(r *weir.Results[int]) int { return drain(b, r.Ordered()) },
	} {
		b.Run(name, func(b *testing.B) {
			r := weir.NewResults[int](weir.NewGroup(ctx, limit))
			b.ReportAllocs()
			for range b.N {
				r.Go(task)
			}
			check.Equal(b, "results", take(r), b.N)
		})
	}
	b.Run("All next to a producer", func(b *testing.B) {
		g := weir.NewGroup(ctx, limit)
		r := weir.NewResults[int](g)
		b.ReportAllocs()
		g.Go(func(context.Context) error {
			for range b.N {
				r.Go(task)
			}
			return nil
		})
		check.Equal(b, "results", drain(b, r.All()), b.N)
	})
	b.Run("10 results", func(b *testing.B) {
		p := weir.New(limit)
		defer p.Close()
		r := weir.NewResults[int](p.Group(ctx))
		b.ReportAllocs()
		for b.Loop() {
			for range 10 {
				r.Go(task)
			}
			_, err := r.Wait()
			must(err)
		}
	})
}
