package weir_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestBlockingGivesThePlaceToAnyTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		asleep, other := check.NewValve(), check.NewValve()
		g := p.Group(t.Context())
		back := false
		g.Go(func(ctx context.Context) error {
			weir.Blocking(ctx, asleep.Hold)
			back = true
			return nil
		})
		check.OK(t, p.Submit(other.Hold))
		synctest.Wait()
		check.Equal(t, "others", other.Running(), 1)
		s := p.Stats()
		check.Equal(t, "running", s.Running, 1)
		check.Equal(t, "suspended", s.Suspended, 1)
		asleep.Open()
		synctest.Wait()
		check.Equal(t, "back next to the other", back, false)
		check.Equal(t, "returning", p.Stats().Returning, 1)
		other.Open()
		check.OK(t, g.Wait())
		hasItsPlaces(t, p, 1)
	})
}

// A task of a lane that is back has its place in the lane first, and waits for one of the pool, or of a lane between, that others have.
func TestATaskOfALaneThatIsBackFromBlockingCountsAsReturning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		for _, l := range []*weir.Pool{p, p.Lane(1), p.Lane(2).Lane(2)} {
			asleep, other := check.NewValve(), check.NewValve()
			g := l.Group(t.Context())
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, asleep.Hold)
				return nil
			})
			synctest.Wait()
			check.OK(t, p.Submit(other.Hold))
			synctest.Wait()
			asleep.Open()
			synctest.Wait()
			s := l.Stats()
			check.Equal(t, "suspended", s.Suspended, 1)
			check.Equal(t, "returning", s.Returning, 1)
			check.Equal(t, "what it waits for", l.Running(0)[0].Waits, "place")
			other.Open()
			check.OK(t, g.Wait())
			hasItsPlaces(t, p, 1)
		}
	})
}

func TestBlockingOutsideATaskJustCalls(t *testing.T) {
	called := false
	weir.Blocking(context.Background(), func() { called = true })
	check.Equal(t, "called", called, true)
}

// The task has a place again however the function ends, and may end inside it.
func TestBlockingThatDoesNotReturnLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		for _, end := range []func(){explode, runtime.Goexit} {
			g := p.Group(t.Context(), weir.PanicsAsErrors())
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, end)
				return nil
			})
			if g.Wait() == nil {
				t.Error("no error")
			}
			hasItsPlaces(t, p, 1)
		}
	})
}

// Goroutines of one task give its place up once, and the last to return has it again.
func TestGoroutinesOfATaskBlockAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		valves := []*check.Valve{check.NewValve(), check.NewValve()}
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			var all sync.WaitGroup
			for _, v := range valves {
				all.Go(func() { weir.Blocking(ctx, v.Hold) })
			}
			all.Wait()
			return nil
		})
		synctest.Wait()
		others := block(t, p, 2)
		check.Equal(t, "suspended", p.Stats().Suspended, 1)
		valves[0].Open()
		synctest.Wait()
		others.Open()
		valves[1].Open()
		check.OK(t, g.Wait())
		hasItsPlaces(t, p, 2)
	})
}

// A subtask that blocks gives the place back to the task that waits for it, and has it again.
func TestBlockingInASubtaskLetsItsSiblingRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var order []string
		err := run(p, func(ctx context.Context) error {
			g := p.Group(ctx)
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, func() { time.Sleep(time.Second) })
				order = append(order, "sleeper")
				return nil
			})
			g.Go(func(context.Context) error {
				order = append(order, "sibling")
				return nil
			})
			return g.Wait()
		})
		check.OK(t, err)
		check.Equal(t, "order", fmt.Sprint(order), "[sibling sleeper]")
		hasItsPlaces(t, p, 1)
	})
}

// A goroutine that a task leaves behind in Blocking has no place to wait for.
func TestBlockingOutlivesItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		v := check.NewValve()
		var left sync.WaitGroup
		check.OK(t, run(p, func(ctx context.Context) error {
			left.Go(func() { weir.Blocking(ctx, v.Hold) })
			synctest.Wait()
			return nil
		}))
		other := block(t, p, 1)
		v.Open()
		left.Wait()
		other.Open()
		hasItsPlaces(t, p, 1)
	})
}

func TestBlockingRefusesMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		"weir: context must not be nil, got nil":  func() { weir.Blocking(nil, nothing) }, //nolint:staticcheck // it is the misuse
		"weir: function must not be nil, got nil": func() { weir.Blocking(context.Background(), nil) },
	} {
		check.Panics(t, want, f)
	}
}

