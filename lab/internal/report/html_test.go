package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
)

func page(t *testing.T, files ...record.File) string {
	t.Helper()
	var b strings.Builder
	if err := report.HTML(&b, files); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements walks a page, checks that what opens is closed, and calls visit.
func elements(t *testing.T, s string, visit func(html.Token)) {
	t.Helper()
	void := []string{"meta", "br", "link", "img", "hr"}
	var open []string
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if len(open) > 0 {
				t.Errorf("never closed: %v", open)
			}
			return
		case html.StartTagToken:
			token := z.Token()
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
			visit(token)
		case html.SelfClosingTagToken:
			visit(z.Token())
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func TestHTMLIsWellFormedAndNeedsNothingFromOutside(t *testing.T) {
	s := page(t, complete(), plain(1).file)
	ids := map[string]int{}
	var links []string
	count := map[string]int{}
	elements(t, s, func(e html.Token) {
		count[e.Data]++
		for _, a := range e.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "href":
				links = append(links, a.Val)
			case a.Key == "src", a.Key == "srcset", strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s=%q", a.Key, a.Val)
			}
		}
	})
	for _, no := range []string{"script", "link", "img", "iframe", "object"} {
		if count[no] > 0 {
			t.Errorf("%d %s", count[no], no)
		}
	}
	if count["svg"] < 20 || count["table"] < 20 || count["details"] < 20 {
		t.Errorf("something is missing: %v", count)
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %q stands there %d times", id, n)
		}
	}
	for _, link := range links {
		if ids[strings.TrimPrefix(link, "#")] == 0 {
			t.Errorf("link to %q leads nowhere", link)
		}
	}
	if rest := strings.ReplaceAll(s, "http://www.w3.org/2000/svg", ""); regexp.MustCompile(`https?://|url\(|@import`).MatchString(rest) {
		t.Error("the page asks for something from outside")
	}
	if strings.Contains(s, "ZgotmplZ") {
		t.Error("the template has refused a value")
	}
}

