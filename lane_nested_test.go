package weir_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

// Work of a lane for which a task of the pool waits, by way of another pool, has lacked the lane's permit, and the place of that task is lent to one that
// may wait for a lock of it. When the lane has the permit again, but bids in vain for a place, the work gets that place.
func TestABidTakesAPlaceBackForWhatItsTaskWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(2), weir.New(3)
		l := p.Lane(1)
		lock, first, second := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		locks := func() {
			lock <- struct{}{}
			<-lock
		}
		opened := weir.Async(t.Context(), q, func(context.Context) (int, error) {
			<-first
			return 0, nil
		})
		holder := weir.Async(t.Context(), l, func(ctx context.Context) (int, error) { // has the permit of the lane
			_, err := opened.Get(ctx)
			time.Sleep(time.Second) // which the lane pays for
			close(second)
			time.Sleep(time.Second)
			return 0, err
		})
		synctest.Wait()
		owner := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) {
			lock <- struct{}{}
			defer func() { <-lock }()
			return 0, q.Do(ctx, func(ctx context.Context) error {
				<-second
				return l.Do(ctx, succeed)
			})
		})
		synctest.Wait()
		stranger := weir.Async(t.Context(), q, func(ctx context.Context) (int, error) {
			f := weir.Async(ctx, p, func(context.Context) (int, error) {
				locks()
				return 0, nil
			})
			return f.Get(ctx)
		})
		synctest.Wait()
		check.OK(t, p.Submit(locks))
		close(first)
		for _, f := range []*weir.Future[int]{holder, owner, stranger} {
			_, err := f.Get(t.Context())
			check.OK(t, err)
		}
		p.Close()
		q.Close()
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

// A task that hands tasks over to a full pool, or to a full lane of the same pool, has its place lent to one of them. To go on
// before that has ended, or another place is free, it would need one more place, and another with each task that it hands over.
func TestATaskThatFillsALaneTakesNoPlacesBeyondTheLimit(t *testing.T) {
	const members = 20
	own := []string{"in a lane", "in a lane of a lane", "in a lane of a lane with the limit of the pool"}
	for _, queue := range []int{0, 1, 5} {
		for _, way := range append(own, "pool to lane", "lane to pool", "lane to lane") {
			for _, by := range []string{"a group", "Async", "Go"} {
				if by != "a group" && slices.Contains(own, way) {
					continue // there the caller waits for the task
				}
				check.Bubble(t, fmt.Sprintf("%s by %s, queue %d", way, by, queue), func(t *testing.T) {
					p := weir.New(2, weir.Queue(queue))
					defer p.Close()
					l := p.Lane(weir.Unbounded, weir.Queue(queue))
					from, to := l, l
					switch way {
					case "pool to lane":
						from = p
					case "lane to pool":
						to = p
					case "lane to lane":
						from = p.Lane(weir.Unbounded)
					case "in a lane of a lane":
						from = l.Lane(weir.Unbounded, weir.Queue(queue))
						to = from
					case "in a lane of a lane with the limit of the pool":
						from = l.Lane(2, weir.Queue(queue)).Lane(weir.Unbounded, weir.Queue(queue))
						to = from
					}
					var begun atomic.Int32
					end := make(chan struct{})
					member := func(context.Context) error {
						begun.Add(1)
						<-end
						return nil
					}
					go func() {
						check.OK(t, from.Do(t.Context(), func(ctx context.Context) error {
							g := to.Group(ctx)
							for range members {
								switch by {
								case "a group":
									g.Go(member)
								case "Async":
									weir.Async(ctx, to, func(ctx context.Context) (int, error) { return 0, member(ctx) })
								case "Go":
									check.OK(t, to.Go(context.WithoutCancel(ctx), member))
								}
							}
							return g.Wait()
						}))
					}()
					running := func(step string, want int) {
						synctest.Wait()
						check.Equal(t, "tasks begun "+step, int(begun.Load()), want)
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
}

// Tasks of groups that are nested over a pool and lanes of it, whose queues are full, all end: what a task waits for before it hands the next one over
// needs no place that this task has.
func TestGroupsNestedOverFullLanesEnd(t *testing.T) {
	deepest := 4
	if check.Race {
		deepest = 3
	}
	var sequences func(begin []int)
	sequences = func(begin []int) {
		if len(begin) >= 3 {
			for members := 2; members <= 3; members++ {
				check.Bubble(t, fmt.Sprint(begin, members), func(t *testing.T) {
					p := weir.New(1, weir.Queue(0))
					defer p.Close()
					l := p.Lane(1, weir.Queue(0))
					pools := []*weir.Pool{p, l, p.Lane(1), l.Lane(1)}
					var nest func(ctx context.Context, depth int) error
					nest = func(ctx context.Context, depth int) error {
						if depth == len(begin) {
							return nil
						}
						g := pools[begin[depth]].Group(ctx)
						for range members {
							g.Go(func(ctx context.Context) error { return nest(ctx, depth+1) })
						}
						return g.Wait()
					}
					check.OK(t, pools[begin[0]].Do(t.Context(), func(ctx context.Context) error { return nest(ctx, 1) }))
				})
			}
		}
		if len(begin) < deepest {
			for next := range 4 {
				sequences(append(slices.Clone(begin), next))
			}
		}
	}
	sequences(nil)
}

// All tasks wait, so the place of one that waits for room is lent to a task that waits for it in turn: it must not wait for that place.
func TestATaskThatFillsALaneDoesNotWaitForOneThatWaitsForIt(t *testing.T) {
	check.Bubble(t, "full lane", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		l := p.Lane(1, weir.Queue(2))
		l.Pause()
		end := make(chan struct{})
		go func() {
			check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(2*time.Second, cancel) // which makes room for one
				g := l.Group(ctx)
				g.Go(succeed)
				check.Error(t, g.Wait(), context.Canceled)
				<-end
				return nil
			}))
		}()
		time.Sleep(time.Second / 2)
		check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
			f := weir.Async(ctx, p, func(ctx context.Context) (int, error) {
				g := l.Group(ctx)
				g.Go(succeed)
				g.Go(succeed)
				return 1, nil
			})
			weir.Blocking(ctx, func() { time.Sleep(time.Second) })
			_, err := f.Get(ctx)
			return err
		}))
		close(end)
		l.Resume()
	})
}