func ExampleBlocking() {
	pool := weir.New(1)
	defer pool.Close()
	g := pool.Group(context.Background())
	answer := make(chan string)
	g.Go(func(ctx context.Context) error {
		var got string
		weir.Blocking(ctx, func() { got = <-answer }) // the other task runs meanwhile
		fmt.Println("got", got)
		return nil
	})
	g.Go(func(context.Context) error {
		answer <- "an answer"
		return nil
	})
	fmt.Println(g.Wait())
	// Output:
	// got an answer
	// <nil>
}

// The task that waits for room has its place back as soon as the subtask gives it up.
func TestBlockingInASubtaskLetsItsSubmitterGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		check.OK(t, run(p, func(ctx context.Context) error {
			handed := make(chan struct{})
			g := p.Group(ctx)
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, func() { <-handed })
				return nil
			})
			close(handed)
			return g.Wait()
		}))
		hasItsPlaces(t, p, 1)
	})
}

// A task that returns from Blocking goes on before submitters that have waited for a place since earlier, as these may wait for it.
func TestAReturnFromBlockingIsNotHeldUpBySubmitters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		q := weir.New(1)
		defer p.Close()
		defer q.Close()
		returns := make(chan struct{})
		first := weir.Async(t.Context(), p, func(ctx context.Context) (int, error) {
			return 1, runIn(ctx, p, func(ctx context.Context) error {
				weir.Blocking(ctx, func() { <-returns })
				return nil
			})
		})
		over := make(chan error)
		go func() {
			over <- run(q, func(ctx context.Context) error {
				return runIn(ctx, p, func(ctx context.Context) error {
					return runIn(ctx, p, func(ctx context.Context) error {
						close(returns)
						time.Sleep(time.Second)
						_, err := first.Get(ctx)
						return err
					})
				})
			})
		}()
		check.OK(t, <-over)
		hasItsPlaces(t, p, 1)
	})
}

// As soon as a task has a place again, all of its goroutines that have returned from Blocking go on, before other tasks.
func TestGoroutinesOfATaskReturnFromBlockingTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		check.OK(t, run(p, func(ctx context.Context) error {
			g := p.Group(ctx)
			back := make(chan struct{})
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, func() { <-back })
				return nil
			})
			var others sync.WaitGroup
			for range 2 {
				others.Go(func() { weir.Blocking(ctx, func() { <-back }) })
			}
			time.Sleep(time.Second)
			others.Go(func() { check.OK(t, g.Wait()) })
			time.Sleep(time.Second)
			close(back)
			others.Wait()
			return nil
		}))
		hasItsPlaces(t, p, 1)
	})
}

// runIn runs task in p as a subtask of the one whose context is ctx.
func runIn(ctx context.Context, p *weir.Pool, task func(ctx context.Context) error) error {
	g := p.Group(ctx)
	g.Go(task)
	return g.Wait()
}

// backAfter returns a task that is in Blocking for d.
func backAfter(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		weir.Blocking(ctx, func() { time.Sleep(d) })
		return nil
	}
}

// A task of a lane is back from Blocking, and waits for a place of the pool: the places there have a task that waits, under a lock, for
// another task of the lane, and one that wants the lock. The other task is the one that gets the lane's place: it has one of the pool. So it is
// if the lane, or one above it, has been paused meanwhile.
func TestATaskThatWaitsForAPlaceAboveHoldsNoneInItsLane(t *testing.T) {
	for _, begun := range []bool{false, true} {
		for limit := 1; limit <= 2; limit++ {
			for depth := range 3 {
				for paused := range depth + 3 { // the pool, a lane, or none
					check.Bubble(t, fmt.Sprintf("begun %t, limit %d, depth %d, paused %d", begun, limit, depth, paused), func(t *testing.T) {
						p := weir.New(2)
						defer p.Close()
						pools := []*weir.Pool{p}
						for i := range depth + 1 {
							pools = append(pools, pools[i].Lane(limit))
						}
						l := pools[depth+1]
						for range limit {
							check.OK(t, l.Go(t.Context(), backAfter(20*time.Second)))
						}
						synctest.Wait()
						lock := make(chan struct{}, 1)
						var over atomic.Bool
						check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
							lock <- struct{}{}
							if !begun {
								time.Sleep(25 * time.Second)
							}
							err := runIn(ctx, l, backAfter(30*time.Second))
							<-lock
							over.Store(true)
							return err
						}))
						synctest.Wait()
						check.OK(t, p.Submit(func() { lock <- struct{}{}; <-lock }))
						if paused < len(pools) {
							time.Sleep(22 * time.Second)
							pools[paused].Pause()
							time.Sleep(20 * time.Second)
							check.Equal(t, "a task that has begun goes on in the pause", over.Load(), begun)
							pools[paused].Resume()
						}
						p.Wait()
						hasItsPlaces(t, p, 2)
					})
				}
			}
		}
	}
}