func TestHTMLShowsTheMachineTheSummaryAndTheLosses(t *testing.T) {
	s := page(t, complete())
	for _, want := range []string{
		"Some CPU @ 3.00GHz", "go1.26.8", "github.com/panjf2000/ants/v2 v2.12.1", "go run ./lab -full", "2026-10-01",
		"GOMAXPROCS other than the number of cores",
		"Weir is ahead in", "Where Weir is behind", "<b>1.03× slower</b> reuse/context, GOMAXPROCS 1",
		"23 of 23", "stood still after 1 204 331 tasks",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestHTMLOfNothingAndOfOneTable(t *testing.T) {
	for _, files := range [][]record.File{nil, {{}}, {plain(1).file}} {
		elements(t, page(t, files...), func(html.Token) {})
	}
}

func wants(t *testing.T, s string, list ...string) {
	t.Helper()
	for _, want := range list {
		if !strings.Contains(s, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestHTMLScoresNothingWithTooFewRounds(t *testing.T) {
	b := plain(2)
	b.add(id("dispatch", "burst", "gopool", 2, "tasks", "100"), "ns/op", 5.0)
	s := page(t, b.file)
	wants(t, s, "Time, against the best other library: too few rounds to tell in 1.", "2.0× slower?", "4.0× faster?")
	for _, no := range []string{"Weir is ahead", "is not behind", "Where Weir is behind"} {
		if strings.Contains(s, no) {
			t.Errorf("%q of 2 rounds", no)
		}
	}
}

func TestHTMLSaysInHowManySettingsWeirIsNotBehind(t *testing.T) {
	b := plain(10)
	wants(t, page(t, b.file), "In the one setting compared here, Weir is not behind.", "Not scored: what a task", "percentiles")
	for _, p := range []struct {
		peer string
		ns   float64
	}{{"weir.Pool", 10}, {"ants", 20}} {
		b.add(id("dispatch", "burst", p.peer, 1, "tasks", "100"), "ns/op", p.ns)
	}
	wants(t, page(t, b.file), "In none of the 2 settings compared here is Weir behind.")
}

// A library that wins on time with one form and on memory with another wins on neither.
func TestHTMLScoresOneFormOfWeirOnTimeAndMemory(t *testing.T) {
	b := newBench()
	for _, p := range []struct {
		peer       string
		ns, memory float64
	}{{"weir.Pool", 1e9, 9e6}, {"weir.Group", 2e9, 1e6}, {"conc", 3e9, 3e6}} {
		b.add(id("seeds", "sleep", p.peer, 2, "tasks", "1"), "ns/op", p.ns, "peak-B", p.memory)
	}
	wants(t, page(t, b.file),
		"Time, against the best other library: Weir is ahead in 1 of 1 settings.",
		"Peak memory, against the best other library: Weir is ahead in 0 of 1 settings, behind in 1.",
		"<b>3.0× more</b> seeds/sleep",
	)
}

func TestHTMLNamesFailedFormsOfWeir(t *testing.T) {
	b := plain(10)
	b.file.Results = append(b.file.Results, record.Failed(id("dispatch", "burst", "weir.Group", 2, "tasks", "100"), "no end after 20s"))
	s := page(t, b.file)
	wants(t, s, "Where a form of Weir failed", "<b>weir.Group</b> dispatch/burst", "no end after 20s", "is not behind")

	// Without any figure of Weir, its rivals are ahead.
	b.add(id("dispatch", "group", "ants", 2), "ns/op", 20.0)
	b.file.Results = append(b.file.Results, record.Failed(id("dispatch", "group", "weir.Group", 2), "killed"))
	s = page(t, b.file)
	wants(t, s, "ahead in 1 of 2 settings, behind in 1.", "<b>failed</b> dispatch/group")
	if strings.Contains(s, "is not behind") {
		t.Error("a failure is no loss")
	}
}

func TestHTMLSaysWhyThereIsNoVerdict(t *testing.T) {
	wants(t, page(t, unmeasured().file), "no end after 20s", "it was killed", "1 failed")
}

func TestHTMLSaysWhoIsMissing(t *testing.T) {
	wants(t, page(t), "rill, tunny, varmq and golang-queue", "are not measured", "five published texts about goroutine pools")
}

const hostile = `<script>alert("x")</script>&"'` + "\x1b[2J\x00\n`|"

func hostileFile() record.File {
	b := newBench()
	b.file.Settings = append(b.file.Settings, set("cpu", hostile, hostile, hostile)...)
	for _, peer := range []string{"weir." + hostile, hostile, "go"} {
		for _, e := range []string{"sleep", hostile} {
			b.add(id("seeds", e, peer, 2, hostile, hostile, "tasks", "1"), "ns/op", 5.0, hostile, 3.0, "peak-B", 7.0+float64(len(peer)))
		}
		b.note(id("behaviour", hostile, peer, 2), hostile, hostile, hostile)
		for _, roots := range []string{"1", "2", hostile} {
			for _, tasks := range []string{"1", "2", "3"} {
				b.add(id("cost", "curve", "inplace", 2, "roots", roots, "tasks", tasks), "ns/op", 5.0)
				b.add(id("cost", "curve", peer, 2, "roots", roots, "tasks", tasks), "ns/op", 6.0)
			}
		}
	}
	return b.file
}

func TestHostileNamesAreHarmless(t *testing.T) {
	f := hostileFile()
	scripts := 0
	s := page(t, f)
	elements(t, s, func(e html.Token) {
		if e.Data == "script" {
			scripts++
		}
	})
	if scripts > 0 {
		t.Errorf("%d scripts", scripts)
	}
	plain := text(t, f, false, 100)
	markdown := report.Behaviour(f)
	if strings.ContainsAny(s+plain+markdown, "\x1b\x00") {
		t.Error("control characters come through")
	}
	if strings.Contains(markdown, "<script") {
		t.Errorf("Markdown:\n%s", markdown)
	}
	columns(t, markdown)
}

func TestSVGsAreWellFormedAndFollowTheTheme(t *testing.T) {
	for name, f := range map[string]record.File{"complete": complete(), "hostile": hostileFile(), "one table": plain(1).file} {
		dir := t.TempDir()
		if err := report.SVGs(dir, "", f); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Errorf("%s: no plots", name)
		}
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkSVG(t, filepath.Base(path), string(raw))
		}
	}
}

func TestSVGsOfSeveralRunsLieSideBySide(t *testing.T) {
	dir := t.TempDir()
	for _, prefix := range []string{"", "run1", "../Run 2"} {
		if err := report.SVGs(dir, prefix, plain(10).file); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	const name = "dispatch-burst-tasks-100-gomaxprocs-2.svg"
	if want := []string{name, "run-2-" + name, "run1-" + name}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

var fixedColor = regexp.MustCompile(`(fill|stroke):#`)

func checkSVG(t *testing.T, name, s string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "image") {
			t.Errorf("%s: %s", name, e.Name.Local)
		}
	}
	if rest := strings.ReplaceAll(s, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, "http") {
		t.Errorf("%s asks for something from outside", name)
	}
	if fixedColor.MatchString(s) || !strings.Contains(s, "var(--weir)") || !strings.Contains(s, "prefers-color-scheme:dark") {
		t.Errorf("%s: its colours do not follow the theme", name)
	}
	if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Errorf("%s: a place that is none", name)
	}
}
