package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// Tasks beyond the limit of a group with workers of its own wait for the end of its first ones, until it has workers. The rooms that a
// group may have for them, with and without a number of tasks that brings the workers:
var rooms = []int{0, 1, 5, aroundTheChange, 2 * aroundTheChange}

// occupied is a group with a limit of 1 and a task that holds it.
type occupied struct {
	*weir.Group
	release chan struct{}
	begun   []int // the tasks after that one, in the order in which they have begun
}

func newOccupied(opts ...weir.Option) *occupied {
	h := &occupied{Group: weir.NewGroup(context.Background(), 1, opts...), release: make(chan struct{})}
	h.Go(func(context.Context) error { <-h.release; return nil })
	return h
}

// task notes that it begins. No two of a group run at once.
func (h *occupied) task(number int) func(context.Context) error {
	return func(context.Context) error {
		h.begun = append(h.begun, number)
		return nil
	}
}

func TestTasksBeyondTheLimitOfAGroupBeginInOrder(t *testing.T) {
	for _, room := range rooms {
		check.Bubble(t, fmt.Sprint("room for ", room), func(t *testing.T) {
			h := newOccupied(weir.Queue(room))
			const n = 3 * aroundTheChange
			var accepted atomic.Int64
			go func() {
				for i := range n {
					h.Go(h.task(i))
					accepted.Add(1)
				}
			}()
			synctest.Wait()
			check.Equal(t, "accepted while no task ends", accepted.Load(), int64(min(room, n)))
			check.Equal(t, "TryGo without room", h.TryGo(succeed), room >= n)
			close(h.release)
			check.OK(t, h.Wait())
			synctest.Wait()
			check.OK(t, h.Wait()) // for those that were given after the first Wait was over
			check.Equal(t, "accepted", accepted.Load(), n)
			check.Equal(t, "tasks in order", slices.IsSorted(h.begun) && len(h.begun) == n, true)
		})
	}
}

func TestTryGoFindsTheRoomThatAGroupHas(t *testing.T) {
	check.Bubble(t, "room for 2", func(t *testing.T) {
		h := newOccupied(weir.Queue(2))
		for i, want := range []bool{true, true, false, false} {
			check.Equal(t, fmt.Sprint("TryGo ", i), h.TryGo(h.task(i)), want)
		}
		close(h.release)
		check.OK(t, h.Wait())
		check.Equal(t, "tasks", fmt.Sprint(h.begun), "[0 1]")
	})
}

// A caller of Go that waits does so in its turn, also if the group gets its workers meanwhile.
func TestACallerThatWaitsIsNotOvertakenWhereAGroupGetsItsWorkers(t *testing.T) {
	check.Bubble(t, "one caller", func(t *testing.T) {
		g := weir.NewGroup(context.Background(), 1, weir.Queue(0))
		adopt, adopted, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
		g.Go(func(ctx context.Context) error {
			<-adopt
			// It uses the library, and keeps its place, as nothing is blocked.
			inner := weir.NewGroup(ctx, 1)
			inner.Go(succeed)
			err := inner.Wait()
			close(adopted)
			<-release
			return err
		})
		var begun []string
		give := func(name string) {
			go g.Go(func(context.Context) error { begun = append(begun, name); return nil })
			synctest.Wait()
		}
		give("first")
		give("second")
		close(adopt)
		<-adopted
		give("third")
		close(release)
		check.OK(t, g.Wait())
		synctest.Wait()
		check.OK(t, g.Wait())
		check.Equal(t, "order", fmt.Sprint(begun), "[first second third]")
	})
}

