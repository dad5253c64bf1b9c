package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// rawName is the file of results in Go's benchmark format.
const rawName = "results.txt"

// measure runs the plan, and keeps every result at once. In the end it shows the results, also those of a run that was
// interrupted.
func (o *options) measure(ctx context.Context, stdout, stderr io.Writer) (err error) {
	plan := o.plan()
	// This folder also holds what a measurement leaves behind when it is killed.
	temporary, err := os.MkdirTemp("", "weir-lab-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	raw, err := os.Create(filepath.Join(o.out, rawName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()

	scale := "quick"
	if o.Full {
		scale = "full"
	}
	settings := append(machine.Settings(o.command(), peer.Modules), record.Setting{Key: "scale", Value: scale})
	file := record.File{Settings: settings}
	to := record.NewWriter(raw, settings)
	runner := run.Runner{
		Arguments: o.childArguments,
		Temporary: temporary,
		Keep: func(r record.Result) error {
			file.Results = append(file.Results, r)
			return to.Write(r)
		},
		Before: progress(stderr, plan),
	}
	begin := time.Now()
	stopped := runner.Run(ctx, plan)
	for _, r := range file.Results {
		if reason := record.Find(r.Notes, record.FailedNote); reason != "" {
			say(stderr, "failed: %s: %s", r.ID, reason)
		}
	}
	if len(file.Results) == 0 {
		return errors.Join(stopped, errors.New("nothing was measured"))
	}
	if ctx.Err() != nil {
		say(stderr, "\nInterrupted: this is a part of the run.")
	}
	say(stderr, "%d measurements in %v", len(file.Results), time.Since(begin).Round(time.Second))
	say(stderr, "The raw results are in %s, for benchstat and for -from.", filepath.Join(o.out, rawName))
	return errors.Join(stopped, o.show(stdout, stderr, file))
}

// show prints the report of each file, and writes the page of all of them.
func (o *options) show(stdout, stderr io.Writer, files ...record.File) error {
	for _, file := range files {
		if _, err := io.WriteString(stdout, report.New(file)); err != nil {
			return err
		}
	}
	page, err := report.Page(files...)
	if err != nil {
		return err
	}
	path := filepath.Join(o.out, "report.html")
	say(stderr, "The report with plots is %s.", path)
	return errors.Join(os.MkdirAll(o.out, 0o755), os.WriteFile(path, []byte(page), 0o644))
}

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

// command returns the command line, with quotes for a shell.
func (o *options) command() string {
	words := []string{"go run ./lab"}
	for _, word := range o.args {
		if strings.ContainsAny(word, " |()[]{}$*?&;<>\"\\^") {
			word = "'" + word + "'"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// showAgain shows the results of earlier runs.
func (o *options) showAgain(stdout, stderr io.Writer) error {
	var files []record.File
	for _, path := range o.from {
		file, err := record.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	return o.show(stdout, stderr, files...)
}
