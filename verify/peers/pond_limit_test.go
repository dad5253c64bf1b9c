package peers_test

import (
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/verify/peers"
)

// pondLimitCases are about how many tasks run at once.
var pondLimitCases = []peers.Case{
	{
		Name: "ANegativeLimitIsAMistake",
		Theirs: []string{
			"pond.TestNewPoolWithInvalidMaxConcurrency",
			"pond.TestPoolResizeWithNegativeMaxConcurrency",
			"pond.TestSubpoolMaxConcurrency",
			"pond.TestResultSubpoolMaxConcurrency",
		},
		Behaviour: "A limit below 0 panics with a message that says what must hold: for a new pool, a part of it, and a new limit.",
		Run: func(t *testing.T) {
			mistake := "weir: limit must be at least 1, got -1"
			p := weir.New(10)
			equal[any](t, "panic of New", caught(func() { weir.New(-1) }), mistake)
			equal[any](t, "panic of Resize", caught(func() { p.Resize(-1) }), mistake)
			equal[any](t, "panic of Limit", caught(func() { p.Group(t.Context(), weir.Limit(-1)) }), mistake)
			equal(t, "limit after that", p.Stats().Limit, 10)
		},
	},
	{
		Name: "ZeroIsAMistakeToo",
		Theirs: []string{
			"pond.TestPoolResizeWithZeroMaxConcurrency",
			"pond.TestPoolSubmitWhileStoppingHasNoRace",
			"pond.TestSubpoolMaxConcurrency",
			"pond.TestResultSubpoolMaxConcurrency",
		},
		Behaviour: "A limit of 0 stands for none, and for a part of a pool for that of the pool.",
		Different: "It panics, since zero is what a forgotten setting looks like; Unbounded says that no limit is meant, and a group without Limit has only that of its pool.",
		Run: func(t *testing.T) {
			mistake := "weir: limit must be at least 1, got 0"
			p := weir.New(10)
			equal[any](t, "panic of New", caught(func() { weir.New(0) }), mistake)
			equal[any](t, "panic of Resize", caught(func() { p.Resize(0) }), mistake)
			equal[any](t, "panic of Limit", caught(func() { p.Group(t.Context(), weir.Limit(0)) }), mistake)

			g := p.Group(t.Context())
			gate := make(chan struct{})
			for range 12 {
				g.Go(pondPlain(func() { <-gate }))
			}
			synctest.Wait()
			equal(t, "tasks of a group without a limit of its own", p.Stats().Running, 10)
			p.Resize(weir.Unbounded)
			synctest.Wait()
			equal(t, "the same when the pool has none", p.Stats().Running, 12)
			equal(t, "limit", p.Stats().Limit, weir.Unbounded)
			close(gate)
			ok(t, g.Wait())
			p.Close()
		},
	},
	{
		Name:      "TheLimitCanBeChangedBothWays",
		Theirs:    []string{"pond.TestPoolResize"},
		Behaviour: "A higher limit starts queued tasks at once; a lower one lets those that run end, and only then no more run than it allows; the pool tells the new limit.",
		Run: func(t *testing.T) {
			p := weir.New(1, weir.Queue(10))
			step := make(chan struct{})
			for range 10 {
				ok(t, p.Submit(func() { <-step }))
			}
			counts := func(limit, running, queued int) {
				t.Helper()
				synctest.Wait()
				stats := p.Stats()
				equal(t, "limit", stats.Limit, limit)
				equal(t, "tasks that run", stats.Running, running)
				equal(t, "tasks queued", stats.Queued, queued)
			}
			counts(1, 1, 9)
			p.Resize(3)
			counts(3, 3, 7)
			p.Resize(2)
			counts(2, 3, 7)
			step <- struct{}{}
			counts(2, 2, 7)
			step <- struct{}{}
			step <- struct{}{}
			counts(2, 2, 5)
			close(step)
			p.Close()
			equal(t, "tasks that ran", p.Stats().Finished, 10)
		},
	},
}
