package main

import (
	"io"
	"time"

	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// progress returns a function that is called at the beginning of each turn, and says for each experiment what runs and how long
// is left: the expected time of the remaining turns, times the ratio of actual to expected time of the turns so far.
func progress(screen io.Writer, plan []suite.Experiment) func(run.Turn) {
	begin, now := time.Now(), ""
	var expected, passed time.Duration // of the whole plan, and of the turns before this one
	for _, e := range plan {
		expected += took(e)
	}
	return func(t run.Turn) {
		if text := name(t.Experiment.ID); text != now {
			now = text
			left := float64(expected - passed)
			if passed > expected/50 {
				left *= float64(time.Since(begin)) / float64(passed)
			}
			say(screen, "%3.0f %%, about %v left: %s", 100*float64(passed)/float64(expected), time.Duration(left).Round(time.Second), now)
		}
		passed += t.Time()
	}
}
