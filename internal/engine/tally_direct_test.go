package engine_test

import (
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/engine"
)

// A set has a bound for the tasks that wait. Those beyond it have to wait elsewhere, and the others still begin, in order.
func TestManyTasksWaitForADirectOne(t *testing.T) {
	var intake engine.Intake
	var tally engine.Tally
	tally.Init(&intake)
	var waiting engine.DirectQueue
	check.Equal(t, "begins", tally.BeginDirect(1), true)
	n := 0
	for ; ; n++ {
		result, submitter := waiting.Join(&tally, engine.Task{N: n}, func() int64 { return 1 }, 1, true)
		if result == engine.DirectRefused {
			break
		}
		check.Equal(t, "a submitter waits", submitter != nil, n > 0)
	}
	if n < 100_000 {
		t.Errorf("%d tasks can wait", n)
	}
	check.Equal(t, "tasks at once", tally.BeginDirect(1), false)
	for i := range n {
		_, end := tally.EndDirect(1)
		check.Equal(t, "end", end, engine.DirectPasses)
		next, ok := waiting.Next(&tally)
		check.Equal(t, "there is a next task", ok, true)
		check.Equal(t, "next task", next.N, i)
	}
	_, end := tally.EndDirect(1)
	check.Equal(t, "end of the last", end, engine.DirectOver)
	check.Equal(t, "begins again", tally.BeginDirect(1), true)
}