// Tasks of a lane are back from Blocking, and the pool is full: of its places one is lent, and one has a task that wants a lock. When the holder of the
// lock begins to wait for the tasks, they get its place in the pool one after the other.
func TestTasksThatAreBackGetThePlaceOfOneThatBeginsToWaitForThem(t *testing.T) {
	for depth := range 3 {
		for _, alone := range []bool{false, true} {
			check.Bubble(t, fmt.Sprintf("depth %d, awaited alone %t", depth, alone), func(t *testing.T) {
				p := weir.New(3)
				defer p.Close()
				l := p
				for range depth + 1 {
					l = l.Lane(3)
				}
				over := check.NewValve()
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					return runIn(ctx, p, func(context.Context) error {
						over.Hold()
						return nil
					})
				}))
				lock := make(chan struct{}, 1)
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					lock <- struct{}{}
					var waits []func() error
					if alone {
						for range 3 {
							f := weir.Async(ctx, l, func(ctx context.Context) (int, error) { return 0, backAfter(20 * time.Second)(ctx) })
							waits = append(waits, func() error { _, err := f.Get(ctx); return err })
						}
					} else {
						g := l.Group(ctx)
						for range 3 {
							g.Go(backAfter(20 * time.Second))
						}
						waits = append(waits, g.Wait)
					}
					time.Sleep(30 * time.Second)
					for _, wait := range waits {
						check.OK(t, wait())
					}
					<-lock
					over.Open()
					return nil
				}))
				synctest.Wait()
				check.OK(t, p.Submit(func() { lock <- struct{}{}; <-lock }))
				p.Wait()
				hasItsPlaces(t, p, 3)
			})
		}
	}
}

// A goroutine of a task is back from Blocking, and waits in one of the lanes for the place of the task, when another one gives that place up again.
// The task is then in no list of tasks that want a place, in none of the lanes.
func TestATaskOfALaneThatWaitsForItsPlaceGivesItUpAgain(t *testing.T) {
	for depth := range 3 {
		for _, alone := range []bool{false, true} {
			check.Bubble(t, fmt.Sprintf("depth %d, awaited alone %t", depth, alone), func(t *testing.T) {
				p := weir.New(4)
				defer p.Close()
				l := p
				for range depth + 1 {
					l = l.Lane(1)
				}
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					wait := startAwaited(ctx, l, alone, func(ctx context.Context) error {
						var all sync.WaitGroup
						all.Go(func() { weir.Blocking(ctx, func() { time.Sleep(10 * time.Second) }) })
						time.Sleep(20 * time.Second)
						weir.Blocking(ctx, func() { time.Sleep(10 * time.Second) })
						all.Wait()
						return nil
					})
					time.Sleep(30 * time.Second)
					return wait()
				}))
				synctest.Wait()
				check.OK(t, l.Submit(func() { time.Sleep(25 * time.Second) }))
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					time.Sleep(21 * time.Second)
					return runIn(ctx, l, succeed)
				}))
				p.Wait()
				l.Wait()
				hasItsPlaces(t, p, 4)
				hasItsPlaces(t, l, 1)
			})
		}
	}
}

// startAwaited starts task in l for a wait for the set that it belongs to, or for the task alone.
func startAwaited(ctx context.Context, l *weir.Pool, alone bool, task func(context.Context) error) (wait func() error) {
	if alone {
		f := weir.Async(ctx, l, func(ctx context.Context) (int, error) { return 0, task(ctx) })
		return func() error { _, err := f.Get(ctx); return err }
	}
	g := l.Group(ctx)
	g.Go(task)
	return g.Wait
}

