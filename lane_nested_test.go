package weir_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
)

// A lane with two lanes, at any depth, has as much to do as a lane next to it, and no more of the run time.
func TestANestedLaneGivesWay(t *testing.T) {
	for depth := range 4 {
		for _, task := range []time.Duration{50 * time.Microsecond, 300 * time.Microsecond, time.Millisecond} {
			check.Bubble(t, fmt.Sprintf("depth %d, tasks of %v", 1+depth, task), func(t *testing.T) {
				p := weir.New(1)
				var nested, plain atomic.Int64
				l := p.Lane(2)
				for range depth {
					l = l.Lane(2)
				}
				feed(l.Lane(1), task, &nested)
				feed(l.Lane(1), task, &nested)
				feed(p.Lane(1), task, &plain)
				time.Sleep(time.Second)
				if n, m := nested.Load(), plain.Load(); m < n*2/3 || n < m*2/3 {
					t.Errorf("lanes of a lane have had %d tasks, and the lane next to that %d", n, m)
				}
				_, _ = p.Shutdown(nothingMore())
				p.Close()
			})
		}
	}
}

// The tasks of a lane's own queue get as much run time as each of its lanes.
func TestALanePaysForItsOwnQueueOnce(t *testing.T) {
	for places := 1; places <= 3; places++ {
		for _, queue := range []bool{false, true} {
			check.Bubble(t, fmt.Sprintf("%d places, next to the queue of the pool %v", places, queue), func(t *testing.T) {
				p := weir.New(places)
				var ran [4]atomic.Int64
				a, other := p.Lane(8), p
				if !queue {
					other = p.Lane(8)
				}
				for i, l := range []*weir.Pool{a, a.Lane(8), a.Lane(8), other} {
					feed(l, time.Millisecond, &ran[i])
				}
				time.Sleep(time.Second)
				own, first, second := ran[0].Load(), ran[1].Load(), ran[2].Load()
				if least := (own + first + second) * 3 / 10; own < least || first < least || second < least {
					t.Errorf("the lane has had %d tasks, its lanes %d and %d", own, first, second)
				}
				_, _ = p.Shutdown(nothingMore())
				p.Close()
			})
		}
	}
}

// A lane that gets a higher limit and no place offers its work to the tasks that wait for it. What it lends for that may end other waits.
func TestAnOfferThatEndsAnotherWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		l := p.Lane(1, weir.Queue(0))
		other, last, crowds, waits, over := check.NewValve(), check.NewValve(), make(chan struct{}), make(chan struct{}), make(chan struct{})
		check.OK(t, p.Submit(other.Hold))
		synctest.Wait()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			g := l.Group(ctx)
			g.Go(func(ctx context.Context) error { // in the place that the task above lends
				go func() {
					defer close(over)
					<-crowds
					inner := l.Group(ctx)
					inner.Go(succeed) // waits for room
					inner.Go(succeed)
					_ = inner.Wait()
				}()
				weir.Blocking(ctx, func() { <-over })
				return nil
			})
			<-waits
			return g.Wait()
		}))
		synctest.Wait()
		go func() { _ = l.Submit(last.Hold) }()
		synctest.Wait()
		other.Open()
		for _, next := range []chan struct{}{crowds, waits} {
			synctest.Wait()
			close(next)
		}
		synctest.Wait()
		l.Resize(3)
		synctest.Wait()
		last.Open()
		p.Close()
	})
}

