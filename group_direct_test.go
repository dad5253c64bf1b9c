package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// The first tasks of a group with workers of its own run on none of them. So many that there is a change while tasks run:
const aroundTheChange = 36

func TestTheLimitHoldsWhereAGroupGetsItsWorkers(t *testing.T) {
	for _, limit := range []int{1, 2, aroundTheChange - 4, aroundTheChange, weir.Unbounded} {
		for tasks := range 2 * aroundTheChange {
			check.Bubble(t, fmt.Sprintf("limit %d, %d tasks", limit, tasks), func(t *testing.T) {
				running := new(check.Gauge)
				g := weir.NewGroup(context.Background(), limit)
				for range tasks {
					g.Go(func(context.Context) error {
						running.Enter()
						defer running.Leave()
						time.Sleep(time.Second)
						return nil
					})
				}
				check.OK(t, g.Wait())
				if want := min(limit, tasks); running.Peak.Load() != int64(want) {
					t.Errorf("%d tasks ran at once, want %d", running.Peak.Load(), want)
				}
			})
		}
	}
}

// A task without a worker gets one when it has to give its place up.
func TestAFirstTaskGivesItsPlaceUp(t *testing.T) {
	planted := errors.New("planted")
	for name, end := range map[string]struct {
		run  func() error
		want error
	}{
		"returns": {func() error { return nil }, nil},
		"fails":   {func() error { return planted }, planted},
		"exits":   {func() error { runtime.Goexit(); return nil }, weir.ErrGoexit},
		"panics":  {func() error { panic(planted) }, planted},
	} {
		check.Bubble(t, name, func(t *testing.T) {
			g := weir.NewGroup(context.Background(), 1, weir.KeepGoing(), weir.PanicsAsErrors())
			other := make(chan struct{})
			g.Go(func(ctx context.Context) error {
				weir.Blocking(ctx, func() { <-other })
				return end.run()
			})
			g.Go(func(context.Context) error { close(other); return nil })
			third := false
			g.Go(func(ctx context.Context) error {
				inner := weir.NewGroup(ctx, 1)
				inner.Go(func(context.Context) error { third = true; return nil })
				return inner.Wait()
			})
			if err := g.Wait(); !errors.Is(err, end.want) {
				t.Errorf("error %v, want %v", err, end.want)
			}
			if !third {
				t.Error("a task that was queued has not run")
			}
		})
	}
}

func TestAGroupIsResizedBeforeItHasWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(context.Background(), 1)
		g.Resize(3)
		running := new(check.Gauge)
		start := func(n int) {
			for range n {
				g.Go(func(context.Context) error {
					running.Enter()
					defer running.Leave()
					time.Sleep(time.Second)
					return nil
				})
			}
			synctest.Wait()
		}
		start(2)
		g.Resize(1)
		start(1)
		if now := running.Now.Load(); now != 2 {
			t.Errorf("%d tasks run, want those 2 that ran before", now)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if now := running.Now.Load(); now != 1 {
			t.Errorf("%d tasks run, want 1", now)
		}
		check.OK(t, g.Wait())
	})
}

func TestWaitEndsThoughItsFirstTasksAddMany(t *testing.T) {
	for range check.Scale(2000, 100) {
		g := weir.NewGroup(context.Background(), 4)
		var mu sync.Mutex
		count := 0
		var grow func(context.Context) error
		grow = func(context.Context) error {
			mu.Lock()
			count++
			more := count < 3*aroundTheChange
			mu.Unlock()
			if more {
				g.Go(grow)
				g.Go(grow)
			}
			return nil
		}
		g.Go(grow)
		check.OK(t, g.Wait())
		if count < 3*aroundTheChange {
			t.Fatalf("%d tasks have run", count)
		}
	}
}

func TestACancelledGroupWaitsForItsFirstTasks(t *testing.T) {
	planted := errors.New("planted")
	for tasks := 1; tasks < 2*aroundTheChange; tasks++ {
		check.Bubble(t, fmt.Sprintf("%d tasks", tasks), func(t *testing.T) {
			var over atomic.Int64
			g := weir.NewGroup(context.Background(), weir.Unbounded)
			for range tasks {
				g.Go(func(ctx context.Context) error {
					<-ctx.Done()
					time.Sleep(time.Second)
					over.Add(1)
					return ctx.Err()
				})
			}
			synctest.Wait()
			g.Cancel(planted)
			g.Go(func(context.Context) error { t.Error("a task has started after Cancel"); return nil })
			if err := g.Wait(); !errors.Is(err, planted) || over.Load() != int64(tasks) {
				t.Errorf("error %v when %d of %d tasks were over", err, over.Load(), tasks)
			}
		})
	}
}

func TestAnOnPanicThatExitsDoesNotHangTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weir.NewGroup(context.Background(), 4, weir.OnPanic(func(*weir.Panic) { runtime.Goexit() }))
		var all sync.WaitGroup
		all.Add(3)
		for range 3 {
			g.Go(func(context.Context) error {
				all.Done()
				all.Wait()
				panic("planted")
			})
		}
		if _, ok := check.Caught(func() { _ = g.Wait() }).(*weir.Panic); !ok {
			t.Error("Wait does not panic")
		}
	})
}

// heavy is an error that is seen when it is garbage.
type heavy struct{ _ [4096]byte }

func (*heavy) Error() string { return "heavy" }

func TestAGroupKeepsNothingOfItsFirstTasks(t *testing.T) {
	g := weir.NewGroup(context.Background(), 4)
	failed := new(heavy)
	kept := weak.Make(failed)
	g.Go(func(context.Context) error { return failed })
	check.Error(t, g.Wait(), failed)
	failed = nil
	check.Until(t, "the last batch is garbage", func() bool { runtime.GC(); return kept.Value() == nil })
	runtime.KeepAlive(g)
}

func TestAnAdoptedWorkerKeepsNothingOfItsFirstTask(t *testing.T) {
	g := weir.NewGroup(context.Background(), 4)
	kept := func() weak.Pointer[heavy] {
		held := new(heavy)
		g.Go(func(ctx context.Context) error {
			weir.NewGroup(ctx, 1) // asks whose context that is
			runtime.KeepAlive(held)
			return nil
		})
		return weak.Make(held)
	}()
	stop := make(chan struct{})
	g.Go(func(context.Context) error { <-stop; return nil })
	check.Until(t, "the first task is garbage", func() bool { runtime.GC(); return kept.Value() == nil })
	close(stop)
	check.OK(t, g.Wait())
}
