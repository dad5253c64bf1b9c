package peers_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/internal/gauge"
	"github.com/64ed045f/weir/verify/peers"
)

// pondSubpoolCases are about a part of a pool with a limit of its own, which is a group here.
var pondSubpoolCases = []peers.Case{
	{
		Name:      "PartsHaveLimitsOfTheirOwn",
		Theirs:    []string{"pond.TestSubpool"},
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
		Name:      "AllTasksOfAPartHaveRunWhenItEnds",
		Theirs:    []string{"pond.TestSubpoolStopAndWait", "pond.TestResultPoolSubpool"},
		Behaviour: "When a part of a pool has been waited for, all its tasks have run, each with its value.",
		Run: func(t *testing.T) {
			const tasks = 1000
			p := pondPool(1000)
			r := weir.NewResults[int](p.Group(t.Context(), weir.Limit(100)))
			var inside gauge.Gauge
			for i := range tasks {
				r.Go(func(context.Context) (int, error) {
					inside.Enter()
					defer inside.Leave()
					time.Sleep(time.Microsecond)
					return i, nil
				})
			}
			values, err := r.Wait()
			ok(t, err)
			equal(t, "values", len(values), tasks)
			for i, value := range values {
				equal(t, "value", value, i)
			}
			equal(t, "tasks that ran at once", inside.Peak.Load(), 100)
			equal(t, "tasks that ran", p.Stats().Finished, tasks)
			p.Close()
		},
	},
	{
		Name:      "TheEndOfAPartLeavesThePoolOpen",
		Theirs:    []string{"pond.TestSubpoolStop"},
		Behaviour: "The end of a part leaves the pool open to others; the end of the pool is that of its parts.",
		Run: func(t *testing.T) {
			p := pondPool(10)
			part := p.Group(t.Context(), weir.Limit(5))
			var ran atomic.Int64
			part.Go(pondPlain(func() { ran.Add(1) }))
			ok(t, part.Wait())
			equal(t, "tasks that ran", ran.Load(), 1)
			synctest.Wait()
			pondGives(t, pondAsync(t, p, func() (int64, error) { return ran.Add(1), nil }), 2, nil)
			p.Close()
			pondRefuses(t, p)
			part.Go(pondPlain(func() { t.Error("a refused task ran") }))
			isError(t, part.Wait(), weir.ErrClosed)
		},
	},
	{
		Name:      "APartMayBeUsedAgain",
		Theirs:    []string{"pond.TestSubpoolStop"},
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
		Theirs:    []string{"pond.TestSubpoolMaxConcurrency", "pond.TestResultSubpoolMaxConcurrency"},
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
		Name:      "SeveralPartsShareThePool",
		Theirs:    []string{"pond.TestSubpoolWithDifferentLimits"},
		Behaviour: "Parts with limits of 1, 2 and 3 run as many tasks at once next to each other, the rest of the pool is for others, and when the context ends only those that run complete.",
		Run: func(t *testing.T) {
			p := pondPool(7)
			ctx, cancel := context.WithCancel(t.Context())
			gate := make(chan struct{})
			var insides [4]gauge.Gauge
			var producers sync.WaitGroup
			var groups []*weir.Group
			for i, inside := range []*gauge.Gauge{&insides[0], &insides[1], &insides[2], &insides[3]} {
				var opts []weir.GroupOption
				if i < 3 {
					opts = []weir.GroupOption{weir.Limit(i + 1)}
				}
				g := p.Group(ctx, opts...)
				groups = append(groups, g)
				producers.Go(func() {
					for range 10 {
						g.Go(pondPlain(func() {
							inside.Enter()
							<-gate
						}))
					}
				})
				synctest.Wait()
			}
			for i, want := range []int64{1, 2, 3, 1} {
				equal(t, "tasks that run in a part", insides[i].Now.Load(), want)
			}
			equal(t, "tasks that run in the pool", p.Stats().Running, 7)
			equal(t, "tasks that completed", p.Stats().Finished, 0)

			cancel()
			producers.Wait()
			close(gate)
			for _, g := range groups {
				isError(t, g.Wait(), context.Canceled)
			}
			p.Close()
			for i, want := range []int64{1, 2, 3, 1} {
				equal(t, "tasks that ran in a part", insides[i].Now.Load(), want)
			}
			equal(t, "tasks that completed", p.Stats().Finished, 7)
		},
	},
	{
		Name:      "AsManyPartsAsPlacesIsNoDeadlock",
		Theirs:    []string{"pond.TestSubpoolWithOverlappingConcurrency"},
		Behaviour: "A pool of one and a part of it with the same limit run their tasks one at a time, in turn, and all of them.",
		Run: func(t *testing.T) {
			p := pondPool(1)
			part := p.Group(t.Context(), weir.Limit(1))
			var inside gauge.Gauge
			ran := 0
			task := func() {
				inside.Enter()
				defer inside.Leave()
				time.Sleep(time.Millisecond)
				ran++
				equal(t, "tasks that run", p.Stats().Running, 1)
			}
			start := time.Now()
			part.Go(pondPlain(task))
			ok(t, p.Submit(task))
			part.Go(pondPlain(task))
			ok(t, part.Wait())
			p.Close()
			equal(t, "tasks that ran", ran, 3)
			equal(t, "tasks that ran at once", inside.Peak.Load(), 1)
			equal(t, "time", time.Since(start), 3*time.Millisecond)
		},
	},
	{
		Name:      "APartHasNoQueueOfItsOwn",
		Theirs:    []string{"pond.TestSubpoolWithQueueSizeOverride"},
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
			accepted := 0
			for range 11 {
				if part.TryGo(task) {
					accepted++
				}
			}
			equal(t, "tasks accepted", accepted, 1)
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
		Name:      "TheLimitOfAPartCanBeChanged",
		Theirs:    []string{"pond.TestSubpoolResize"},
		Behaviour: "The limit of a part can be raised, which starts tasks at once, and lowered, which holds when those that run have ended; that of the pool stays.",
		Run: func(t *testing.T) {
			p := weir.New(10, weir.Queue(10))
			part := p.Group(t.Context(), weir.Limit(1))
			step := make(chan struct{})
			producer := begin(func() {
				for range 10 {
					part.Go(pondPlain(func() { <-step }))
				}
			})
			running := func(want int) {
				t.Helper()
				synctest.Wait()
				equal(t, "tasks that run", p.Stats().Running, want)
				equal(t, "limit of the pool", p.Stats().Limit, 10)
			}
			running(1)
			part.Resize(3)
			running(3)
			part.Resize(2)
			running(3)
			step <- struct{}{}
			running(2)
			step <- struct{}{}
			step <- struct{}{}
			running(2)
			close(step)
			<-producer
			ok(t, part.Wait())
			p.Close()
			equal(t, "tasks that ran", p.Stats().Finished, 10)
		},
	},
}
