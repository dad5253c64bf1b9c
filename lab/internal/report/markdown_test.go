package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
)

// columns checks that all lines of a table have as many cells as its head.
func columns(t *testing.T, table string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		n := strings.Count(line, "|") - strings.Count(line, `\|`)
		if cells == 0 {
			cells = n
		}
		if n != cells {
			t.Errorf("%d cells, want %d: %s", n, cells, line)
		}
	}
	if cells == 0 {
		t.Errorf("no table:\n%s", table)
	}
}

func TestPerformanceHasARowForEachClaimThatWasMeasured(t *testing.T) {
	s := strings.ReplaceAll(report.Performance(complete()), "\u00a0", " ")
	columns(t, s)
	for _, want := range []string{
		"empty task, one producer, limit 64 |", "producers on all cores", "limit 2 |", "limit 50 000 |", "GOMAXPROCS 1 |", "GOMAXPROCS 8 |",
		"task of a group", "10⁶ tasks that sleep 10 ms", "peak memory |", "loop over 10⁶", "the same with Each: context and error | 2.40 ms ± 1 % (weir.Each)",
		"takes 99 % of the time (go: split by hand) | 7.00 ms", "ordered stream | 60.0 ns", "in the order of the tasks, limit 64 | 100 ns",
		"else as the library does (in place: 820 ms) | 420 ms ± 1 % (weir.Group)", "the same with par.Sort | 520 ms ± 1 % (weir.Sort)",
		"Fibonacci number 27 by recursion, two tasks for each number | 602 ms ± 1 % (weir.Group) | 302 ms",
		"fork and join of 10 short tasks (150 square roots each) (in place: 7.40 µs)",
		"lone task", "a pool made and closed unused", "a pool that waits",
		"to work in (go: made anew) | 49.5 ns ± 1 % (weir.reuse.Pool) | 142 ns ± 1 % | 48.0 ns ± 1 % (sync.Pool) | 1.03× slower | 2.9× faster |",
		"1 % above 64 KB (go: made anew) | 1.50 µs ± 1 % (weir.reuse.Buffers) | 13.0 µs ± 1 % | 600 ns ± 1 % (sync.Pool) | 2.5× slower | 8.7× faster |",
		"the same: heap in use | 33.0 MB ± 1 % (weir.reuse.Buffers) | 8.00 MB ± 1 % | 99.0 MB ± 1 % (sync.Pool) | 3.0× less | 4.1× more |",
		"got and put back | 53.0 ns ± 1 % (weir.reuse.Keeper) | – | 116 ns ± 1 % (puddle) | 2.2× faster | – |", "8 of them for 64 goroutines | 53.0 ns",
		"Some CPU @ 3.00GHz, 2 cores, go1.26.8", "pond v2.7.1", "rounds: 10", "2026-10-01", "raw results: 2026-10-01.txt",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if !strings.Contains(s, "1.02× slower |") {
		t.Errorf("a row that Weir loses is not there:\n%s", s)
	}
}

func TestPerformanceTakesFiguresFromTheRightTable(t *testing.T) {
	b := newBench()
	b.noise = 0
	// Most was measured at GOMAXPROCS 2: that is what a row is about that says no other.
	b.add(id("dispatch", "burst", "ants", 2), "ns/op", 1.0)
	for _, peer := range []string{"weir.Pool", "ants"} {
		b.add(id("dispatch", "empty", peer, 1, "limit", "64", "producers", "1"), "ns/op", 7.0)
	}
	for _, limit := range []string{"2", "64"} {
		for k, peer := range []string{"weir.Pool", "weir.Group", "go", "ants", "pond", "inplace"} {
			ns := float64(10 * (k + 1) * len(limit))
			b.add(id("dispatch", "empty", peer, 2, "limit", limit, "producers", "1"), "ns/op", ns)
		}
	}
	s := report.Performance(b.file)
	for _, want := range []string{
		"| empty task, one producer, limit 64 | 20.0 ns ± 0 % (weir.Pool) | 60.0 ns ± 0 % | 80.0 ns ± 0 % (ants) | 4.0× faster | 3.0× faster |",
		"| empty task, limit 2 | 10.0 ns ± 0 % (weir.Pool) | 30.0 ns ± 0 % | 40.0 ns ± 0 % (ants) | 4.0× faster | 3.0× faster |",
		"| empty task, limit 64, GOMAXPROCS 1 | 7.00 ns ± 0 % (weir.Pool) | – | 7.00 ns ± 0 % (ants) | about equal | – |",
	} {
		if !strings.Contains(strings.ReplaceAll(s, "\u00a0", " "), want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if n := strings.Count(s, "\n|"); n != 4 {
		t.Errorf("%d lines below the head, want the rule and 3 rows:\n%s", n, s)
	}
}

// FuncPool must not stand for the type that most programs will use.
func TestPoolHasARowOfItsOwnWhereAnotherFormIsFaster(t *testing.T) {
	b := newBench()
	b.noise = 0
	for k, peer := range []string{"weir.FuncPool", "weir.Pool", "go", "ants"} {
		b.add(id("dispatch", "empty", peer, 2, "limit", "64", "producers", "1"), "ns/op", float64(10*(k+1)))
	}
	s := strings.ReplaceAll(report.Performance(b.file), "\u00a0", " ")
	const want = "| the same with Pool, for tasks of any kind | 20.0 ns ± 0 % (weir.Pool) | 30.0 ns ± 0 % | 40.0 ns ± 0 % (ants) | 2.0× faster | 1.5× faster |"
	if !strings.Contains(s, want) {
		t.Errorf("no %q in\n%s", want, s)
	}
}

// A library that wins on time with one form and on memory with another wins on neither.
func TestPerformanceIsAboutOneFormOfWeirOnTimeAndMemory(t *testing.T) {
	b := newBench()
	params := []string{"tasks", "1000000", "limit", "50000"}
	b.add(id("seeds", "sleep", "weir.Pool", 2, params...), "ns/op", 1e9, "B/op", 9e6, "peak-B", 9e6)
	b.add(id("seeds", "sleep", "weir.Group", 2, params...), "ns/op", 2e9, "B/op", 1e6, "peak-B", 1e6)
	b.add(id("seeds", "sleep", "conc", 2, params...), "ns/op", 3e9, "B/op", 3e6, "peak-B", 3e6)
	s := report.Performance(b.file)
	if strings.Contains(s, "weir.Group") || strings.Count(s, "3.0× more") != 2 {
		t.Errorf("got\n%s", s)
	}
}

func TestPerformanceMarksWhatIsNotSure(t *testing.T) {
	for rounds, want := range map[int]bool{2: true, 10: false} {
		b := newBench()
		b.rounds = rounds
		b.add(id("dispatch", "newclose", "weir.Pool", 2), "ns/op", 10.0)
		b.add(id("dispatch", "newclose", "go", 2), "ns/op", 20.0)
		s := report.Performance(b.file)
		if strings.Contains(s, "2.0× faster? |") != want || strings.Contains(s, "A question mark") != want {
			t.Errorf("%d rounds:\n%s", rounds, s)
		}
	}
}

func TestPerformanceWithoutFiguresIsEmpty(t *testing.T) {
	b := newBench()
	b.add(id("dispatch", "empty", "ants", 2, "limit", "64", "producers", "1"), "ns/op", 1.0)
	for _, f := range []record.File{{}, b.file} {
		if s := report.Performance(f); s != "" {
			t.Errorf("got\n%s", s)
		}
		if s := report.Behaviour(f); s != "" {
			t.Errorf("got\n%s", s)
		}
	}
}

func TestSummaryHasTheFewRowsThatStandForTheOthers(t *testing.T) {
	s := strings.ReplaceAll(report.Summary(complete()), "\u00a0", " ")
	columns(t, s)
	if n := strings.Count(s, "\n| "); n < 5 || n > 8 {
		t.Errorf("%d rows in\n%s", n, s)
	}
	for _, want := range []string{"| empty task, limit 64 | ", "| the same: peak memory | ", "| a pool made and closed unused | "} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if strings.Contains(s, "±") {
		t.Errorf("intervals in\n%s", s)
	}
}

func TestFeaturesHasARowForEachLibrary(t *testing.T) {
	s := report.Features(complete())
	columns(t, s)
	if !strings.HasPrefix(s, "| library | reuse | context | wait | errors | resize |\n") || !strings.Contains(s, "\n| weir | ✓ | ✓ | ✓ | ✓ | ✓ |\n") {
		t.Errorf("got\n%s", s)
	}
	if !strings.Contains(s, " ✗ |") || strings.Contains(s, "fails") {
		t.Errorf("what a library has not is no cross in\n%s", s)
	}
}

func TestBehaviourHasARowForEachScenario(t *testing.T) {
	s := report.Behaviour(complete())
	columns(t, s)
	if n := strings.Count(s, "\n| "); n != 23 {
		t.Errorf("%d rows", n)
	}
	if want := "| 02 shrink from 4 idle workers to 1, then submit 4 | ✓ | ✓ | – | ✗ fails | ✗ hangs | – | ✗ crashes |"; !strings.Contains(s, want) {
		t.Errorf("no %q in\n%s", want, s)
	}
}

func TestBehaviourWithAMissingLibrary(t *testing.T) {
	b := newBench()
	b.note(id("behaviour", "01", "weir", 2), "pass", "one", "")
	b.note(id("behaviour", "02", "weir", 2), "pass", "two", "")
	b.note(id("behaviour", "02", "ants", 2), "hangs", "two", "stood still")
	s := report.Behaviour(b.file)
	columns(t, s)
	if !strings.Contains(s, "| 01 one | ✓ |  |") || !strings.Contains(s, "| 02 two | ✓ | ✗ hangs |") {
		t.Errorf("got\n%s", s)
	}
}

func TestBehaviourSaysWhatWasNotMeasured(t *testing.T) {
	s := report.Behaviour(unmeasured().file)
	columns(t, s)
	for _, want := range []string{"| 01 one | ✓ | ✗ failed |", "Not measured: ants in 01 one: no end after 20s."} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

const readme = "# Weir\n\n<!-- lab:performance -->\nold\n<!-- /lab:performance -->\n\nrest\n"

func TestInsertReplacesAndIsIdempotent(t *testing.T) {
	want := "# Weir\n\n<!-- lab:performance -->\n| a |\n<!-- /lab:performance -->\n\nrest\n"
	once, err := report.Insert([]byte(readme), "performance", "| a |\n")
	if err != nil {
		t.Fatal(err)
	}
	if string(once) != want {
		t.Errorf("got %q", once)
	}
	again, err := report.Insert(once, "performance", "| a |\n")
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != want {
		t.Errorf("the second time: %q", again)
	}
	full := report.Performance(complete())
	if once, err = report.Insert([]byte(readme), "performance", full); err != nil {
		t.Fatal(err)
	}
	if again, err = report.Insert(once, "performance", full); err != nil || string(again) != string(once) {
		t.Errorf("not idempotent: %v", err)
	}
}

func TestInsertRefusesMissingOrDoubledMarkers(t *testing.T) {
	for _, c := range []struct {
		readme, name, text string
		want               error
	}{
		{readme, "behaviour", "", report.ErrNoMarker},
		{"<!-- lab:x -->", "x", "", report.ErrNoMarker},
		{"<!-- /lab:x -->", "x", "", report.ErrNoMarker},
		{"<!-- /lab:x --> <!-- lab:x -->", "x", "", report.ErrNoMarker},
		{readme + readme, "performance", "", report.ErrDoubleMarker},
		{readme + "<!-- /lab:performance -->", "performance", "", report.ErrDoubleMarker},
		{readme, "performance", "<!-- lab:performance -->", report.ErrDoubleMarker},
	} {
		if got, err := report.Insert([]byte(c.readme), c.name, c.text); !errors.Is(err, c.want) {
			t.Errorf("%q: got %q, %v", c.readme, got, err)
		}
	}
}