// A task of a lane waits for work of its pool, or of another lane, by way of tasks that have no place there: of groups with workers of their
// own, of a stream's source, and of another pool. The lock that it holds meanwhile hangs nothing.
func TestALockHeldOverAWaitForAnotherLaneByWayOfTasksWithoutAPlaceThere(t *testing.T) {
	by := map[string]func(ctx context.Context, q, on *weir.Pool, work func(context.Context) error) error{
		"a group of its own": func(ctx context.Context, _, _ *weir.Pool, work func(context.Context) error) error {
			g := weir.NewGroup(ctx, 1)
			g.Go(work)
			return g.Wait()
		},
		"two groups of their own": func(ctx context.Context, _, _ *weir.Pool, work func(context.Context) error) error {
			g := weir.NewGroup(ctx, 1)
			g.Go(func(ctx context.Context) error {
				g := weir.NewGroup(ctx, 1)
				g.Go(work)
				return g.Wait()
			})
			return g.Wait()
		},
		"a group of another pool": func(ctx context.Context, q, _ *weir.Pool, work func(context.Context) error) error {
			g := q.Group(ctx)
			g.Go(work)
			return g.Wait()
		},
		"Do of another pool": func(ctx context.Context, q, _ *weir.Pool, work func(context.Context) error) error {
			return q.Do(ctx, work)
		},
		"a stream of two stages": func(ctx context.Context, _, on *weir.Pool, _ func(context.Context) error) error {
			same := func(_ context.Context, i int) (int, error) { return i, nil }
			for _, err := range par.Stream(ctx, par.Pipe(slices.Values([]int{1, 2, 3}), same, par.On(on)), same, par.On(on)) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	for from := range 4 {
		for to := range 4 {
			for way, waits := range by {
				check.Bubble(t, fmt.Sprintf("from %d to %d by way of %s", from, to, way), func(t *testing.T) {
					p, q := weir.New(2), weir.New(1)
					lane := p.Lane(2)
					family := []*weir.Pool{p, lane, lane.Lane(2), p.Lane(2)}
					lock, locked := make(chan struct{}, 1), make(chan struct{})
					g := family[from].Group(t.Context())
					g.Go(func(ctx context.Context) error {
						lock <- struct{}{}
						close(locked)
						synctest.Wait()
						err := waits(ctx, q, family[to], func(ctx context.Context) error {
							g := family[to].Group(ctx)
							g.Go(succeed)
							return g.Wait()
						})
						<-lock
						return err
					})
					<-locked
					check.OK(t, p.Submit(func() {
						lock <- struct{}{}
						<-lock
					}))
					check.OK(t, g.Wait())
					p.Close()
					q.Close()
					check.Equal(t, "extra places", p.Stats().Extra, 0)
				})
			}
		}
	}
}

// A task of a lane that adds tasks to a group on the lane, which is full, has its place lent to one of them. To go on before
// that has ended, or another place is free, it would need one more place, and another with each task that it adds.
func TestATaskThatFillsALaneTakesNoPlacesBeyondTheLimit(t *testing.T) {
	const members = 20
	for _, queue := range []int{0, 1, 5} {
		for _, way := range []string{"a lane", "a lane of a lane", "a lane of a lane with the limit of the pool"} {
			check.Bubble(t, fmt.Sprint(way, " queue ", queue), func(t *testing.T) {
				p := weir.New(2, weir.Queue(queue))
				defer p.Close()
				l := p.Lane(weir.Unbounded, weir.Queue(queue))
				switch way {
				case "a lane of a lane":
					l = l.Lane(weir.Unbounded, weir.Queue(queue))
				case "a lane of a lane with the limit of the pool":
					l = l.Lane(2, weir.Queue(queue)).Lane(weir.Unbounded, weir.Queue(queue))
				}
				begun := 0
				end := make(chan struct{})
				go func() {
					check.OK(t, l.Do(t.Context(), func(ctx context.Context) error {
						g := l.Group(ctx)
						for range members {
							g.Go(func(context.Context) error {
								begun++
								<-end
								return nil
							})
						}
						return g.Wait()
					}))
				}()
				running := func(step string, want int) {
					synctest.Wait()
					check.Equal(t, "tasks begun "+step, begun, want)
					check.Equal(t, "extra places "+step, p.Stats().Extra, 0)
				}
				running("at first", 2)
				end <- struct{}{}
				running("after the end of one", 3)
				end <- struct{}{}
				running("after the end of another one", 4)
				close(end)
				running("at the end", members)
			})
		}
	}
}
