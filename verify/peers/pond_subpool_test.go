package peers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondSubpoolCases are about a part of a pool with a limit of its own, which is a group here.
var pondSubpoolCases = []peers.Case{
	{
		Name:      "PartsHaveLimitsOfTheirOwn",
		Theirs:    names{"pond.TestSubpool"},
		Behaviour: "A part of a pool runs no more tasks at once than its own limit says, and neither does a part of that part, while others use the pool, too.",
		Run: func(t *testing.T) {
			const tasks, pause = 10, 10 * time.Millisecond
			p := pondPool(10)
			timed := func(g *weir.Group) time.Duration {
				start := time.Now()
				for range tasks {
					g.Go(pondPlain(func() { time.Sleep(pause) }))
				}
				ok(t, g.Wait())
				return time.Since(start)
			}
			part := p.Group(t.Context(), weir.Limit(5))
			whole := begin(func() {
				equal(t, "time of the part", timed(p.Group(t.Context(), weir.Limit(5))), tasks/5*pause)
			})
			part.Go(func(ctx context.Context) error {
				equal(t, "time of the part's part", timed(p.Group(ctx, weir.Limit(1))), tasks*pause)
				return nil
			})
			ok(t, part.Wait())
			<-whole
			p.Close()
		},
	},
	{
		Name:      "APartMayBeUsedAgain",
		Theirs:    names{"pond.TestSubpoolStop"},
		Behaviour: "A part of a pool that has been stopped refuses tasks.",
		Different: "A group may be used again after Wait: it holds nothing that would have to be stopped; Cancel makes it drop what is added next.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			part := p.Group(t.Context(), weir.Limit(5))
			ran := 0
			for range 2 {
				part.Go(pondPlain(func() { ran++ }))
				ok(t, part.Wait())
			}
			equal(t, "tasks that ran", ran, 2)
			part.Cancel(errBoom)
			part.Go(pondPlain(func() { t.Error("a task of a cancelled group ran") }))
			equal(t, "error", part.Wait(), errBoom)
			p.Close()
		},
	},
	{
		Name:      "APartMayHaveMoreThanItsPool",
		Theirs:    names{"pond.TestSubpoolMaxConcurrency", "pond.TestResultSubpoolMaxConcurrency"},
		Behaviour: "A part panics if its limit is above that of the pool.",
		Different: "It is allowed, and the lower of the two holds: the pool may be resized at any time, and a part that was right must not become a mistake.",
		Run: func(t *testing.T) {
			p := pondPool(2)
			part := p.Group(t.Context(), weir.Limit(3))
			gate := make(chan struct{})
			for range 3 {
				part.Go(pondPlain(func() { <-gate }))
			}
			equal(t, "a fourth is accepted", part.TryGo(pondPlain(func() {})), false)
			synctest.Wait()
			equal(t, "tasks that run", p.Stats().Running, 2)
			p.Resize(10)
			synctest.Wait()
			equal(t, "tasks that run in a larger pool", p.Stats().Running, 3)
			close(gate)
			ok(t, part.Wait())
			p.Close()
		},
	},
	{
		Name:      "APartHasNoQueueOfItsOwn",
		Theirs:    names{"pond.TestSubpoolWithQueueSizeOverride"},
		Behaviour: "A part of a pool can have a queue of its own, shorter than that of the pool, and refuse what does not fit, which it counts.",
		Different: "A group has no queue: at its limit Go waits, which holds its producer and no other, and TryGo says no, for its caller to count.",
		Run: func(t *testing.T) {
			p := weir.New(10, weir.Queue(10))
			part := p.Group(t.Context(), weir.Limit(1))
			gate := make(chan struct{})
			ran := 0
			task := pondPlain(func() {
				<-gate
				ran++
			})
			equal(t, "the first is accepted", part.TryGo(task), true)
			equal(t, "the second is accepted", part.TryGo(task), false)
			waits := begin(func() { part.Go(task) })
			synctest.Wait()
			equal(t, "the producer at the limit is let go", over(waits), false)
			equal(t, "tasks that run", p.Stats().Running, 1)
			equal(t, "tasks queued", p.Stats().Queued, 0)
			ok(t, p.TrySubmit(func() {}))

			close(gate)
			<-waits
			ok(t, part.Wait())
			p.Close()
			equal(t, "tasks that ran", ran, 2)
		},
	},
	{
		Name:      "TheLimitOfThePoolStays",
		Theirs:    names{"pond.TestSubpoolResize"},
		Behaviour: "A new limit of a part, higher or lower, leaves that of the pool as it is.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			part := p.Group(t.Context(), weir.Limit(5))
			for _, limit := range []int{7, 1, 20} {
				part.Resize(limit)
				equal(t, "limit of the pool", p.Stats().Limit, 10)
			}
			p.Close()
		},
	},
}
