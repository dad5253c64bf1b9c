package weir_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestLimitBoundsAGroupOnASharedPool(t *testing.T) {
	check.Bubble(t, "running and queued together", func(t *testing.T) {
		p := weir.New(8)
		defer p.Close()
		g := p.Group(t.Context(), weir.Limit(3))
		v := check.NewValve()
		var added atomic.Int64
		go func() {
			for range 5 {
				g.Go(v.Member)
				added.Add(1)
			}
		}()
		synctest.Wait()
		check.Equal(t, "added", added.Load(), 3)
		check.Equal(t, "running", v.Running(), 3)
		check.Equal(t, "TryGo", g.TryGo(v.Member), false)
		block(t, p, 5).Open() // the others' workers are free
		for i := range 2 {
			v.LetOne()
			synctest.Wait()
			check.Equal(t, "added", added.Load(), int64(4+i))
			check.Equal(t, "running", v.Running(), 3)
		}
		v.LetOne()
		synctest.Wait()
		check.Equal(t, "TryGo", g.TryGo(v.Member), true)
		check.Equal(t, "TryGo", g.TryGo(v.Member), false)
		v.Open()
		check.OK(t, g.Wait())
		check.Equal(t, "ran", v.Ended.Load(), 6)
	})
	check.Bubble(t, "is whole again after cancellation, panic and rejection", func(t *testing.T) {
		p := weir.New(4)
		g := p.Group(t.Context(), weir.Limit(2), weir.PanicsAsErrors())
		verify := func() {
			t.Helper()
			v := check.NewValve()
			check.Equal(t, "first", g.TryGo(v.Member), true)
			check.Equal(t, "second", g.TryGo(v.Member), true)
			check.Equal(t, "third", g.TryGo(v.Member), false)
			v.Open()
			check.OK(t, g.Wait())
		}
		verify()
		g.Go(untilCancelled)
		g.Go(explodeInGroup)
		check.Error(t, g.Wait(), errBoom)
		verify()
		g.Go(exitInGroup)
		check.Error(t, g.Wait(), weir.ErrGoexit)
		verify()
		others := block(t, p, 4)
		g.Go(succeed)
		g.Go(succeed)
		g.Cancel(errBoom)
		check.Error(t, g.Wait(), errBoom) // both were discarded from the queue
		others.Open()
		p.Wait()
		verify()
		full := weir.New(1, weir.Queue(0))
		v := block(t, full, 1)
		g = full.Group(t.Context(), weir.Limit(2))
		for range 3 {
			check.Equal(t, "TryGo on a full pool", g.TryGo(succeed), false)
		}
		check.OK(t, g.Wait())
		v.Open()
		full.Wait()
		check.Equal(t, "TryGo", g.TryGo(succeed), true)
		check.OK(t, g.Wait())
		full.Close()
		for range 3 {
			g.Go(succeed)
		}
		check.Error(t, g.Wait(), weir.ErrClosed)
		p.Close()
	})
	check.Bubble(t, "as an option of a group with workers of its own", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 8, weir.Limit(2))
		v := check.NewValve()
		check.Equal(t, "first", g.TryGo(v.Member), true)
		check.Equal(t, "second", g.TryGo(v.Member), true)
		check.Equal(t, "third", g.TryGo(v.Member), false)
		v.Open()
		check.OK(t, g.Wait())
	})
	t.Run("under load", func(t *testing.T) {
		p := weir.New(8)
		defer p.Close()
		var groups sync.WaitGroup
		for limit := 1; limit <= 4; limit++ {
			groups.Go(func() {
				var running check.Gauge
				g := p.Group(context.Background(), weir.Limit(limit))
				r := weir.NewResults[int](g)
				task := func(context.Context) error {
					running.Enter()
					runtime.Gosched()
					running.Leave()
					return nil
				}
				for range check.Scale(20, 5) {
					for range 100 {
						g.Go(task)
						r.Go(func(ctx context.Context) (int, error) { return 1, task(ctx) })
					}
					found, err := r.Wait()
					check.OK(t, err)
					check.Equal(t, "results", len(found), 100)
				}
				if peak := running.Peak.Load(); peak > int64(limit) {
					t.Errorf("%d ran at once, the limit is %d", peak, limit)
				}
			})
		}
		groups.Wait()
	})
}

func TestTryGoNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Queue(1))
		g := p.Group(t.Context())
		v := check.NewValve()
		check.Equal(t, "with a free worker", g.TryGo(v.Member), true)
		check.Equal(t, "with room in the queue", g.TryGo(v.Member), true)
		check.Equal(t, "when the pool is full", g.TryGo(v.Member), false)
		v.Open()
		check.OK(t, g.Wait())
		check.Equal(t, "ran", v.Ended.Load(), 2)
		g.Cancel(errBoom)
		check.Equal(t, "when cancelled", g.TryGo(succeed), false)
		check.Error(t, g.Wait(), errBoom)
		p.Close()
		check.Equal(t, "when closed", g.TryGo(succeed), false)
		check.OK(t, g.Wait())
	})
	t.Run("those accepted run once, the others never", func(t *testing.T) {
		check.Within(time.Minute, func() {
			for _, queue := range []int{0, 1, 8} {
				p := weir.New(2, weir.Queue(queue))
				g := p.Group(context.Background())
				for range check.Scale(200, 20) {
					var accepted, ran atomic.Int64
					var adding sync.WaitGroup
					for range 3 {
						adding.Go(func() {
							for range 50 {
								if g.TryGo(func(context.Context) error { ran.Add(1); return nil }) {
									accepted.Add(1)
								}
							}
						})
					}
					adding.Wait()
					check.OK(t, g.Wait())
					check.Equal(t, "ran", ran.Load(), accepted.Load())
				}
				p.Close()
			}
		})
	})
	check.Bubble(t, "a refused task does not count", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		defer p.Close()
		g := p.Group(t.Context())
		v := check.NewValve()
		check.Equal(t, "the first", g.TryGo(v.Member), true)
		for range 5 {
			check.Equal(t, "refused", g.TryGo(succeed), false)
		}
		v.LetOne()
		synctest.Wait()
		check.Equal(t, "the second", g.TryGo(func(context.Context) error { return errBoom }), true)
		check.Equal(t, "message", g.Wait().Error(), "task 1: boom")
	})
}

func TestATaskMayAddToItsOwnGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.Queue(weir.Unbounded))
		var ran atomic.Int32
		var tree func(depth int) func(context.Context) error
		tree = func(depth int) func(context.Context) error {
			return func(context.Context) error {
				ran.Add(1)
				if depth > 0 {
					g.Go(tree(depth - 1))
					g.Go(tree(depth - 1))
				}
				return nil
			}
		}
		for range 3 {
			ran.Store(0)
			g.Go(tree(9))
			check.OK(t, g.Wait())
			check.Equal(t, "ran", ran.Load(), 1<<10-1)
		}
	})
	check.Bubble(t, "also to a cancelled one, in vain", func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		g.Go(func(ctx context.Context) error {
			<-ctx.Done()
			g.Go(func(context.Context) error { t.Error("started"); return nil })
			return nil
		})
		g.Go(func(context.Context) error { return errBoom })
		check.Error(t, g.Wait(), errBoom)
	})
}

func TestSeveralMayWaitForAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, task := range []func(context.Context) error{
			succeed,
			func(context.Context) error { return errBoom },
			explodeInGroup,
		} {
			g := weir.NewGroup(t.Context(), 2)
			v := check.NewValve()
			g.Go(func(ctx context.Context) error {
				v.Hold()
				return task(ctx)
			})
			results := make(chan any, 5)
			for range cap(results) {
				go func() {
					results <- check.Caught(func() {
						if err := g.Wait(); err != nil {
							panic(err)
						}
					})
				}()
			}
			synctest.Wait()
			check.Equal(t, "Waits that returned", len(results), 0)
			v.Open()
			first := <-results
			for range cap(results) - 1 {
				check.Equal(t, "the same result for all", <-results, first)
			}
			check.OK(t, g.Wait())
		}
	})
}

func TestAnEmptyGroupIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2)
		for range 3 {
			check.OK(t, g.Wait())
		}
		check.OK(t, g.Context().Err())
		check.OK(t, g.Wait())
		g.Cancel(nil)
		check.Error(t, g.Wait(), context.Canceled)
		check.OK(t, g.Wait())
		g.Cancel(errBoom)
		g.Cancel(errors.New("the second counts for nothing"))
		check.Error(t, g.Wait(), errBoom)
	})
}

func TestTheGroupsContextEndsWithWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		g := weir.NewGroup(context.WithValue(t.Context(), key{}, "inherited"), 2)
		first := g.Context()
		check.Equal(t, "value", first.Value(key{}), any("inherited"))
		var given context.Context
		g.Go(func(ctx context.Context) error { given = ctx; return ctx.Err() })
		check.OK(t, g.Wait())
		check.Equal(t, "what the task was given ends", given.Done(), first.Done())
		check.Equal(t, "value", given.Value(key{}), any("inherited"))
		check.Error(t, first.Err(), context.Canceled)
		check.OK(t, g.Context().Err())
	})
}

func TestGroupsOnOnePoolAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(4)
		defer p.Close()
		failing, fine := p.Group(t.Context()), p.Group(t.Context())
		v := check.NewValve()
		fine.Go(func(ctx context.Context) error {
			v.Hold()
			return ctx.Err()
		})
		failing.Go(func(context.Context) error { return errBoom })
		check.Error(t, failing.Wait(), errBoom)
		v.Open()
		check.OK(t, fine.Wait())
	})
}

func TestAGroupWithWorkersOfItsOwnTakesAllOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(t.Context(), 2, weir.Queue(1), weir.MaxWaiting(0), weir.Name("copy"), weir.Prestart(1), weir.PanicsAsErrors(), weir.KeepGoing())
		v := check.NewValve()
		for range 4 {
			g.Go(v.Member)
		}
		v.Open()
		err := g.Wait()
		check.Equal(t, "message", err.Error(), "task 3: weir: pool is full")
		g.Go(explodeInGroup)
		var p *weir.Panic
		if !errors.As(g.Wait(), &p) || p.Pool != "copy" {
			t.Errorf("got %v", p)
		}
	})
}

func TestCancelBeforeTheFirstTaskCountsBeforeALaterEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := weir.New(1)
	defer p.Close()
	g := p.Group(ctx)
	first := errors.New("the first cause")
	g.Cancel(first)
	cancel(errors.New("a later one"))
	check.Error(t, g.Wait(), first)
}

func TestCancelAfterTheEndOfTheContextDoesNotCount(t *testing.T) {
	first := errors.New("the first cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	g := weir.NewGroup(ctx, 1)
	cancel(first)
	g.Cancel(errors.New("a later one"))
	check.Error(t, g.Wait(), first)
	g.Go(succeed)
	check.Error(t, g.Wait(), first)
}
