package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// hasItsPlaces fails the test unless the pool, which has nothing to do, runs as many
// tasks at once as its limit says. In a bubble only.
func hasItsPlaces(t testing.TB, p *weir.Pool, limit int) {
	t.Helper()
	p.Wait()
	v := check.NewValve()
	var clients sync.WaitGroup
	for range limit + 1 {
		clients.Go(func() { check.OK(t, p.Submit(v.Hold)) })
	}
	time.Sleep(time.Minute) // with a rate they begin one after the other
	check.Equal(t, "tasks at once", v.Running(), limit)
	v.Open()
	clients.Wait()
	p.Wait()
}

// Goroutines of a task that fill one group with a Limit wait for room all at once. The pool
// once deadlocked there.
func TestGoroutinesOfATaskThatFillALimitedGroupDoNotUseThePoolUp(t *testing.T) {
	each := check.Scale(500, 100)
	for _, limit := range []int{1, 2, 3} {
		for _, queue := range []int{0, 64} {
			check.Bubble(t, fmt.Sprintf("limit=%d/queue=%d", limit, queue), func(t *testing.T) {
				p := weir.New(limit, weir.Queue(queue))
				defer p.Close()
				var ran atomic.Int64
				check.OK(t, run(p, func(ctx context.Context) error {
					g := p.Group(ctx, weir.Limit(1))
					var producers sync.WaitGroup
					for range 3 {
						producers.Go(func() {
							for range each {
								g.Go(func(context.Context) error {
									ran.Add(1)
									return nil
								})
							}
						})
					}
					producers.Wait()
					return g.Wait()
				}))
				check.Equal(t, "ran", ran.Load(), int64(3*each))
				hasItsPlaces(t, p, limit)
			})
		}
	}
}

// Each member waits for another pool, so that all tasks of the first one often wait.
func TestWithoutAQueueNoMoreMembersBeginThanTheLimitWhateverTheyWaitFor(t *testing.T) {
	for _, limit := range []int{1, 3} {
		check.Bubble(t, fmt.Sprintf("limit=%d", limit), func(t *testing.T) {
			p, other := weir.New(limit, weir.Queue(0)), weir.New(1)
			defer p.Close()
			defer other.Close()
			var begun check.Gauge
			check.OK(t, runIn(t.Context(), p, func(ctx context.Context) error {
				g := p.Group(ctx)
				for range 50 {
					g.Go(func(ctx context.Context) error {
						begun.Enter()
						defer begun.Leave()
						return runIn(ctx, other, backAfter(time.Millisecond))
					})
				}
				return g.Wait()
			}))
			if most := int(begun.Peak.Load()); most > limit {
				t.Errorf("%d had begun at once", most)
			}
		})
	}
}

// A task waits for a group that goroutines which it has started wait for already, with its
// context, so that its one place is lent more than once.
func TestATaskAndOtherGoroutinesWaitForTheSameGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		child, wait := check.NewValve(), make(chan struct{})
		var others sync.WaitGroup // the task does not wait for them
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			inner.Go(child.Member)
			for range 2 {
				others.Go(func() { check.OK(t, inner.Wait()) })
			}
			<-wait
			return inner.Wait()
		})
		synctest.Wait()
		check.Equal(t, "children", child.Running(), 1)
		close(wait)
		synctest.Wait()
		child.Open()
		check.OK(t, g.Wait())
		others.Wait()
		hasItsPlaces(t, p, 1)
	})
}

// A pause holds a subtask although the task that it belongs to gives its place to it,
// and ends before the pause does.
func TestAPauseHoldsWhatAnotherGoroutineWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var ran atomic.Bool
		wait, end := make(chan struct{}), make(chan struct{})
		var other sync.WaitGroup
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			inner := p.Group(ctx)
			inner.Go(func(context.Context) error {
				ran.Store(true)
				return nil
			})
			<-wait
			other.Go(func() { check.OK(t, inner.Wait()) })
			<-end
			return nil
		})
		synctest.Wait()
		p.Pause()
		close(wait)
		synctest.Wait()
		close(end)
		synctest.Wait()
		check.Equal(t, "ran during the pause", ran.Load(), false)
		p.Resume()
		other.Wait()
		check.OK(t, g.Wait())
		check.Equal(t, "ran after it", ran.Load(), true)
		hasItsPlaces(t, p, 1)
	})
}