// Several goroutines of a task hand over at once: what one of them waits for may have the place on which another one waits.
func TestGoroutinesOfATaskThatFillALaneDoNotWaitForEachOther(t *testing.T) {
	for range check.Scale(100, 20) {
		check.Bubble(t, "", func(t *testing.T) {
			p := weir.New(1, weir.Queue(3))
			defer p.Close()
			l := p.Lane(weir.Unbounded, weir.Queue(1))
			group := func(ctx context.Context, p *weir.Pool, first func(context.Context) error, more int) error {
				g := p.Group(ctx)
				g.Go(first)
				for range more {
					g.Go(succeed)
				}
				return g.Wait()
			}
			check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
				return group(ctx, p, func(ctx context.Context) error {
					return group(ctx, p, func(ctx context.Context) error {
						var wg sync.WaitGroup
						wg.Go(func() { check.OK(t, errors.Join(group(ctx, l, succeed, 0), l.Go(ctx, succeed))) })
						wg.Go(func() { check.OK(t, group(ctx, l, succeed, 0)) })
						wg.Go(func() { check.OK(t, l.Go(ctx, succeed)) })
						wg.Wait()
						return nil
					}, 3)
				}, 0)
			}))
		})
	}
}

// A member that calls Blocking gives the place of the task that has handed it over back, which then goes on.
func TestATaskThatFillsALaneGoesOnWhenItsPlaceIsVacant(t *testing.T) {
	for _, by := range []string{"a group", "Async"} {
		check.Bubble(t, by, func(t *testing.T) {
			p := weir.New(1, weir.Queue(0))
			defer p.Close()
			l := p.Lane(weir.Unbounded)
			check.OK(t, l.Do(t.Context(), func(ctx context.Context) error {
				goesOn := make(chan struct{})
				member := func(ctx context.Context) error {
					weir.Blocking(ctx, func() { <-goesOn })
					return nil
				}
				g := p.Group(ctx)
				if by == "a group" {
					g.Go(member)
				} else {
					weir.Async(ctx, p, func(ctx context.Context) (int, error) { return 0, member(ctx) })
				}
				close(goesOn)
				return g.Wait()
			}))
		})
	}
}

// The end of the context ends the wait of a task that has filled a lane, though its place is still lent.
func TestCancelEndsTheWaitOfATaskThatFillsALane(t *testing.T) {
	for _, by := range []string{"a group", "Async", "Go"} {
		check.Bubble(t, by, func(t *testing.T) {
			p := weir.New(1, weir.Queue(0))
			defer p.Close()
			l := p.Lane(weir.Unbounded, weir.Queue(0))
			check.OK(t, p.Do(t.Context(), func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				began, end := time.Now(), make(chan struct{})
				deaf := func(context.Context) error {
					<-end
					return nil
				}
				g := l.Group(ctx)
				switch by {
				case "a group":
					g.Go(deaf)
				case "Async":
					weir.Async(ctx, l, func(ctx context.Context) (int, error) { return 0, deaf(ctx) })
				case "Go":
					check.OK(t, l.Go(ctx, deaf))
				}
				check.Equal(t, "time that the call took", time.Since(began), time.Second)
				check.Equal(t, "extra places", p.Stats().Extra, 1)
				close(end)
				check.Error(t, g.Wait(), context.DeadlineExceeded)
				return nil
			}))
		})
	}
}
