package weir_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// drain counts results, none of which may be an error.
func drain[T any](t testing.TB, results iter.Seq2[T, error]) int {
	t.Helper()
	n := 0
	for _, err := range results {
		check.OK(t, err)
		n++
	}
	return n
}

// loops are both ways to range over r.
func loops[T any](r *weir.Results[T]) map[string]iter.Seq2[T, error] {
	return map[string]iter.Seq2[T, error]{"All": r.All(), "Ordered": r.Ordered()}
}

// loopNames are the keys of loops.
var loopNames = []string{"All", "Ordered"}

// sleeper is a task that takes so many seconds, and returns them.
func sleeper(seconds int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		time.Sleep(time.Duration(seconds) * time.Second)
		return seconds, nil
	}
}

func TestAllYieldsResultsAsTheyFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 10))
		for _, seconds := range []int{4, 1, 3, 7, 2} {
			r.Go(sleeper(seconds))
		}
		begin := time.Now()
		var order []int
		for v, err := range r.All() {
			check.OK(t, err)
			check.Equal(t, "comes after", time.Since(begin), time.Duration(v)*time.Second)
			order = append(order, v)
		}
		equalSlices(t, "order", order, []int{1, 2, 3, 4, 7})
	})
	check.Bubble(t, "those that have finished before, too", func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 10))
		for _, seconds := range []int{4, 1, 3, 7, 2} {
			r.Go(sleeper(seconds))
		}
		time.Sleep(5 * time.Second)
		begin := time.Now()
		seen := 0
		for v, err := range r.All() {
			check.OK(t, err)
			seen++
			if v < 7 {
				check.Equal(t, "comes after", time.Since(begin), 0)
			} else {
				check.Equal(t, "comes after", time.Since(begin), 2*time.Second)
			}
		}
		check.Equal(t, "seen", seen, 5)
	})
	check.Bubble(t, "while the body takes its time", func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 10))
		for _, seconds := range []int{4, 1, 3, 7, 2} {
			r.Go(sleeper(seconds))
		}
		var order []int
		for v, err := range r.All() {
			check.OK(t, err)
			time.Sleep(time.Minute)
			order = append(order, v)
		}
		equalSlices(t, "order", order, []int{1, 2, 3, 4, 7})
	})
}

// A result must not be lost between the look for what has finished and the watch
// for what finishes, nor between two that finish at once.
func TestALoopMissesNoResultThatComesMeanwhile(t *testing.T) {
	rounds := 2000
	if check.Race {
		rounds /= 10 // each takes far longer
	}
	for _, name := range loopNames {
		for _, tasks := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%s/tasks=%d", name, tasks), func(t *testing.T) {
				check.Within(time.Minute, func() {
					p := weir.New(4)
					defer p.Close()
					r := weir.NewResults[int](p.Group(context.Background()))
					for round := range rounds {
						var started atomic.Int32
						var looping atomic.Bool
						for i := range tasks {
							r.Go(func(context.Context) (int, error) {
								started.Add(1)
								for !looping.Load() {
									runtime.Gosched()
								}
								spin(round % 1000) // about as long as it takes to begin the loop
								return i, nil
							})
						}
						eventually(t, "all run", func() bool { return int(started.Load()) == tasks })
						looping.Store(true)
						if n := drain(t, loops(r)[name]); n != tasks {
							t.Fatalf("round %d: %d results of %d tasks", round, n, tasks)
						}
					}
				})
			})
		}
	}
}

// spin keeps the processor busy for n times 3 ns or so.
func spin(n int) {
	var word atomic.Int32
	for range n {
		word.Add(1)
	}
}

func TestOrderedYieldsResultsInOrderAsTheyBecomeReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := weir.NewResults[int](weir.NewGroup(t.Context(), 10))
		seconds := []int{2, 1, 4, 3, 7, 5}
		for _, s := range seconds {
			r.Go(sleeper(s))
		}
		begin := time.Now()
		i, latest := 0, 0
		for v, err := range r.Ordered() {
			check.OK(t, err)
			check.Equal(t, "value", v, seconds[i])
			latest = max(latest, v)
			check.Equal(t, "comes after", time.Since(begin), time.Duration(latest)*time.Second)
			i++
		}
		check.Equal(t, "seen", i, len(seconds))
	})
	check.Bubble(t, "a task that did not return delays no result", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 10, weir.KeepGoing(), weir.PanicsAsErrors())
		r := weir.NewResults[int](g)
		r.Go(exitWithResult)
		r.Go(gives(1))
		r.Go(explodeWithResult)
		r.Go(failsWith(3))
		r.Go(sleeper(4))
		begin := time.Now()
		i := 0
		for v, err := range r.Ordered() {
			_, isPanic := errors.AsType[*weir.Panic](err)
			switch i {
			case 0:
				check.Error(t, err, weir.ErrGoexit)
			case 2:
				check.Equal(t, "panic", isPanic, true)
			case 3:
				check.Error(t, err, errBoom)
				check.Equal(t, "value with the error", v, 3)
			default:
				check.OK(t, err)
				check.Equal(t, "value", v, i)
			}
			if err != nil {
				equalSlices(t, "failed", failedTasks(t, err), []int{i})
			}
			check.Equal(t, "comes after", time.Since(begin), time.Duration(i/4*4)*time.Second)
			i++
		}
		check.Equal(t, "seen", i, 5)
	})
}

func TestALoopKeepsNoValueThatItHasYielded(t *testing.T) {
	for _, name := range loopNames {
		t.Run(name, func(t *testing.T) {
			r := weir.NewResults[*[1 << 10]byte](weir.NewGroup(context.Background(), 1))
			for range 20 {
				r.Go(func(context.Context) (*[1 << 10]byte, error) { return new([1 << 10]byte), nil })
			}
			var before weak.Pointer[[1 << 10]byte]
			seen := 0
			for v, err := range loops(r)[name] {
				check.OK(t, err)
				runtime.GC()
				if seen++; seen > 1 && before.Value() != nil {
					t.Error("the value before is still there")
				}
				before = weak.Make(v)
			}
			check.Equal(t, "seen", seen, 20)
		})
	}
}

// The goroutine that waits for the end of the loop must wait, and not look again and again: then the clock of a bubble stands still.
func TestASlowLoopAfterAFailureKeepsNoProcessorBusy(t *testing.T) {
	for _, name := range loopNames {
		check.Bubble(t, name, func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 1)
			r := weir.NewResults[int](g)
			r.Go(sleeper(1))
			r.Go(func(context.Context) (int, error) { return 0, errBoom }) // the limit is reached: it makes the engine
			synctest.Wait()
			values := 0
			for _, err := range loops(r)[name] {
				if err == nil {
					values++
					time.Sleep(time.Second)
				}
			}
			check.Equal(t, "values", values, 1)
		})
	}
}