// One goroutine of a task of a lane waits for a subtask, another one is back from Blocking: so the task wants a place in the lane and one in the pool,
// and gets that of a task that waits for it, in either of the two. The subtask then has that place: the other tasks wait for it, and the library cannot see
// that.
func TestATaskThatIsBackInTwoPoolsAtOnceGetsThePlaceOfOneThatWaitsForIt(t *testing.T) {
	for _, inLane := range []bool{false, true} {
		for _, alone := range []bool{false, true} {
			for _, late := range []bool{false, true} { // the subtask comes when the other goroutine is back
				check.Bubble(t, fmt.Sprintf("in the lane %t, awaited alone %t, late %t", inLane, alone, late), func(t *testing.T) {
					p, q := weir.New(3), weir.New(1)
					defer p.Close()
					defer q.Close()
					l, at := p.Lane(1), p
					if inLane { // where the pool has a place left
						l = p.Lane(2)
						at = l
						p.Resize(4)
					}
					began := make(chan struct{})
					check.OK(t, at.Go(t.Context(), func(ctx context.Context) error {
						wait := startAwaited(ctx, l, alone, func(ctx context.Context) error {
							var all sync.WaitGroup
							all.Go(func() { weir.Blocking(ctx, func() { time.Sleep(20 * time.Second) }) })
							time.Sleep(5 * time.Second)
							if late {
								time.Sleep(20 * time.Second)
							}
							err := runIn(ctx, at, func(context.Context) error { close(began); return nil })
							all.Wait()
							return err
						})
						time.Sleep(30 * time.Second)
						return wait()
					}))
					time.Sleep(time.Second)
					check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
						return runIn(ctx, q, func(context.Context) error { <-began; return nil })
					}))
					check.OK(t, l.Submit(func() { <-began }))
					l.Wait()
					hasItsPlaces(t, p, p.Stats().Limit)
				})
			}
		}
	}
}

// The limit of a lane is lowered below the number of its tasks that are back from Blocking and wait for places of the pool, and of a bid for one
// more. What a task of the pool waits for in the lane needs the permits of all of them.
func TestALowerLimitOfALaneHoldsNothingUpThatAnotherTaskWaitsFor(t *testing.T) {
	for _, queued := range []bool{false, true} {
		check.Bubble(t, fmt.Sprintf("queued %t", queued), func(t *testing.T) {
			p := weir.New(2)
			defer p.Close()
			l := p.Lane(4)
			for range 2 {
				check.OK(t, l.Go(t.Context(), backAfter(20*time.Second)))
			}
			synctest.Wait()
			lock := make(chan struct{}, 1)
			check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
				lock <- struct{}{}
				time.Sleep(30 * time.Second)
				err := runIn(ctx, l, succeed)
				<-lock
				return err
			}))
			synctest.Wait()
			check.OK(t, p.Submit(func() { lock <- struct{}{}; <-lock }))
			time.Sleep(25 * time.Second)
			if queued {
				check.OK(t, l.Submit(nothing))
			}
			l.Resize(1)
			p.Wait()
			hasItsPlaces(t, l, 1)
			hasItsPlaces(t, p, 2)
		})
	}
}

// A task of a lane is back from Blocking behind another one, which gets the lane's place first and waits for one of the pool: the places there have a
// task that waits, under a lock, for the one behind, and one that wants the lock. The task that is waited for gets the lane's place then, also if
// it is of a lane of the lane, and has its place there.
func TestATaskThatIsBackBehindAnotherGetsThePlaceInTheLane(t *testing.T) {
	for limit := 1; limit <= 2; limit++ {
		for depth := range 3 {
			check.Bubble(t, fmt.Sprintf("limit %d, depth %d", limit, depth), func(t *testing.T) {
				p := weir.New(2 + limit)
				defer p.Close()
				l := p.Lane(limit)
				below := l
				for range depth {
					below = below.Lane(1)
				}
				for range limit {
					check.OK(t, l.Go(t.Context(), backAfter(20*time.Second)))
				}
				synctest.Wait()
				lock := make(chan struct{}, 1)
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					lock <- struct{}{}
					err := runIn(ctx, below, backAfter(25*time.Second))
					<-lock
					return err
				}))
				synctest.Wait()
				check.OK(t, p.Submit(func() { lock <- struct{}{}; <-lock }))
				for range limit {
					check.OK(t, l.Submit(func() { time.Sleep(30 * time.Second) }))
				}
				time.Sleep(27 * time.Second)
				p.Resize(2) // so that the place of the last task of the lane in the pool is not free when it ends
				p.Wait()
				l.Wait()
				hasItsPlaces(t, p, 2)
			})
		}
	}
}

