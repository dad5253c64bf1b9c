package main

import (
	"io"
	"time"

	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// A progress says what runs and how long is left: a line for each experiment.
type progress struct {
	screen   io.Writer
	begin    time.Time
	expected time.Duration // of the whole plan
	passed   time.Duration // of the expected time
	now      string        // what runs now
}

func startProgress(screen io.Writer, plan []suite.Experiment) *progress {
	p := &progress{screen: screen, begin: time.Now()}
	for _, e := range plan {
		p.expected += took(e)
	}
	return p
}

// before reports that a turn begins.
func (p *progress) before(t run.Turn) {
	if text := name(t.Experiment.ID); text != p.now {
		done := min(1, float64(p.passed)/float64(max(p.expected, 1)))
		say(p.screen, "%3.0f %%, about %v left: %s", 100*done, p.left(), text)
		p.now = text
	}
}

// after reports that a turn has ended.
func (p *progress) after(t run.Turn) { p.passed += t.Time() }

// left returns the time that is left: the expected time of the remaining turns, times the ratio of actual to
// expected time of the turns so far.
func (p *progress) left() time.Duration {
	rest := max(0, p.expected-p.passed)
	if p.passed > p.expected/50 {
		rest = time.Duration(float64(rest) * float64(time.Since(p.begin)) / float64(p.passed))
	}
	return rest.Round(time.Second)
}