// Wait of a cancelled group returns although a pause holds the subtasks that it
// waits for: they will never start.
func TestPromise08APauseDoesNotHoldACancelledNestedGroup(t *testing.T) {
	for _, waits := range []bool{false, true} {
		check.Bubble(t, fmt.Sprintf("waits=%t", waits), func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			var inner *weir.Group
			returned, wait, child := false, make(chan struct{}), check.NewValve()
			g := p.Group(t.Context())
			g.Go(func(ctx context.Context) error {
				inner = p.Group(ctx)
				if waits {
					inner.Go(child.Member)
				}
				inner.Go(func(context.Context) error {
					t.Error("a queued subtask of a cancelled group started")
					return nil
				})
				<-wait
				err := inner.Wait()
				returned = true
				return err
			})
			synctest.Wait()
			if waits { // before the pause, and for a task that runs
				close(wait)
				synctest.Wait()
				p.Pause()
				child.Open()
			} else {
				p.Pause()
				close(wait)
			}
			synctest.Wait()
			check.Equal(t, "returned before the cancellation", returned, false)
			inner.Cancel(errBoom)
			synctest.Wait()
			check.Equal(t, "returned after it", returned, true)
			p.Resume()
			check.Error(t, g.Wait(), errBoom)
			hasItsPlaces(t, p, 1)
		})
	}
}

// So it does where the place of the task is lent to another one, which has come back from Blocking while all tasks waited.
func TestPromise08AStrangerInAPauseHoldsNoCancelledNestedGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q, rest := weir.New(2), weir.New(1), check.NewValve()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			weir.Blocking(ctx, func() { time.Sleep(2 * time.Second) })
			rest.Hold()
			return nil
		}))
		var g *weir.Group
		returned := check.NewValve()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			g = p.Group(ctx)
			g.Go(func(ctx context.Context) error {
				return q.Do(ctx, func(ctx context.Context) error {
					<-ctx.Done()
					return nil
				})
			})
			time.Sleep(time.Second)
			check.Error(t, g.Wait(), errBoom)
			returned.Open()
			return nil
		}))
		time.Sleep(3 * time.Second)
		p.Pause()
		synctest.Wait()
		g.Go(func(context.Context) error {
			t.Error("a subtask started in a pause")
			return nil
		})
		synctest.Wait()
		g.Cancel(errBoom)
		returned.Hold() // for ever, unless the group is over
		rest.Open()
		p.Resume()
		p.Close()
		q.Close()
	})
}

// A goroutine that a task has left behind waits for a group of it, which is cancelled as the task ends. What has the task's place then, and that of the
// member, does not come to the other members for long: those of an older group go first.
func TestPromise08TheEndOfATaskEndsTheWaitThatItLeavesBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, rest, returned := weir.New(2), check.NewValve(), check.NewValve()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			time.Sleep(time.Second)
			older := p.Group(ctx)
			for range 4 {
				older.Go(rest.Member)
			}
			return older.Wait()
		}))
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			time.Sleep(2 * time.Second)
			g := p.Group(ctx)
			for range 3 {
				g.Go(func(ctx context.Context) error {
					<-ctx.Done()
					return nil
				})
			}
			go func() {
				check.Error(t, g.Wait(), context.Canceled)
				returned.Open()
			}()
			time.Sleep(time.Second)
			return nil
		}))
		returned.Hold() // for ever, unless the group is over
		rest.Open()
		p.Close()
	})
}

