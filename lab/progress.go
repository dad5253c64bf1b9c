package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// A progress says what runs and how long is left: as a bar on a terminal, as a line
// for each experiment elsewhere.
type progress struct {
	before, after func(t run.Turn)
	stop          func()
}

// A forecast is how long the rest of the plan will take: what was expected of it,
// times how much longer than expected the turns so far have taken. It is written by
// one goroutine, and read by that which draws.
type forecast struct {
	begin    time.Time
	expected time.Duration // of the whole plan
	passed   atomic.Int64  // of what was expected, nanoseconds
}

func newForecast(plan []suite.Experiment) *forecast {
	f := &forecast{begin: time.Now()}
	for _, e := range plan {
		f.expected += time.Duration(e.Rounds*len(e.Contenders)) * e.Turn
	}
	return f
}

// done is the share of the work that lies behind, from 0 to 1.
func (f *forecast) done() float64 {
	if f.expected == 0 {
		return 1
	}
	return min(1, float64(f.passed.Load())/float64(f.expected))
}

func (f *forecast) left() time.Duration {
	passed := f.passed.Load()
	rest := max(0, int64(f.expected)-passed)
	if passed > int64(f.expected)/50 {
		rest = int64(float64(rest) * float64(time.Since(f.begin)) / float64(passed))
	}
	return time.Duration(rest).Round(time.Second)
}

func startProgress(screen io.Writer, plan []suite.Experiment) progress {
	f := newForecast(plan)
	if file, ok := screen.(*os.File); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" {
		return drawBar(screen, f)
	}
	last := ""
	return progress{
		before: func(t run.Turn) {
			if now := name(t.Experiment.ID); now != last {
				last = now
				say(screen, "%3.0f %%, about %v left: %s", 100*f.done(), f.left(), now)
			}
		},
		after: func(t run.Turn) { f.passed.Add(int64(t.Experiment.Turn)) },
		stop:  func() {},
	}
}

func drawBar(screen io.Writer, f *forecast) progress {
	const steps = 1000
	var now atomic.Pointer[string]
	container := mpb.New(mpb.WithOutput(screen), mpb.WithWidth(40))
	bar := container.AddBar(steps,
		mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(
			decor.Percentage(decor.WC{W: 5}),
			decor.Any(func(decor.Statistics) string { return fmt.Sprintf("  %v left  ", f.left()) }),
			decor.Any(func(decor.Statistics) string {
				if text := now.Load(); text != nil {
					return *text
				}
				return ""
			}),
		),
	)
	return progress{
		before: func(t run.Turn) {
			text := fmt.Sprintf("%s %s, round %d of %d", name(t.Experiment.ID), t.Contender.Name, t.Round+1, t.Experiment.Rounds)
			now.Store(&text)
		},
		after: func(t run.Turn) {
			f.passed.Add(int64(t.Experiment.Turn))
			bar.SetCurrent(int64(f.done() * (steps - 1)))
		},
		stop: func() {
			bar.Abort(true)
			container.Wait()
		},
	}
}
