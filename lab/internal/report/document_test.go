package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
)

func TestThePublishedResultsMakeOnePage(t *testing.T) {
	var reports []report.Report
	pictures := 0
	for k, f := range published(t) {
		pictures += harmless(t, f)
		reports = append(reports, report.New(f, fmt.Sprint("run ", k)))
	}
	s, err := report.HTML(reports)
	check.OK(t, err)
	checkPage(t, s)
	if n := strings.Count(s, "<img"); n != pictures || n < 20 {
		t.Errorf("%d pictures, and %d files of them", n, pictures)
	}
	if tables := strings.Count(s, "<table"); tables < 20 {
		t.Errorf("only %d tables", tables)
	}
	for _, want := range []string{
		"go run ./lab -full", "Weir is ahead in", "Where Weir is behind", ">Scenarios<", "✗ hangs", "<li>05 a limit of 1&lt;&lt;32, ants hangs: ",
		"rill, tunny, varmq and golang-queue", "are not measured", "five published texts about goroutine pools",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestAReportOfNothingSaysSo(t *testing.T) {
	page, err := report.HTML(nil)
	check.OK(t, err)
	for _, s := range []string{page, report.New(record.File{}, "").Markdown} {
		if !strings.Contains(s, "Nothing was measured") {
			t.Errorf("got %q", s)
		}
	}
	harmless(t, record.File{})
	for _, s := range []string{report.Performance(record.File{}), report.Summary(record.File{}), report.Behaviour(record.File{}), report.Features(record.File{})} {
		check.Equal(t, "a table of nothing", s, "")
	}
}

func TestHostileNamesAreHarmless(t *testing.T) {
	const hostile = `<script>alert("x")</script>&"'` + "\x1b[2J\x00\n`|"
	one := []record.Setting{{Key: hostile, Value: hostile}, {Key: "tasks", Value: "1"}}
	f := record.File{Settings: []record.Setting{{Key: "cpu", Value: hostile}, {Key: hostile, Value: hostile}}}
	for _, peer := range []string{"weir." + hostile, hostile, "go"} {
		add := func(suite, experiment, peer string, params []record.Setting, values ...record.Value) {
			for range 10 {
				f.Results = append(f.Results, record.Result{
					ID:     record.ID{Suite: suite, Experiment: experiment, Params: params, Peer: peer, Procs: 2},
					Values: values, Notes: []record.Setting{{Key: "verdict", Value: hostile}, {Key: "title", Value: hostile}, {Key: "detail", Value: hostile}},
				})
			}
		}
		for _, e := range []string{"sleep", hostile} {
			add("seeds", e, peer, one, record.Value{Unit: "ns/op", Value: 5}, record.Value{Unit: hostile, Value: 3}, record.Value{Unit: "peak-B", Value: 7})
		}
		add("behaviour", hostile, peer, nil, record.Value{Unit: "ns/op", Value: 1})
		add("dispatch", "lone", peer, nil) // without a value
		for _, roots := range []string{"1", "2", hostile} {
			for _, tasks := range []string{"1", "2", "3", hostile} {
				params := []record.Setting{{Key: "roots", Value: roots}, {Key: "tasks", Value: tasks}}
				add("cost", "curve", "inplace", params, record.Value{Unit: "ns/op", Value: 5})
				add("cost", "curve", peer, params, record.Value{Unit: "ns/op", Value: 6})
			}
		}
	}
	if harmless(t, f) == 0 {
		t.Error("no plots")
	}
}

func TestSVGsOfSeveralRunsLieSideBySide(t *testing.T) {
	dir := t.TempDir()
	var f record.File
	for _, peer := range []string{"weir.Pool", "go"} {
		f.Results = append(f.Results, record.Result{
			ID: record.ID{Suite: "dispatch", Experiment: "burst", Peer: peer, Procs: 2}, Values: []record.Value{{Unit: "ns/op", Value: 1}},
		})
	}
	check.OK(t, os.WriteFile(filepath.Join(dir, "old.svg"), nil, 0o600)) // of an earlier run
	check.OK(t, report.Write(dir, []report.Report{report.New(f, ""), report.New(f, "run1"), report.New(f, "../Run 2")}))
	names, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	check.OK(t, err)
	for k := range names {
		names[k] = filepath.Base(names[k])
	}
	const name = "dispatch-burst-gomaxprocs-2-time.svg"
	check.Equal(t, "files", strings.Join(names, " "), name+" run-2-"+name+" run1-"+name)
}