// Wait of a cancelled group returns although the place of its task serves for something else for long: another goroutine of the task waits as well, or the
// task has given the place up.
func TestPromise08WhatElseHasThePlaceHoldsNoCancelledGroup(t *testing.T) {
	const later = time.Second
	type scene struct {
		on     *weir.Pool // of the task
		top    *weir.Pool // the same, or that of which it is a lane
		resize func(limit int)
		long   func(context.Context) error // has the place of the task in the end
		wait   func(before func())         // for a group with a task, or one that calls before, and then adds a task
	}
	for name, body := range map[string]func(ctx context.Context, s scene){
		"a wait before it": func(ctx context.Context, s scene) {
			var others sync.WaitGroup
			g := s.on.Group(ctx)
			g.Go(s.long)
			others.Go(func() { check.OK(t, g.Wait()) })
			time.Sleep(later)
			s.wait(nil)
			others.Wait()
		},
		"a wait after it": func(ctx context.Context, s scene) {
			var others sync.WaitGroup
			s.resize(2)
			begun := check.NewValve()
			others.Go(func() { s.wait(begun.Hold) }) // whose first task has the other place, which is gone then
			time.Sleep(later / 4)
			g := s.on.Group(ctx)
			g.Go(s.long)
			others.Go(func() { check.OK(t, g.Wait()) })
			time.Sleep(later / 4)
			s.resize(1)
			begun.Open()
			others.Wait()
		},
		"a wait of a member with the context of the task": func(ctx context.Context, s scene) {
			g := s.on.Group(ctx)
			g.Go(func(context.Context) error {
				s.wait(nil)
				return nil
			})
			check.OK(t, g.Wait())
		},
		"a return from Blocking before it": func(ctx context.Context, s scene) {
			var others sync.WaitGroup
			check.OK(t, s.top.Go(context.Background(), s.long))
			others.Go(func() { weir.Blocking(ctx, func() { time.Sleep(later / 2) }) })
			time.Sleep(later)
			s.wait(nil)
			others.Wait()
		},
		"Blocking": func(ctx context.Context, s scene) {
			check.OK(t, s.on.Go(context.Background(), s.long))
			weir.Blocking(ctx, func() {
				time.Sleep(later)
				s.wait(nil)
			})
		},
	} {
		for _, lane := range []bool{false, true} {
			check.Bubble(t, fmt.Sprintf("%s, lane=%t", name, lane), func(t *testing.T) {
				pool := weir.New(1)
				defer pool.Close()
				p, rest := pool, check.NewValve()
				if lane {
					p = pool.Lane(1)
				}
				resize := func(limit int) {
					pool.Resize(limit)
					p.Resize(limit)
				}
				var inner *weir.Group
				var returned atomic.Bool
				check.OK(t, p.Go(context.Background(), func(ctx context.Context) error {
					body(ctx, scene{p, pool, resize, rest.Member, func(before func()) {
						inner = p.Group(ctx)
						queued := func(context.Context) error {
							t.Error("a queued subtask of a cancelled group started")
							return nil
						}
						inner.Go(func(ctx context.Context) error {
							if before == nil {
								return queued(ctx)
							}
							before()
							inner.Go(queued)
							return nil
						})
						time.Sleep(later / 8) // a free worker begins it
						check.Error(t, inner.Wait(), errBoom)
						returned.Store(true)
					}})
					return nil
				}))
				time.Sleep(later * 3 / 2)
				synctest.Wait()
				check.Equal(t, "returned before the cancellation", returned.Load(), false)
				inner.Cancel(errBoom)
				synctest.Wait()
				check.Equal(t, "returned after it", returned.Load(), true)
				rest.Open()
				hasItsPlaces(t, p, 1)
			})
		}
	}
}

// A nested group that outlives its pool must say so: no worker would ever come to
// its tasks.
func TestANestedGroupReportsThatItsPoolIsClosed(t *testing.T) {
	for _, try := range []bool{false, true} {
		check.Bubble(t, fmt.Sprintf("try=%t", try), func(t *testing.T) {
			p := weir.New(1)
			var inner *weir.Group
			g := p.Group(t.Context())
			g.Go(func(ctx context.Context) error {
				inner = p.Group(ctx)
				return nil
			})
			p.Close()
			task := func(context.Context) error {
				t.Error("ran on a closed pool")
				return nil
			}
			if try {
				check.Equal(t, "accepted", inner.TryGo(task), false)
			} else {
				inner.Go(task)
				check.Error(t, inner.Wait(), weir.ErrClosed)
			}
			check.OK(t, g.Wait()) // only now, as it ends the context of the nested group
		})
	}
}

