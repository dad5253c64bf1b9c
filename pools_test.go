package weir_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// listed returns the pool that Pools yields under the name.
func listed(t *testing.T, name string) weir.PoolInfo {
	t.Helper()
	for info := range weir.Pools() {
		if info.Name == name {
			return info
		}
	}
	t.Fatalf("no pool %q is listed", name)
	return weir.PoolInfo{}
}

func isListed(name string) bool {
	for info := range weir.Pools() {
		if info.Name == name {
			return true
		}
	}
	return false
}

func TestPoolsListsThoseInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(3, weir.Name("listed"))
		check.Equal(t, "listed before the first task", isListed("listed"), false)
		check.OK(t, p.Submit(nothing))
		p.Wait()
		info := listed(t, "listed")
		check.Equal(t, "kind", info.Kind, "Pool")
		if !strings.Contains(info.Made, "/pools_test.go:") {
			t.Errorf("made at %s", info.Made)
		}
		check.Equal(t, "stats", info.Stats(), p.Stats())
		check.Equal(t, "tasks that have waited", info.Times().Wait.Count(), 1)

		info.Resize(5)
		check.Equal(t, "limit", p.Stats().Limit, 5)
		info.Pause()
		check.OK(t, p.Submit(nothing))
		synctest.Wait()
		check.Equal(t, "queued in a pause", info.Stats().Queued, 1)
		info.Resume()
		p.Close()
		check.Equal(t, "listed after Close", isListed("listed"), false)
	})
}

func TestPoolsListsAPausedPoolThatHasHadNoTask(t *testing.T) {
	p := weir.New(1, weir.Name("paused"))
	p.Pause()
	check.OK(t, p.Submit(nothing))
	check.Equal(t, "paused", listed(t, "paused").Stats().Paused, true)
	p.Resume()
	p.Close()
}

func TestPoolsTellsKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := weir.NewFunc(1, func([]int) {}, weir.Name("kind f"))
		s := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, string) {}, nil, weir.Name("kind s"))
		check.OK(t, f.Invoke(nil))
		check.OK(t, s.Invoke(""))
		synctest.Wait()
		check.Equal(t, "kind", listed(t, "kind f").Kind, "FuncPool[[]int]")
		check.Equal(t, "kind", listed(t, "kind s").Kind, "Stateful[int,string]")
		for _, name := range []string{"kind f", "kind s"} {
			if made := listed(t, name).Made; !strings.Contains(made, "/pools_test.go:") {
				t.Errorf("%s was made at %s", name, made)
			}
		}
		f.Close()
		s.Close()
	})
}

func TestPoolsListsAPoolThatClosesWhileItsTasksRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := weir.New(1, weir.Name("closing"))
		v := block(t, p, 1)
		go p.Close()
		synctest.Wait()
		check.Equal(t, "closed", listed(t, "closing").Stats().Closed, true)
		v.Open()
		synctest.Wait()
		check.Equal(t, "listed", isListed("closing"), false)
	})
}

// The registry must not keep what the program has dropped.
func TestPoolsThatAreDroppedBecomeGarbage(t *testing.T) {
	const pools = 2000
	gone := make(chan struct{}, pools)
	for range pools {
		p := weir.New(1, weir.Name("dropped"), weir.IdleTimeout(0))
		runtime.AddCleanup(p, func(struct{}) { gone <- struct{}{} }, struct{}{})
		check.OK(t, p.Submit(nothing))
		p.Wait()
	}
	for range pools {
		for collected := false; !collected; {
			select {
			case <-gone:
				collected = true
			default:
				runtime.GC()
			}
		}
	}
	check.Equal(t, "listed", isListed("dropped"), false)
}

func TestTheListsMayBeReadWhilePoolsAndGroupsComeAndGo(t *testing.T) {
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for info := range weir.Pools() {
					_, _, _ = info.Stats(), info.Times(), info.Running(time.Second)
				}
				_ = weir.Groups(0)
			}
		})
	}
	for i := range check.Scale(150, 50) {
		p := weir.New(1+i%3, weir.Name("short"))
		g := p.Group(t.Context())
		own := weir.NewGroup(t.Context(), 2)
		for range 40 {
			g.Go(func(context.Context) error { return nil })
			own.Go(func(ctx context.Context) error {
				inner := p.Group(ctx)
				inner.Go(func(context.Context) error { return nil })
				return inner.Wait()
			})
		}
		p.Resize(2)
		check.OK(t, g.Wait())
		check.OK(t, own.Wait())
		p.Close()
	}
	close(stop)
	readers.Wait()
}