// A task of a lane whose goroutine waits comes back from Blocking, and has a place in the lane but none in the pool, when it calls Blocking
// again. It keeps neither: with a place in the lane alone it would hold up what the goroutine waits for.
func TestATaskBlocksAgainThatIsBackInItsLaneOnly(t *testing.T) {
	for depth := range 2 {
		synctest.Test(t, func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			above := p
			for range depth {
				above = above.Lane(2)
			}
			l := above.Lane(2)
			begins, first, busy, ran := check.NewValve(), check.NewValve(), check.NewValve(), false
			check.OK(t, l.Go(t.Context(), func(ctx context.Context) error {
				var other sync.WaitGroup
				other.Go(func() {
					begins.Hold()
					g := l.Group(ctx)
					g.Go(func(context.Context) error {
						busy.Hold()
						g.Go(func(context.Context) error {
							ran = true
							return nil
						})
						return nil
					})
					check.OK(t, g.Wait())
				})
				weir.Blocking(ctx, first.Hold)
				weir.Blocking(ctx, other.Wait)
				return nil
			}))
			for _, v := range []*check.Valve{begins, first} { // the subtask has the only place of the pool
				synctest.Wait()
				v.Open()
			}
			synctest.Wait()
			check.Equal(t, "suspended", l.Stats().Suspended, 1)
			l.Resize(1)
			busy.Open()
			l.Wait()
			check.Equal(t, "ran", ran, true)
			hasItsPlaces(t, l, 1)
			hasItsPlaces(t, p, 1)
		})
	}
}

// The same for a task that has a place in the pool and none in its lane: any task may have that place.
func TestATaskBlocksAgainThatIsBackInThePoolOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		l := p.Lane(1)
		begins, first, busy, second, plain := check.NewValve(), check.NewValve(), check.NewValve(), check.NewValve(), check.NewValve()
		check.OK(t, l.Go(t.Context(), func(ctx context.Context) error {
			var other sync.WaitGroup
			other.Go(func() {
				begins.Hold()
				check.OK(t, runIn(ctx, l, busy.Member))
			})
			weir.Blocking(ctx, first.Hold)
			weir.Blocking(ctx, second.Hold)
			other.Wait()
			return nil
		}))
		for _, v := range []*check.Valve{begins, first} { // the subtask has the only place of the lane
			synctest.Wait()
			v.Open()
		}
		synctest.Wait()
		check.OK(t, p.Submit(plain.Hold))
		synctest.Wait()
		check.Equal(t, "others", plain.Running(), 1)
		for _, v := range []*check.Valve{second, plain, busy} {
			v.Open()
		}
		l.Wait()
		hasItsPlaces(t, l, 1)
		hasItsPlaces(t, p, 2)
	})
}

// A task gives its place up when the second of its goroutines calls Blocking, if it has kept it for the first, as the second was waiting.
func TestATaskIsInBlockingOnTwoGoroutinesOfWhichOneHasWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		l := p.Lane(1)
		for _, pool := range []*weir.Pool{p, l} {
			begins, member, last, plain := check.NewValve(), check.NewValve(), check.NewValve(), make(chan struct{})
			check.OK(t, pool.Go(t.Context(), func(ctx context.Context) error {
				var other sync.WaitGroup
				other.Go(func() {
					begins.Hold()
					weir.Blocking(ctx, last.Hold)
				})
				check.OK(t, runIn(ctx, pool, member.Member))
				weir.Blocking(ctx, func() { <-plain })
				other.Wait()
				return nil
			}))
			check.OK(t, pool.Submit(func() { close(plain) }))
			for _, v := range []*check.Valve{begins, member, last} {
				synctest.Wait()
				v.Open()
			}
			pool.Wait()
			hasItsPlaces(t, pool, 1)
		}
	})
}

// A goroutine of a task waits, another one calls Blocking, and the wait is over: the goroutine that has waited may end, and then what the other one
// waits for needs the place of the task.
func TestATaskThatHasWaitedLeavesItsPlaceToWhatItBlocksFor(t *testing.T) {
	for _, lent := range []bool{false, true} { // whether the place is lent when the wait is over
		check.Bubble(t, fmt.Sprintf("lent=%v", lent), func(t *testing.T) {
			p := weir.New(1)
			defer p.Close()
			for _, pool := range []*weir.Pool{p, p.Lane(1)} {
				plain, awaited := make(chan struct{}), check.NewValve()
				check.OK(t, pool.Go(t.Context(), func(ctx context.Context) error {
					go func() {
						f := weir.Async(ctx, pool, func(ctx context.Context) (int, error) { return 0, awaited.Member(ctx) })
						ctx, cancel := context.WithTimeout(ctx, time.Minute)
						defer cancel()
						_, err := f.Get(ctx)
						check.Equal(t, "ended before its task", err != nil, lent)
					}()
					time.Sleep(time.Second) // the goroutine waits
					weir.Blocking(ctx, func() { <-plain })
					return nil
				}))
				synctest.Wait()
				check.OK(t, pool.Submit(func() { close(plain) }))
				time.Sleep(2 * time.Second)
				if lent {
					time.Sleep(time.Hour)
				}
				awaited.Open()
				<-plain
				pool.Wait()
				hasItsPlaces(t, pool, 1)
			}
		})
	}
}