// Resize lets tasks that wait begin at once.
func TestAHigherLimitIsUsedByTheTasksThatWaitForOthers(t *testing.T) {
	for _, room := range rooms {
		for _, limit := range []int{2, aroundTheChange, 5000} {
			check.Bubble(t, fmt.Sprintf("room for %d, limit %d", room, limit), func(t *testing.T) {
				h := newOccupied(weir.Queue(room))
				running := new(check.Gauge)
				const n = 2 * aroundTheChange
				go func() {
					for range n {
						h.Go(func(context.Context) error {
							running.Enter()
							defer running.Leave()
							<-h.release
							return nil
						})
					}
				}()
				synctest.Wait()
				h.Resize(limit)
				synctest.Wait()
				check.Equal(t, "tasks that run", running.Peak.Load(), int64(min(limit-1, n)))
				close(h.release)
				check.OK(t, h.Wait())
				synctest.Wait()
				check.OK(t, h.Wait())
				check.Equal(t, "most tasks at once, without the first", running.Peak.Load() <= int64(limit), true)
			})
		}
	}
}

func TestALowerLimitHoldsForTasksThatWaitForOthers(t *testing.T) {
	check.Bubble(t, "from 3 to 1", func(t *testing.T) {
		g := weir.NewGroup(context.Background(), 3)
		running := new(check.Gauge)
		for i := range 9 {
			g.Go(func(context.Context) error {
				running.Enter()
				defer running.Leave()
				time.Sleep(time.Second)
				if i > 4 {
					check.Equal(t, "tasks at once", running.Now.Load(), 1)
				}
				return nil
			})
		}
		g.Resize(1)
		check.OK(t, g.Wait())
	})
}

// No task of a cancelled group begins any more, and no caller waits for room in it.
func TestACancelledGroupForgetsTheTasksThatWaitForOthers(t *testing.T) {
	planted := errors.New("planted")
	for _, room := range rooms {
		for name, cancel := range map[string]func(h *occupied, stop context.CancelCauseFunc){
			"by Cancel":     func(h *occupied, _ context.CancelCauseFunc) { h.Cancel(planted) },
			"by its parent": func(_ *occupied, stop context.CancelCauseFunc) { stop(planted) },
		} {
			check.Bubble(t, fmt.Sprintf("room for %d, %s", room, name), func(t *testing.T) {
				ctx, stop := context.WithCancelCause(context.Background())
				defer stop(nil)
				h := &occupied{Group: weir.NewGroup(ctx, 1, weir.Queue(room)), release: make(chan struct{})}
				h.Go(func(context.Context) error { <-h.release; return nil })
				var returned atomic.Int32
				for i := range 2 * aroundTheChange {
					go func() {
						h.Go(h.task(i))
						returned.Add(1)
					}()
				}
				synctest.Wait()
				cancel(h, stop)
				synctest.Wait()
				check.Equal(t, "calls of Go that have returned", returned.Load(), 2*aroundTheChange)
				close(h.release)
				check.Error(t, h.Wait(), planted)
				check.Equal(t, "tasks that have begun", len(h.begun), 0)
			})
		}
	}
}

// A task that waits begins also if the one before it takes its goroutine down.
func TestATaskThatWaitsOutlivesTheGoroutineBeforeIt(t *testing.T) {
	for name, end := range map[string]func() error{
		"exits":  func() error { runtime.Goexit(); return nil },
		"panics": func() error { panic("planted") },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			g := weir.NewGroup(context.Background(), 1, weir.KeepGoing(), weir.PanicsAsErrors())
			ran := 0
			for range 9 {
				g.Go(func(context.Context) error { ran++; return end() })
			}
			if err := g.Wait(); err == nil {
				t.Error("no error")
			}
			check.Equal(t, "tasks", ran, 9)
		})
	}
}