// Tasks that have given their place up go on in the order of return, before what is queued.
func TestTasksThatHaveBlockedGoOnInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var order []string
		valves := map[string]*check.Valve{}
		g := p.Group(t.Context())
		for _, name := range []string{"a", "b", "c"} {
			v := check.NewValve()
			valves[name] = v
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, v.Hold)
				order = append(order, name)
				return nil
			})
		}
		synctest.Wait()
		other := block(t, p, 1)
		check.OK(t, p.Submit(func() { order = append(order, "queued") }))
		for _, name := range []string{"b", "a", "c"} {
			valves[name].Open()
			synctest.Wait()
		}
		s := p.Stats()
		check.Equal(t, "returning", s.Returning, 3)
		check.Equal(t, "running", s.Running, 1)
		other.Open()
		check.OK(t, g.Wait())
		p.Wait()
		if want := []string{"b", "a", "c", "queued"}; !slices.Equal(order, want) {
			t.Errorf("order: got %v, want %v", order, want)
		}
		hasItsPlaces(t, p, 1)
	})
}

// A worker that has just run a task is free, though it may not have looked around yet.
func TestTryGoFindsAWorkerThatIsBetweenTwoTasks(t *testing.T) {
	rounds := check.Scale(2000, 500)
	tryRounds := func(g *weir.Group) (refused int) {
		for range rounds {
			g.Go(succeed)
			check.OK(t, g.Wait())
			if !g.TryGo(succeed) {
				refused++
			}
			check.OK(t, g.Wait())
		}
		return refused
	}
	t.Run("outside", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		check.Equal(t, "refused", tryRounds(p.Group(t.Context())), 0)
	})
	t.Run("nested", func(t *testing.T) {
		p := weir.New(2, weir.Queue(0))
		defer p.Close()
		check.OK(t, run(p, func(ctx context.Context) error {
			check.Equal(t, "refused", tryRounds(p.Group(ctx)), 0)
			return nil
		}))
	})
}

// tree is a random one of groups in tasks of two pools, whose leaves end in all ways.
type tree struct{ pools [2]*weir.Pool }

func (tr tree) grow(ctx context.Context, depth int, r *rand.Rand) error {
	if depth == 0 {
		switch r.IntN(60) {
		case 0:
			return errBoom
		case 1:
			explode()
		case 2:
			runtime.Goexit()
		case 3:
			runtime.Gosched()
		}
		return nil
	}
	g := tr.group(ctx, r)
	if r.IntN(4) == 0 {
		g.Context().Done()
	}
	for i := range r.IntN(5) {
		seed := r.Uint64()
		task := func(ctx context.Context) error {
			return tr.grow(ctx, depth-1, rand.New(rand.NewPCG(seed, 1)))
		}
		if i%3 == 2 {
			g.TryGo(task)
		} else {
			g.Go(task)
		}
	}
	if r.IntN(10) == 0 {
		g.Cancel(nil)
	}
	err := g.Wait()
	if r.IntN(4) == 0 {
		return err
	}
	return ctx.Err()
}

func (tr tree) group(ctx context.Context, r *rand.Rand) *weir.Group {
	var opts []weir.GroupOption
	if r.IntN(2) == 0 {
		opts = append(opts, weir.Limit(1+r.IntN(3)))
	}
	if r.IntN(2) == 0 {
		opts = append(opts, weir.KeepGoing(), weir.PanicsAsErrors())
	}
	switch r.IntN(8) {
	case 0:
		return weir.NewGroup(ctx, 1)
	case 1:
		return tr.pools[1].Group(ctx, opts...)
	default:
		return tr.pools[0].Group(ctx, opts...)
	}
}

