package weir_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestTheBodyOfALoopMayGiveTasks(t *testing.T) {
	for _, name := range loopNames {
		for _, limit := range []int{1, 3} {
			check.Bubble(t, fmt.Sprintf("%s/limit=%d", name, limit), func(t *testing.T) {
				g := weir.NewGroup(t.Context(), limit)
				r := weir.NewResults[int](g)
				first := g.Context()
				r.Go(gives(6))
				synctest.Wait()
				seen := 0
				for depth, err := range loops(r)[name] {
					check.OK(t, err)
					check.Equal(t, "still in the first batch", g.Context(), first)
					synctest.Wait() // all tasks have finished
					for range 2 {
						if depth > 0 {
							r.Go(gives(depth - 1))
						}
					}
					seen++
				}
				check.Equal(t, "seen", seen, 1<<7-1)
			})
		}
		t.Run(name+"/under load", func(t *testing.T) {
			check.Within(time.Minute, func() {
				r := weir.NewResults[int](weir.NewGroup(context.Background(), 4))
				for range check.Scale(500, 50) {
					r.Go(gives(5))
					seen := 0
					for depth, err := range loops(r)[name] {
						check.OK(t, err)
						for range 2 {
							if depth > 0 {
								r.Go(gives(depth - 1))
							}
						}
						seen++
					}
					check.Equal(t, "seen", seen, 1<<6-1)
				}
			})
		})
	}
}

func TestAProducerOfTheGroupMayGiveTasksDuringALoop(t *testing.T) {
	for _, name := range loopNames {
		check.Bubble(t, name, func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 3)
			r := weir.NewResults[int](g)
			g.Go(func(context.Context) error {
				for i := range 20 {
					time.Sleep(time.Minute) // far longer than each task
					r.Go(gives(i))
				}
				return nil
			})
			begin := time.Now()
			i := 0
			for v, err := range loops(r)[name] {
				check.OK(t, err)
				check.Equal(t, "value", v, i)
				i++
				check.Equal(t, "comes after", time.Since(begin), time.Duration(i)*time.Minute)
			}
			check.Equal(t, "seen", i, 20)
		})
		t.Run(name+"/under load", func(t *testing.T) {
			check.Within(time.Minute, func() {
				for _, limit := range []int{2, 4} {
					g := weir.NewGroup(context.Background(), limit, weir.Queue(16))
					r := weir.NewResults[int](g)
					for range check.Scale(30, 5) {
						g.Go(func(context.Context) error {
							for i := range 500 {
								r.Go(gives(i))
							}
							return nil
						})
						var values []int
						for v, err := range loops(r)[name] {
							check.OK(t, err)
							values = append(values, v)
						}
						if name == "All" {
							slices.Sort(values)
						}
						for i, v := range values {
							if i != v {
								t.Fatalf("value %d is missing, there twice, or out of order", i)
							}
						}
						check.Equal(t, "values", len(values), 500)
					}
				}
			})
		})
	}
}

func TestLoopsOverResultsThatShareAGroupSeeTheirOwn(t *testing.T) {
	for _, name := range loopNames {
		check.Bubble(t, name, func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 3)
			first, second := weir.NewResults[int](g), weir.NewResults[int](g)
			for i := range 10 {
				first.Go(sleeper(i))
				second.Go(sleeper(i))
			}
			check.Equal(t, "first", drain(t, loops(first)[name]), 10)
			check.Equal(t, "second, though the batch is over", drain(t, loops(second)[name]), 10)
			for i := range 10 {
				first.Go(sleeper(i))
				second.Go(sleeper(i))
			}
			var both sync.WaitGroup
			both.Go(func() { check.Equal(t, "first", drain(t, loops(first)[name]), 10) })
			check.Equal(t, "second, at the same time", drain(t, loops(second)[name]), 10)
			both.Wait()
		})
	}
}

func TestAGroupIsNotOverBeforeALoopHasSeenAllResults(t *testing.T) {
	for _, name := range loopNames {
		check.Bubble(t, name, func(t *testing.T) {
			g := weir.NewGroup(t.Context(), 3)
			r := weir.NewResults[int](g)
			for i := range 5 {
				r.Go(gives(i))
			}
			var waiting sync.WaitGroup
			seen := 0
			for _, err := range loops(r)[name] {
				check.OK(t, err)
				if seen == 0 {
					waiting.Go(func() {
						check.OK(t, g.Wait())
						check.Equal(t, "results seen when Wait returns", seen, 5)
					})
				}
				time.Sleep(time.Second)
				seen++
			}
			waiting.Wait()
		})
	}
}

// While a task ranges over results, another goroutine of it gives a task just as the group would be over. That begins a circular
// wait through futures of two pools, which ends as long as the engine knows that the loop waits again.
func TestPromise09ACircularWaitThatBeginsAtTheEndOfALoopEnds(t *testing.T) {
	p, q := weir.New(1), weir.New(1)
	defer p.Close()
	defer q.Close()
	for i := range check.Scale(2000, 300) {
		check.OK(t, run(p, func(ctx context.Context) error {
			r := weir.NewResults[int](p.Group(ctx))
			r.Go(func(context.Context) (int, error) { return 1, nil })
			var giver sync.WaitGroup
			seen := make(chan struct{}, 2)
			giver.Go(func() {
				<-seen
				for range i % 50 {
					_ = time.Now()
				}
				r.Go(func(ctx context.Context) (int, error) {
					return weir.Async(ctx, q, func(ctx context.Context) (int, error) {
						return weir.Async(ctx, p, func(context.Context) (int, error) { return 1, nil }).Get(ctx)
					}).Get(ctx)
				})
			})
			for _, err := range r.All() {
				check.OK(t, err)
				seen <- struct{}{}
			}
			giver.Wait()
			_, err := r.Wait()
			return err
		}))
	}
}