// A group in a task gets its workers only when it needs them. The task that waits for it lends its place then as well, by way of any other.
func TestATaskLendsItsPlaceToAGroupThatGetsItsWorkersLater(t *testing.T) {
	async := func(ctx context.Context, p *weir.Pool) error {
		_, err := weir.Async(ctx, p, func(context.Context) (int, error) { return 1, nil }).Get(ctx)
		return err
	}
	for name, uses := range map[string]func(ctx context.Context, p, q *weir.Pool) error{
		"itself": func(ctx context.Context, p, _ *weir.Pool) error { return async(ctx, p) },
		"by way of another pool": func(ctx context.Context, p, q *weir.Pool) error {
			g := q.Group(ctx)
			for range 3 {
				g.Go(func(ctx context.Context) error { return async(ctx, p) })
			}
			return g.Wait()
		},
		"by way of a lane": func(ctx context.Context, p, _ *weir.Pool) error {
			g := p.Lane(1).Group(ctx)
			g.Go(func(ctx context.Context) error { return async(ctx, p) })
			return g.Wait()
		},
		"by way of groups": func(ctx context.Context, p, q *weir.Pool) error {
			outer := weir.NewGroup(ctx, 1)
			outer.Go(func(ctx context.Context) error {
				g := weir.NewGroup(ctx, 1)
				g.Go(func(ctx context.Context) error { return async(ctx, p) })
				g.Go(func(ctx context.Context) error { return async(ctx, q) })
				return g.Wait()
			})
			return outer.Wait()
		},
		"by a call": func(ctx context.Context, p, q *weir.Pool) error {
			return p.Do(ctx, func(ctx context.Context) error { return async(ctx, q) })
		},
	} {
		for _, hostFirst := range []bool{false, true} {
			check.Bubble(t, fmt.Sprintf("%s, the host waits first: %v", name, hostFirst), func(t *testing.T) {
				p, q := weir.New(1), weir.New(1)
				defer p.Close()
				defer q.Close()
				check.OK(t, p.Do(context.Background(), func(ctx context.Context) error {
					g := weir.NewGroup(ctx, 2)
					g.Go(func(ctx context.Context) error {
						if hostFirst {
							synctest.Wait()
						}
						return uses(ctx, p, q)
					})
					if !hostFirst {
						synctest.Wait()
					}
					return g.Wait()
				}))
				check.Equal(t, "tasks that wait", p.Stats().Suspended, 0)
			})
		}
	}
	check.Bubble(t, "a place of the group", func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		check.OK(t, p.Do(context.Background(), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 1)
			g.Go(func(ctx context.Context) error {
				synctest.Wait() // until the task above waits
				other := make(chan struct{})
				g.Go(func(context.Context) error { close(other); return nil })
				_, err := weir.Async(ctx, p, func(context.Context) (int, error) { <-other; return 1, nil }).Get(ctx)
				return err
			})
			return g.Wait()
		}))
		check.Equal(t, "tasks that wait", p.Stats().Suspended, 0)
	})
	check.Bubble(t, "again and again", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		check.OK(t, p.Do(context.Background(), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 2)
			for round := range 5 {
				for range 1 + 2*round {
					g.Go(func(ctx context.Context) error {
						if round%2 == 1 {
							inner := weir.NewGroup(ctx, 1)
							inner.Go(succeed)
							inner.Go(succeed)
							return inner.Wait()
						}
						return nil
					})
				}
				if err := g.Wait(); err != nil {
					return err
				}
			}
			return nil
		}))
	})
}

func TestACancelledGroupInATaskThatHasNoWorkersYet(t *testing.T) {
	planted := errors.New("planted")
	check.Bubble(t, "", func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		check.Error(t, p.Do(context.Background(), func(ctx context.Context) error {
			g := weir.NewGroup(ctx, 3)
			for i := range 3 {
				g.Go(func(ctx context.Context) error {
					if i == 1 {
						synctest.Wait()
						return planted
					}
					<-ctx.Done()
					g.Go(func(context.Context) error { t.Error("a task of a cancelled group has begun"); return nil })
					return ctx.Err()
				})
			}
			return g.Wait()
		}), planted)
	})
}

// Tasks that wait for one that lends its place are not lost, and begin while it waits.
func TestTasksThatWaitForOneThatLendsItsPlace(t *testing.T) {
	for _, room := range rooms {
		check.Bubble(t, fmt.Sprint("room for ", room), func(t *testing.T) {
			g := weir.NewGroup(context.Background(), 1, weir.Queue(room))
			others := make(chan struct{}, aroundTheChange)
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, func() {
					for range aroundTheChange {
						<-others
					}
				})
				return nil
			})
			for range aroundTheChange {
				g.Go(func(context.Context) error { others <- struct{}{}; return nil })
			}
			check.OK(t, g.Wait())
		})
	}
}
