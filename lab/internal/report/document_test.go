package report_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
)

func TestThePublishedResultsMakeReports(t *testing.T) {
	paths, err := filepath.Glob("../../results/*.txt")
	check.OK(t, err)
	text := ""
	for _, path := range paths {
		f, err := record.ReadFile(path)
		check.OK(t, err)
		harmless(t, f)
		text += report.New(f)
	}
	if tables := strings.Count(text, "\n\n|"); tables < 20 {
		t.Errorf("only %d tables", tables)
	}
	for _, want := range []string{
		"go run ./lab -full", "| Weir is ahead ", "Where Weir is behind", "### behaviour/scenarios", "✗ hangs", "- 05 a limit of 1&lt;&lt;32, ants hangs: ",
		"rill, tunny, varmq and golang-queue", "are not measured", "five published texts about goroutine pools",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestAReportOfNothingSaysSo(t *testing.T) {
	check.Equal(t, "the report", report.New(record.File{}), "Nothing was measured.\n\n")
	for _, table := range []func(record.File) string{report.Performance, report.Summary, report.Behaviour, report.Features, report.Queues, report.Lengths} {
		check.Equal(t, "a table of nothing", table(record.File{}), "")
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
	harmless(t, f)
}
