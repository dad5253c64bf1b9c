package report_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/64ed045f/weir/lab/internal/report"
)

// overloaded is a run of the http suite as it may look.
func overloaded() *bench {
	b := newBench()
	params := []string{"capacity", "5000", "offered", "25000", "patience", "1s"}
	for _, p := range []struct {
		peer                          string
		good, refused, p50, p99, peak float64
	}{
		{"weir.Limit", 4800, 20_200, 43e6, 60e6, 40e6},
		{"weir.LimitNewest", 4790, 20_200, 25e6, 61e6, 41e6},
		{"go", 150, 0, 2e9, 3e9, 300e6},
		{"chi", 4700, 20_300, 43e6, 66e6, 45e6},
		{"go.1x", 4820, 0, 41e6, 59e6, 39e6}, // better than all, and no competitor
	} {
		b.add(id("http", "overload", p.peer, 2, params...), "ns/op", 1e9/p.good, "good/s", p.good, "good-%", p.good/50, "served/s", p.good+30,
			"refused/s", p.refused, "p50-ns", p.p50, "p99-ns", p.p99, "other", 0.0, "lost", 0.0, "peak-B", p.peak)
		last := &b.file.Results[len(b.file.Results)-1]
		last.Notes = set("good-curve", "0.5:4700 1.5:4800 2.5:4810", "memory-curve", "0.1:20000000 1.1:40000000 x:y -1:3 4")
	}
	return b
}

func TestHTTPShowsWhatEachServerMakesOfItsCapacity(t *testing.T) {
	var b strings.Builder
	if err := report.Text(&b, overloaded().file, false, 400); err != nil {
		t.Fatal(err)
	}
	wants(t, b.String(),
		"weir.Limit serves 4800 requests a second in time, 96.0 % of the capacity and 99.0 % of what go.1x serves, 99 of 100 of all that it serves within 60.0 ms.",
		"go.1x, which is offered just the capacity, serves 4850 requests a second.",
		"go serves 150 requests a second in time, 3.0 % of the capacity",
		"* 4800 ± 1 %", "* 60.0 ms", "* 40.0 MB", "other answers",
	)
	if strings.Contains(b.String(), "against weir.Limit") {
		t.Errorf("a ratio of answers stands there as one of times:\n%s", b.String())
	}
}

func TestHTTPIsDrawnOverTime(t *testing.T) {
	s := page(t, overloaded().file)
	elements(t, s, func(html.Token) {})
	wants(t, s, "Served in time, a second", "Memory of the server", "LimitNewest", "40 MB")
	if n := strings.Count(s, "<svg"); n != 2 {
		t.Errorf("%d pictures, want 2", n)
	}
	// Without curves there is nothing to draw.
	b := overloaded()
	for k := range b.file.Results {
		b.file.Results[k].Notes = set("good-curve", hostile, "memory-curve", "1:1")
	}
	if s := page(t, b.file); strings.Contains(s, "<svg") {
		t.Error("a picture of nothing")
	}
}

func TestPerformanceHasTheServerUnderOverload(t *testing.T) {
	s := strings.ReplaceAll(report.Performance(overloaded().file), "\u00a0", " ")
	columns(t, s)
	wants(t, s,
		"HTTP server offered five times its capacity: time for each request served within 1 s | 208 µs ± 1 % (weir.Limit) | 6.67 ms ± 1 % | 213 µs ± 1 % (chi) |",
		"the same: p99 of the latency of all served | 60.0 ms ± 1 % (weir.Limit) | 3.00 s ± 1 % | 66.0 ms ± 1 % (chi) | 1.1× faster | 50× faster |",
		"the same: peak memory | 40.0 MB ± 1 % (weir.Limit) | 300 MB ± 1 % |",
	)
}
