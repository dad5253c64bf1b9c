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
	one := func() int64 { return 1 }
	n := 0
	for ; ; n++ {
		result, submitter := waiting.Join(&tally, engine.Task{N: n}, one, 1, true)
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
		next, _, end := waiting.End(&tally, one)
		check.Equal(t, "there is a next task", end, engine.DirectNext)
		check.Equal(t, "next task", next.N, i)
	}
	_, _, end := waiting.End(&tally, one)
	check.Equal(t, "end of the last", end, engine.DirectOver)
	check.Equal(t, "begins again", tally.BeginDirect(1), true)
}

// A submitter that may not wait learns that there is no room only if there is none.
func TestJoinOfASubmitterThatMayNotWait(t *testing.T) {
	for _, limit := range []int{1, 2} {
		var intake engine.Intake
		var tally engine.Tally
		tally.Init(&intake)
		var waiting engine.DirectQueue
		join := func() engine.DirectJoin {
			result, _ := waiting.Join(&tally, engine.Task{}, func() int64 { return int64(limit) }, 0, false)
			return result
		}
		check.Equal(t, "begins", tally.BeginDirect(limit), true)
		if limit > 1 {
			check.Equal(t, "with a place", join(), engine.DirectBegins)
		}
		check.Equal(t, "without a place", join(), engine.DirectFull)
		waiting.Switch(&tally, func(int) {}, nil)
		check.Equal(t, "after Switch", join(), engine.DirectRefused)
	}
}
