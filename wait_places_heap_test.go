package weir_test

import (
	"context"
	"sync"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// Submitters in a task that go on one by one, behind one that cannot, leave nothing behind.
func TestSubmittersThatGoOnLeaveNothingBehind(t *testing.T) {
	p := weir.New(2, weir.Queue(0))
	defer p.Close()
	stop, first, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		check.OK(t, run(p, func(ctx context.Context) error {
			<-second
			g := p.Group(ctx)
			close(first)
			g.Go(func(context.Context) error { <-stop; return nil })
			return g.Wait()
		}))
	})
	both.Go(func() {
		check.OK(t, run(p, func(ctx context.Context) error {
			close(second)
			<-first
			g := p.Group(ctx)
			keepsNothing(t, func() {
				for range check.Scale(20_000, 5_000) {
					g.Go(succeed)
				}
			})
			close(stop)
			return g.Wait()
		}))
	})
	both.Wait()
}

// A task that another, full pool refuses leaves nothing behind, though an older one of the group is queued there.
func TestARefusedSubtaskLeavesNothingBehind(t *testing.T) {
	p, q := weir.New(1), weir.New(1, weir.Queue(1))
	defer p.Close()
	defer q.Close()
	stop, begun := make(chan struct{}), make(chan struct{})
	check.OK(t, q.Submit(func() { close(begun); <-stop }))
	<-begun
	check.OK(t, run(p, func(ctx context.Context) error {
		g := q.Group(ctx)
		check.Equal(t, "the first has room", g.TryGo(succeed), true)
		keepsNothing(t, func() {
			for range 20000 {
				check.Equal(t, "the next has room", g.TryGo(succeed), false)
			}
		})
		close(stop)
		return g.Wait()
	}))
}

// keepsNothing fails the test if f leaves more in memory than a few bytes for each of thousands of calls.
func keepsNothing(t *testing.T, f func()) {
	t.Helper()
	f() // what is kept for reuse is there afterwards
	before := heap()
	f()
	if grown := int64(heap()) - int64(before); grown > 200<<10 {
		t.Errorf("%d KiB are kept", grown>>10)
	}
}
