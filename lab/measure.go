package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// rawName is the file of results in Go's benchmark format.
const rawName = "results.txt"

// measure runs the plan, keeps every result at once, and shows what there is at the
// end, also when the run was interrupted.
func (o *options) measure(ctx context.Context, out, err io.Writer) (problem error) {
	plan := o.plan()
	if problem := os.MkdirAll(o.out, 0o755); problem != nil {
		return problem
	}
	if o.profile != "" {
		if problem := os.MkdirAll(o.profile, 0o755); problem != nil {
			return problem
		}
	}
	raw, problem := os.Create(filepath.Join(o.out, rawName))
	if problem != nil {
		return problem
	}
	defer func() { problem = errors.Join(problem, raw.Close()) }()

	settings := machine.Settings("go run ./lab " + strings.Join(o.args, " "))
	settings = append(settings, record.Setting{Key: "scale", Value: o.scaleName()})
	if left := o.leftOut(plan); left != "" {
		settings = append(settings, record.Setting{Key: "left-out", Value: left})
	}
	file := record.File{Settings: settings}
	to := record.NewWriter(raw, settings)
	bar := startProgress(err, plan)
	runner := run.Runner{
		Command:   itself,
		Arguments: o.childArguments,
		Keep: func(r record.Result) error {
			file.Results = append(file.Results, r)
			return to.Write(r)
		},
		Before: bar.before,
		After:  bar.after,
	}
	begin := time.Now()
	failures, stopped := runner.Run(ctx, plan)
	bar.stop()
	for _, f := range failures {
		say(err, "failed: %s: %s", f.ID, f.Reason)
	}
	if len(file.Results) == 0 {
		return errors.Join(stopped, errors.New("nothing was measured"))
	}
	say(err, "%d measurements in %v", len(file.Results), time.Since(begin).Round(time.Second))
	return errors.Join(stopped, o.show(out, err, file))
}

func (o *options) scaleName() string {
	if o.full {
		return "full"
	}
	return "quick"
}

// leftOut says what the suites that run have beyond what is measured now.
func (o *options) leftOut(plan []suite.Experiment) string {
	if o.full {
		return ""
	}
	var parts []string
	for _, s := range suite.All() {
		runs := slices.ContainsFunc(plan, func(e suite.Experiment) bool { return e.ID.Suite == s.Name })
		if runs && s.LeftOut != "" {
			parts = append(parts, s.Name+": "+s.LeftOut)
		}
	}
	return strings.Join(parts, "; ")
}

// show prints the results, and writes the page and the plots.
func (o *options) show(out, err io.Writer, file record.File) error {
	if o.json {
		return printJSON(out, file)
	}
	color, width := terminal(out)
	if problem := report.Text(out, file, color, width); problem != nil {
		return problem
	}
	if left := file.Setting("left-out"); left != "" {
		say(err, "\nLeft out without -full: %s.", left)
	}
	page, problem := os.Create(filepath.Join(o.out, "report.html"))
	if problem != nil {
		return problem
	}
	problem = errors.Join(report.HTML(page, []record.File{file}), page.Close(), report.SVGs(o.out, file))
	if problem == nil {
		say(err, "\nWritten to %s: report.html, the plots as SVG files, and %s for benchstat.", o.out, rawName)
	}
	return problem
}

// terminal says whether out is one, and how wide.
func terminal(out io.Writer) (color bool, width int) {
	const usual = 120
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return false, usual
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = usual
	}
	return os.Getenv("NO_COLOR") == "", width
}

// showAgain shows results of earlier runs.
func (o *options) showAgain(out io.Writer) error {
	var files []record.File
	for name := range strings.SplitSeq(o.from, ",") {
		file, err := readFile(name)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	for _, file := range files {
		if o.json {
			if err := printJSON(out, file); err != nil {
				return err
			}
			continue
		}
		color, width := terminal(out)
		if err := report.Text(out, file, color, width); err != nil {
			return err
		}
	}
	if o.json {
		return nil
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	page, err := os.Create(filepath.Join(o.out, "report.html"))
	if err != nil {
		return err
	}
	err = errors.Join(report.HTML(page, files), page.Close())
	for _, file := range files {
		err = errors.Join(err, report.SVGs(o.out, file))
	}
	return err
}

func readFile(name string) (record.File, error) {
	raw, err := os.Open(name)
	if err != nil {
		return record.File{}, err
	}
	defer raw.Close()
	return record.Read(raw, name)
}

// A jsonResult is a line of -json.
type jsonResult struct {
	Name       string             `json:"name"`
	Suite      string             `json:"suite"`
	Experiment string             `json:"experiment"`
	Params     map[string]string  `json:"params,omitempty"`
	Peer       string             `json:"peer"`
	Procs      int                `json:"gomaxprocs"`
	N          int                `json:"n"`
	Values     map[string]float64 `json:"values"`
	Notes      map[string]string  `json:"notes,omitempty"`
}

// printJSON prints one object a line: the settings first, then the results.
func printJSON(out io.Writer, file record.File) error {
	to := json.NewEncoder(out)
	if err := to.Encode(map[string]any{"settings": asMap(file.Settings)}); err != nil {
		return err
	}
	for _, r := range file.Results {
		line := jsonResult{
			Name: r.ID.String(), Suite: r.ID.Suite, Experiment: r.ID.Experiment, Params: asMap(r.ID.Params),
			Peer: r.ID.Peer, Procs: r.ID.Procs, N: r.N, Values: map[string]float64{}, Notes: asMap(r.Notes),
		}
		for _, v := range r.Values {
			line.Values[v.Unit] = v.Value
		}
		if err := to.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func asMap(settings []record.Setting) map[string]string {
	m := make(map[string]string, len(settings))
	for _, s := range settings {
		m[s.Key] = s.Value
	}
	return m
}