// A task of a lane has got its place in the pool, but not in the lane, while one of its goroutines waits, and another one calls Blocking. When the wait is
// over it gives that place up, too: the task goes on by the place of none.
func TestATaskThatGoesOnInBlockingKeepsNoPlaceAboveItsLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(2)
		defer p.Close()
		l := p.Lane(1)
		begins, first, second, member, plain := check.NewValve(), check.NewValve(), check.NewValve(), check.NewValve(), make(chan struct{})
		inLane, inPool := check.NewValve(), check.NewValve()
		check.OK(t, l.Go(t.Context(), func(ctx context.Context) error {
			var other sync.WaitGroup
			other.Go(func() {
				begins.Hold()
				check.OK(t, runIn(ctx, p, member.Member))
			})
			weir.Blocking(ctx, first.Hold)
			second.Hold()
			weir.Blocking(ctx, func() { <-plain })
			other.Wait()
			return nil
		}))
		synctest.Wait()
		check.OK(t, l.Submit(inLane.Hold)) // until the end
		check.OK(t, p.Submit(inPool.Hold)) // until the task is back, which then gets this place and lends it
		for _, v := range []*check.Valve{begins, first, inPool, second, member} {
			synctest.Wait()
			v.Open()
		}
		synctest.Wait()
		check.OK(t, p.Submit(func() { close(plain) }))
		<-plain
		inLane.Open()
		l.Wait()
		hasItsPlaces(t, l, 1)
		hasItsPlaces(t, p, 2)
	})
}

// A task that is back from Blocking has the place of one that waits for it in each pool above its lane, though a task has that which is no work of theirs.
func TestATaskThatIsBackHasItsWaitersPlacesFromAStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(2), weir.New(1)
		defer q.Close()
		defer p.Close()
		l := p.Lane(1)
		away, elsewhere, first, stranger, busy := check.NewValve(), check.NewValve(), check.NewValve(), check.NewValve(), check.NewValve()
		back := false
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			weir.Blocking(ctx, away.Hold)
			stranger.Hold()
			return nil
		}))
		synctest.Wait()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			check.OK(t, runIn(ctx, q, elsewhere.Member))
			busy.Hold()
			return nil
		}))
		synctest.Wait()
		check.OK(t, l.Go(t.Context(), func(ctx context.Context) error {
			return runIn(ctx, l, func(ctx context.Context) error {
				weir.Blocking(ctx, first.Hold)
				back = true
				return nil
			})
		}))
		for _, v := range []*check.Valve{away, elsewhere, first} { // all tasks wait at first, so the stranger gets any place
			synctest.Wait()
			v.Open()
		}
		synctest.Wait()
		check.Equal(t, "strangers", stranger.Running(), 1)
		check.Equal(t, "back", back, true)
		stranger.Open()
		busy.Open()
		p.Wait()
		hasItsPlaces(t, l, 1)
		hasItsPlaces(t, p, 2)
	})
}