// However a tree of tasks ends, while the pool is paused, resized and used by others, no place
// is lost, and none is there twice.
func TestNoPlaceIsLostInTreesOfTasks(t *testing.T) {
	for round := range check.Scale(30, 8) {
		check.Bubble(t, fmt.Sprint(round), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(round), 0))
			limit, queue := 1+r.IntN(3), []int{0, 1, 8, 1024}[r.IntN(4)]
			opts := []weir.Option{weir.Queue(queue), weir.OnPanic(func(*weir.Panic) {})}
			p, q := weir.New(limit, opts...), weir.New(1, opts...)
			root := tree{pools: [2]*weir.Pool{p, q}}
			var clients sync.WaitGroup
			for range 3 {
				seed := r.Uint64()
				clients.Go(func() {
					r := rand.New(rand.NewPCG(seed, 2))
					for range 4 {
						ctx, cancel := context.WithCancel(t.Context())
						g := p.Group(ctx, weir.PanicsAsErrors())
						for range 3 {
							seed := r.Uint64()
							g.Go(func(ctx context.Context) error {
								return root.grow(ctx, 4, rand.New(rand.NewPCG(seed, 3)))
							})
						}
						if r.IntN(4) == 0 {
							cancel()
						}
						_ = g.Wait() // any end is right, as long as it comes
						cancel()
					}
				})
			}
			clients.Go(func() {
				for range 50 {
					check.OK(t, p.Submit(runtime.Gosched))
				}
				p.Wait()
			})
			if round%2 == 0 {
				sizes := rand.New(rand.NewPCG(uint64(round), 4))
				clients.Go(func() {
					for range 50 {
						p.Pause()
						runtime.Gosched()
						p.Resize(1 + sizes.IntN(4))
						p.Resume()
						yield(20)
					}
					p.Resize(limit)
				})
			}
			clients.Wait()
			hasItsPlaces(t, p, limit)
			hasItsPlaces(t, q, 1)
			p.Close()
			q.Close()
			s := p.Stats()
			check.Equal(t, "running", s.Running, 0)
			check.Equal(t, "queued", s.Queued, 0)
			check.Equal(t, "accepted", s.Accepted, s.Finished+s.HandedBack)
		})
	}
}

// A goroutine that a task leaves behind may wait for a group of the task's when that is over.
func TestAGoroutineThatATaskLeavesBehindWaitsForItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		over := make(chan error)
		_, err := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) {
			g := p.Group(ctx)
			g.Go(func(context.Context) error { time.Sleep(time.Minute); return nil })
			go func() {
				time.Sleep(time.Second)
				over <- g.Wait()
			}()
			return 0, nil
		}).Get(t.Context())
		check.OK(t, err)
		check.OK(t, <-over)
	})
}

// And range over what its group returns.
func TestAGoroutineThatATaskLeavesBehindRangesOverResults(t *testing.T) {
	p := weir.New(4)
	defer p.Close()
	for range check.Scale(100, 20) {
		left, over := make(chan struct{}), make(chan int)
		_, err := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) {
			r := weir.NewResults[int](p.Group(ctx))
			go func() {
				<-left
				for i := range 300 {
					r.Go(func(context.Context) (int, error) { return i, nil })
				}
				n := 0
				for _, err := range r.All() {
					check.OK(t, err)
					n++
				}
				over <- n
			}()
			return 0, nil
		}).Get(t.Context())
		check.OK(t, err)
		close(left)
		check.Equal(t, "results", <-over, 300)
	}
}

// hooked is a context of the program's own that does something when it is asked whether it has ended.
type hooked struct {
	context.Context
	asked *atomic.Pointer[func()]
}

func (c hooked) Err() error {
	if f := c.asked.Swap(nil); f != nil {
		(*f)()
	}
	return c.Context.Err()
}

// The group is cancelled, and Wait has looked, when Go is about to hand its task over.
func TestPromise08AWaitLearnsOfATaskThatIsAcceptedLater(t *testing.T) {
	for name, sameness := range map[string]bool{"own pool": true, "another pool": false} {
		check.Bubble(t, name, func(t *testing.T) {
			p, q := weir.New(2), weir.New(1)
			if sameness {
				q = p
			}
			var held []*check.Valve
			hold := func() {
				v := check.NewValve()
				held = append(held, v)
				check.OK(t, q.Submit(v.Hold))
			}
			err := p.Do(t.Context(), func(ctx context.Context) error {
				hold()
				if sameness {
					q.Pause() // else the task starts, and sees that it is cancelled
				}
				synctest.Wait()
				var during atomic.Pointer[func()]
				g := q.Group(hooked{ctx, &during})
				g.Go(succeed)
				waited := make(chan error, 1)
				during.Store(new(func() {
					g.Cancel(errBoom)
					go func() { waited <- g.Wait() }()
					synctest.Wait()
				}))
				g.Go(succeed)
				check.Equal(t, "Go has asked", during.Load() == nil, true)
				synctest.Wait()
				select {
				case err := <-waited:
					return err
				default:
					return errors.New("Wait has not returned")
				}
			})
			check.Error(t, err, errBoom)
			q.Resume()
			for _, v := range held {
				v.Open()
			}
			p.Close()
			q.Close()
		})
	}
}
