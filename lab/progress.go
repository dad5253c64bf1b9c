package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// A progress shows what runs and how long is left: as a bar on a terminal, otherwise as a line for each
// experiment. One goroutine reports the turns, and another draws the bar.
type progress struct {
	screen   io.Writer
	begin    time.Time
	expected time.Duration          // of the whole plan
	passed   atomic.Int64           // nanoseconds of the expected time that have passed
	now      atomic.Pointer[string] // what runs now

	bars *mpb.Progress // nil without a terminal
	bar  *mpb.Bar
}

// barSteps is the number of steps of the bar.
const barSteps = 1000

func startProgress(screen io.Writer, plan []suite.Experiment) *progress {
	p := &progress{screen: screen, begin: time.Now()}
	for _, e := range plan {
		p.expected += took(e)
	}
	p.now.Store(new(string))
	if isTerminal(screen) && os.Getenv("TERM") != "dumb" {
		p.bars = mpb.New(mpb.WithOutput(screen), mpb.WithWidth(40))
		p.bar = p.bars.AddBar(barSteps, mpb.BarRemoveOnComplete(), mpb.AppendDecorators(
			decor.Percentage(decor.WC{W: 5}),
			decor.Any(func(decor.Statistics) string { return fmt.Sprintf("  %v left  %s", p.left(), *p.now.Load()) }),
		))
	}
	return p
}

// before reports that a turn begins.
func (p *progress) before(t run.Turn) {
	text := name(t.Experiment.ID)
	if p.bars != nil {
		text = fmt.Sprintf("%s %s, round %d of %d", text, t.Peer(), t.Round+1, t.Experiment.Rounds)
	} else if text != *p.now.Load() {
		say(p.screen, "%3.0f %%, about %v left: %s", 100*p.done(), p.left(), text)
	}
	p.now.Store(&text)
}

// after reports that a turn has ended.
func (p *progress) after(t run.Turn) {
	p.passed.Add(int64(t.Time()))
	if p.bars != nil {
		p.bar.SetCurrent(int64(p.done() * (barSteps - 1)))
	}
}

func (p *progress) stop() {
	if p.bars != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}

// done returns the share of the work that is done, from 0 to 1.
func (p *progress) done() float64 {
	return min(1, float64(p.passed.Load())/float64(max(p.expected, 1)))
}

// left returns the time that is left: the expected time of the remaining turns, times the ratio of actual to
// expected time of the turns so far.
func (p *progress) left() time.Duration {
	passed := p.passed.Load()
	rest := max(0, int64(p.expected)-passed)
	if passed > int64(p.expected)/50 {
		rest = int64(float64(rest) * float64(time.Since(p.begin)) / float64(passed))
	}
	return time.Duration(rest).Round(time.Second)
}