// A task that is back from Blocking has its place in its lane, which has one to spare, while a task has the place of the one that waits for it. It gets
// that place in each pool above as soon as it is vacant: whatever else runs there may need what the task has.
func TestATaskThatIsBackInItsLaneHasItsWaitersPlaceAbove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inGroup := func(ctx context.Context, l *weir.Pool, first, second func(context.Context) error) {
			g := l.Group(ctx)
			g.Go(first)
			time.Sleep(time.Second)
			g.Go(second)
			check.OK(t, g.Wait())
		}
		byDo := func(ctx context.Context, l *weir.Pool, first, second func(context.Context) error) {
			var other sync.WaitGroup
			other.Go(func() { check.OK(t, l.Do(ctx, first)) })
			time.Sleep(time.Second)
			check.OK(t, l.Do(ctx, second))
			other.Wait()
		}
		for depth := range 3 {
			for limit := 1; limit <= 3; limit++ {
				for where, runs := range []func(ctx context.Context, l *weir.Pool, first, second func(context.Context) error){inGroup, inGroup, byDo} {
					p := weir.New(2)
					l := p
					for range depth {
						l = l.Lane(limit)
					}
					at := p
					if where == 0 {
						at = l
					}
					away, sibling, plain := check.NewValve(), check.NewValve(), check.NewValve()
					back := false
					check.OK(t, at.Go(t.Context(), func(ctx context.Context) error {
						runs(ctx, l, func(ctx context.Context) error {
							weir.Blocking(ctx, away.Hold)
							back = true
							return nil
						}, sibling.Member)
						return nil
					}))
					synctest.Wait()
					check.OK(t, p.Submit(plain.Hold))
					time.Sleep(2 * time.Second)
					away.Open()
					synctest.Wait()
					sibling.Open()
					synctest.Wait()
					check.Equal(t, "others", plain.Running(), 1)
					if !back {
						t.Errorf("not back: depth %d, limit %d, where %d", depth, limit, where)
					}
					plain.Open()
					p.Wait()
					hasItsPlaces(t, l, min(2, limit+2*(1-min(depth, 1))))
					hasItsPlaces(t, p, 2)
					p.Close()
				}
			}
		}
	})
}

// A task that is back from Blocking in the pool of its lane, but not in the lane, needs no second place there when the place of a task that waits for
// it is lent to it.
func TestATaskThatIsBackAboveItsLaneTakesOnePlaceThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := weir.New(1), weir.New(1)
		defer p.Close()
		defer q.Close()
		m := p.Lane(2)
		l := m.Lane(1)
		waits, first, second, other := check.NewValve(), check.NewValve(), check.NewValve(), check.NewValve()
		blocks := check.NewValve()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			g := l.Group(ctx)
			g.Go(func(ctx context.Context) error {
				var wait sync.WaitGroup
				wait.Go(func() {
					waits.Hold()
					check.OK(t, runIn(ctx, q, other.Member))
				})
				weir.Blocking(ctx, first.Hold)
				wait.Wait()
				return nil
			})
			g.Go(func(ctx context.Context) error {
				blocks.Hold()
				weir.Blocking(ctx, second.Hold)
				return nil
			})
			return g.Wait()
		}))
		for _, v := range []*check.Valve{waits, first, blocks, other, second} {
			synctest.Wait()
			v.Open()
		}
		p.Wait()
		hasItsPlaces(t, l, 1)
		p.Resize(2)
		hasItsPlaces(t, m, 2)
	})
}

func TestSubtasksReturnFromBlockingInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var order []int
		check.OK(t, run(p, func(ctx context.Context) error {
			g := p.Group(ctx)
			for i := range 3 {
				g.Go(func(ctx context.Context) error {
					weir.Blocking(ctx, func() { time.Sleep(time.Duration(1+i) * time.Second) })
					order = append(order, i)
					return nil
				})
			}
			g.Go(func(context.Context) error { time.Sleep(time.Minute); return nil })
			return g.Wait()
		}))
		check.Equal(t, "order", fmt.Sprint(order), "[0 1 2]")
	})
}

// A task that was lent a place does not come back to it when the lender is over, or waits for something else: what
// has that place then may hold what the task needs.
func TestATaskReturnsFromBlockingToNoPlaceOfAnotherWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		var mu sync.Mutex
		ended := make(chan struct{}, 1)
		g := p.Group(t.Context())
		g.Go(func(ctx context.Context) error {
			f := weir.Async(ctx, p, func(ctx context.Context) (int, error) {
				weir.Blocking(ctx, func() { time.Sleep(2 * time.Second) })
				mu.Lock()
				defer mu.Unlock()
				ended <- struct{}{}
				return 0, nil
			})
			brief, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := f.Get(brief)
			check.Error(t, err, context.DeadlineExceeded)
			return nil
		})
		g.Go(func(ctx context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			var branches sync.WaitGroup
			for range 2 {
				branches.Go(func() {
					check.OK(t, runIn(ctx, p, func(context.Context) error { time.Sleep(3 * time.Second); return nil }))
				})
			}
			branches.Wait()
			return nil
		})
		check.OK(t, g.Wait())
		<-ended
	})
}

