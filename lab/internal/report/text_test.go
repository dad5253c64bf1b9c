package report_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
)

func text(t *testing.T, f record.File, color bool, width int) string {
	t.Helper()
	var b strings.Builder
	if err := report.Text(&b, f, color, width); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), "\u00a0", " ")
}

// lineOf returns the first line that begins with the peer's name.
func lineOf(t *testing.T, s, peer string) string {
	t.Helper()
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, peer+" ") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("no line of %s in\n%s", peer, s)
	return ""
}

// plain is three peers whose ratios are easy to know.
func plain(rounds int) *bench {
	b := newBench()
	b.rounds, b.noise = rounds, 0
	for _, p := range []struct {
		peer       string
		ns, allocs float64
	}{{"weir.Pool", 10, 0}, {"go", 40, 1}, {"ants", 20, 0}, {"pond", 30, 2}, {"inplace", 1, 0}} {
		b.add(id("dispatch", "burst", p.peer, 2, "tasks", "100"), "ns/op", p.ns, "allocs/op", p.allocs)
	}
	return b
}

func TestTextComparesEachPeerWithGoAndWithWeir(t *testing.T) {
	s := text(t, plain(10).file, false, 120)
	for peer, want := range map[string]string{
		"weir.Pool": "* 10.0 ns ± 0 %  4.0× faster * 0",
		"go":        "40.0 ns ± 0 % 4.0× slower 1",
		"ants":      "20.0 ns ± 0 %  2.0× faster 2.0× slower * 0",
		"pond":      "30.0 ns ± 0 %  1.3× faster 3.0× slower 2",
		"inplace":   "1.00 ns ± 0 %   40× faster 10× faster 0",
	} {
		got := strings.Join(strings.Fields(lineOf(t, s, peer)), " ")
		if want = peer + " " + strings.Join(strings.Fields(want), " "); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if want := "time: weir.Pool is 2.0× faster than ants, the best other library; 4.0× faster than go."; !strings.Contains(s, want) {
		t.Errorf("no %q in\n%s", want, s)
	}
}

func TestTextSaysWhenWeirLoses(t *testing.T) {
	b := plain(10)
	b.add(id("dispatch", "burst", "gopool", 2, "tasks", "100"), "ns/op", 5.0, "allocs/op", 0.0)
	s := text(t, b.file, false, 120)
	if want := "weir.Pool is 2.0× slower than gopool, the best other library"; !strings.Contains(s, want) {
		t.Errorf("no %q in\n%s", want, s)
	}
	if line := lineOf(t, s, "gopool"); !strings.Contains(line, "* 5.00 ns") {
		t.Errorf("the best is not marked: %q", line)
	}
	if line := lineOf(t, s, "weir.Pool"); strings.Contains(line, "* 10.0 ns") {
		t.Errorf("what is not the best is marked: %q", line)
	}
}

func TestTextMakesTheBestBold(t *testing.T) {
	s := text(t, plain(10).file, true, 120)
	bold := regexp.MustCompile("\x1b\\[1m(10.0 ns)\x1b\\[0m")
	if !bold.MatchString(s) {
		t.Errorf("the best is not bold:\n%q", s)
	}
	if strings.Contains(s, "\x1b[1m1.00 ns") || strings.Contains(s, "\x1b[1m20.0 ns") {
		t.Errorf("another is bold:\n%q", s)
	}
	if strings.Contains(text(t, plain(10).file, false, 120), "\x1b") {
		t.Error("codes without color")
	}
}

func TestTextWhatTheTestDoesNotTellApartIsEqual(t *testing.T) {
	b := newBench()
	b.noise = 0.2
	b.add(id("dispatch", "burst", "weir.Pool", 2), "ns/op", 100.0)
	b.add(id("dispatch", "burst", "go", 2), "ns/op", 110.0)
	if line := lineOf(t, text(t, b.file, false, 120), "weir.Pool"); !strings.Contains(line, "about equal") {
		t.Errorf("got %q", line)
	}
}

// The intervals of these overlap, and yet nearly all rounds of one are slower.
func TestTextOverlappingIntervalsHideNoLoss(t *testing.T) {
	b := newBench()
	b.noise = 0.2
	b.add(id("dispatch", "burst", "weir.Pool", 2), "ns/op", 130.0)
	b.add(id("dispatch", "burst", "go", 2), "ns/op", 105.0)
	if line := lineOf(t, text(t, b.file, false, 120), "weir.Pool"); !strings.Contains(line, "1.2× slower") || strings.Contains(line, "?") {
		t.Errorf("got %q", line)
	}
}

func TestTextOfOneRoundHasNoInterval(t *testing.T) {
	s := text(t, plain(1).file, false, 120)
	if line := lineOf(t, s, "ants"); !strings.Contains(line, "20.0 ns ± ?") || !strings.Contains(line, "2.0× slower?") {
		t.Errorf("got %q", line)
	}
	if want := "2.0× faster than ants (too few rounds to be sure), the best other library"; !strings.Contains(strings.Join(strings.Fields(s), " "), want) {
		t.Errorf("no %q in\n%s", want, s)
	}
}

func TestTextWithoutGoOrWeirComparesWithoutThem(t *testing.T) {
	b := newBench()
	b.add(id("reuse", "buffer", "bytebufferpool", 1), "ns/op", 100.0)
	b.add(id("reuse", "buffer", "sync.Pool", 1), "ns/op", 50.0)
	s := text(t, b.file, false, 120)
	if table, _, _ := strings.Cut(s, "* is the best"); strings.Contains(table, "faster") || strings.Contains(table, "slower") {
		t.Errorf("compared, although there is neither Weir nor go\n%s", s)
	}
	if line := lineOf(t, s, "sync.Pool"); !strings.Contains(line, "* 50.0 ns") {
		t.Errorf("got %q", line)
	}
}

// What is made anew is no library: it has a row of its own, as a go statement has for tasks.
func TestTextComparesReuseWithObjectsMadeAnew(t *testing.T) {
	b := newBench()
	for k, peer := range []string{"weir.reuse.Pool", "new", "sync.Pool"} {
		b.add(id("reuse", "buffer", peer, 1), "ns/op", []float64{100, 50, 200}[k])
	}
	s := strings.Join(strings.Fields(text(t, b.file, false, 120)), " ")
	for _, want := range []string{
		"against new against weir.reuse.Pool",
		"time: weir.reuse.Pool is 2.0× faster than sync.Pool, the best other library; 2.0× slower than new.",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

func TestNothingBreaksOnFiguresThatAreNone(t *testing.T) {
	b := newBench()
	b.noise = 0
	for k, v := range []float64{0, math.NaN(), math.Inf(1), -1, 5} {
		peer := []string{"weir.Pool", "go", "ants", "pond", "conc"}[k]
		for _, e := range []string{"sleep", "throughput"} {
			b.add(id("seeds", e, peer, 2, "tasks", "1000000", "limit", "50000"), "ns/op", v, "B/op", v, "peak-B", v)
		}
		b.add(id("cost", "curve", peer, 2, "roots", "1", "tasks", "1000"), "ns/op", v)
		b.add(id("cost", "curve", peer, 2, "roots", "x", "tasks", ""), "ns/op", v)
		b.add(id("dispatch", "empty", peer, 2, "limit", "64", "producers", "1"), "ns/op", v)
	}
	b.add(id("cost", "curve", "inplace", 2, "roots", "1", "tasks", "1000"), "ns/op", 0.0)
	b.file.Results = append(b.file.Results,
		record.Failed(id("dispatch", "loop", "ants", 2, "items", "1000000"), "no end after 20s"),
		record.Result{ID: id("dispatch", "lone", "weir.Pool", 2)})
	s := text(t, b.file, false, 100) + report.Performance(b.file) + page(t, b.file)
	for _, no := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(s, no) {
			t.Errorf("%s in\n%s", no, s)
		}
	}
	if err := report.SVGs(t.TempDir(), "", b.file); err != nil {
		t.Error(err)
	}
	if want := "no end after 20s"; !strings.Contains(s, want) {
		t.Errorf("what failed is not said")
	}
}

func TestTextFitsTheWidth(t *testing.T) {
	for _, width := range []int{60, 80, 120, 200} {
		for line := range strings.Lines(text(t, complete(), false, width)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("width %d: %d letters in %q", width, n, line)
			}
		}
	}
}

func TestTextFoldsAndShowsVerdicts(t *testing.T) {
	s := text(t, complete(), false, 160)
	if n := strings.Count(s, "dispatch/empty  producers 1"); n == 0 || n > 4 {
		t.Errorf("12 settings of one producer make %d tables", n)
	}
	for _, want := range []string{
		"best Weir against the best other", "behaviour\n", "crashes", "document 003, laptop", "From what task length does it pay?",
		"survey/feature",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(s, "Time of one task, by number of tasks") {
		t.Error("the figures behind the curves flood the terminal")
	}
}

func TestTextSaysFromWhatLengthItPays(t *testing.T) {
	b := newBench()
	b.noise = 0
	for _, p := range []struct {
		peer  string
		short float64 // ns, against 100 in place
		long  float64 // ns, against 400 in place
	}{{"inplace", 100, 400}, {"weir.Pool", 200, 200}, {"go", 50, 100}, {"ants", 400, 800}} {
		b.add(id("cost", "curve", p.peer, 2, "roots", "20", "tasks", "1000"), "ns/op", 7*p.short) // few tasks do not count
		b.add(id("cost", "curve", p.peer, 2, "roots", "20", "tasks", "9000"), "ns/op", p.short)
		b.add(id("cost", "curve", p.peer, 2, "roots", "80", "tasks", "9000"), "ns/op", p.long)
	}
	s := text(t, b.file, false, 120)
	for peer, want := range map[string]string{
		"weir.Pool": "200 ns", // half way between 100 and 400, as logarithms go
		"go":        "* at once from 100 ns",
		"ants":      "not up to 400 ns 2.0× there",
	} {
		if got := lineOf(t, s, peer); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTextSaysWhyThereIsNoVerdict(t *testing.T) {
	s := text(t, unmeasured().file, false, 120)
	for _, want := range []string{"ants failed: no end after 20s", "reuse failed: it was killed"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

func TestTextOfNothing(t *testing.T) {
	if s := text(t, record.File{}, false, 80); !strings.Contains(s, "Nothing was measured") {
		t.Errorf("got %q", s)
	}
}