// Also under the race detector: the number is not guarded.
func TestAtALimitOf1TasksTakeTurnsAlsoByBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1)
		defer p.Close()
		g := p.Group(t.Context())
		n := 0
		for range 10 {
			g.Go(func(ctx context.Context) error {
				n++
				weir.Blocking(ctx, func() { time.Sleep(time.Second) })
				n++
				return nil
			})
		}
		check.OK(t, g.Wait())
		check.Equal(t, "number", n, 20)
	})
}

// Tasks of a lane are back from Blocking. Those that wait for them have lent their places to each other.
func TestATaskGoesOnAtTheSameCostHoweverManyLackItsPlaces(t *testing.T) {
	check.Flat(t, 100, func(n int) (f, end func()) {
		p := weir.New(1, weir.Queue(weir.Unbounded))
		l := p.Lane(4).Lane(4).Lane(4)
		var away sync.WaitGroup
		away.Add(n)
		back, busy := make(chan struct{}), check.NewValve()
		check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
			g := p.Group(ctx)
			for range n {
				g.Go(func(ctx context.Context) error {
					return runIn(ctx, l, func(ctx context.Context) error {
						weir.Blocking(ctx, func() {
							away.Done()
							<-back
						})
						busy.Hold()
						return nil
					})
				})
			}
			return g.Wait()
		}))
		away.Wait()
		close(back)
		check.Until(t, "as many as may go on", func() bool { return busy.Running() == 4 })
		f = func() {
			next := busy.Ended.Load() + 1
			busy.LetOne()
			check.Until(t, "the next one goes on", func() bool { return busy.Ended.Load() >= next && busy.Running() == 4 })
		}
		return f, func() {
			busy.Open()
			p.Close()
		}
	})
}

// Tasks have lent their places to each other, one beneath the other: those of a lane, and in turn one of a lane and one of its pool.
func TestAWaitInALaneCostsTheSameHoweverManyTasksAreBeneath(t *testing.T) {
	for _, step := range []int{1, 2} {
		t.Run(fmt.Sprint("every ", step), func(t *testing.T) {
			check.Flat(t, 200, func(n int) (f, end func()) {
				p := weir.New(1)
				l := p.Lane(8)
				calls, returns := make(chan struct{}), make(chan struct{})
				var nest func(ctx context.Context, depth int) error
				nest = func(ctx context.Context, depth int) error {
					on := p
					if depth%step == 0 {
						on = l
					}
					if depth < n {
						return runIn(ctx, on, func(ctx context.Context) error { return nest(ctx, depth+1) })
					}
					for range calls {
						check.OK(t, runIn(ctx, on, succeed))
						returns <- struct{}{}
					}
					return nil
				}
				go func() {
					check.OK(t, nest(t.Context(), 0))
					close(returns)
				}()
				f = func() {
					calls <- struct{}{}
					<-returns
				}
				return f, func() {
					close(calls)
					<-returns
					p.Close()
				}
			})
		})
	}
}

func TestChangesCostTheSameHoweverManyTasksOfALaneWantToGoOn(t *testing.T) {
	for _, awaited := range []string{"by nothing", "by a task", "each by a goroutine"} {
		t.Run("awaited "+awaited, func(t *testing.T) {
			check.Flat(t, 100, func(n int) (f, end func()) {
				p := weir.New(1, weir.Queue(weir.Unbounded))
				l := p.Lane(n+1, weir.Queue(weir.Unbounded))
				var away, over sync.WaitGroup
				away.Add(n)
				back, busy := make(chan struct{}), check.NewValve()
				task := func(ctx context.Context) error {
					weir.Blocking(ctx, func() {
						away.Done()
						<-back
					})
					return nil
				}
				for range n {
					switch awaited {
					case "by nothing":
						check.OK(t, l.Go(t.Context(), task))
					case "each by a goroutine":
						over.Go(func() { check.OK(t, runIn(t.Context(), l, task)) })
					}
				}
				if awaited != "by a task" {
					away.Wait()
				}
				check.OK(t, p.Go(t.Context(), func(ctx context.Context) error {
					g := l.Group(ctx)
					if awaited == "by a task" {
						for range n {
							g.Go(task)
						}
					}
					g.Go(func(context.Context) error { // in the place of the task that waits
						away.Wait()
						busy.Hold()
						return nil
					})
					return g.Wait()
				}))
				check.Until(t, "it runs", func() bool { return busy.Running() == 1 })
				close(back)
				check.Until(t, "all are back", func() bool { return l.Stats().Returning == n })
				return func() { p.Resize(1) }, func() {
					busy.Open()
					over.Wait()
					p.Close()
				}
			})
		})
	}
}
