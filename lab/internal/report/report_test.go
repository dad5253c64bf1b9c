package report_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
)

func TestMain(m *testing.M) { noleak.Main(m) }

var update = flag.Bool("update", false, "write what the report makes of the cases into testdata: read the difference before you commit it")

// A suite of cases lies in testdata. Each file says what it is about, has results in Go's benchmark format, and then
// what the report must make of them, part by part.
const begin = "\n-- "

// made are the parts that a case may have.
var made = map[string]func(t *testing.T, f record.File) string{
	"text": func(t *testing.T, f record.File) string {
		tables, _, _ := strings.Cut(text(t, f, false, 110), "\n* is the best of a column. ") // what follows is the same in each
		return tables
	},
	"page":        func(t *testing.T, f record.File) string { return visible(t, page(t, f)) },
	"performance": func(_ *testing.T, f record.File) string { return report.Performance(f) },
	"summary":     func(_ *testing.T, f record.File) string { return report.Summary(f) },
	"behaviour":   func(_ *testing.T, f record.File) string { return report.Behaviour(f) },
	"features":    func(_ *testing.T, f record.File) string { return report.Features(f) },
	"queues":      func(_ *testing.T, f record.File) string { return report.Queues(f) },
}

func TestTheReportOfEachCase(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("%v, %v", cases, err)
	}
	for _, path := range cases {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			check.OK(t, err)
			parts := strings.Split(string(content), begin)
			f := results(t, parts[1])
			harmless(t, f)
			for k, part := range parts[2:] {
				name, want, _ := strings.Cut(part, " --\n")
				got := strings.TrimRight(strings.ReplaceAll(made[name](t, f), "\u00a0", " "), "\n") + "\n"
				if k < len(parts)-3 {
					want += "\n"
				}
				if got != want && !*update {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
				}
				parts[k+2] = name + " --\n" + strings.TrimSuffix(got, "\n")
			}
			if *update {
				check.OK(t, os.WriteFile(path, []byte(strings.Join(parts, begin)+"\n"), 0o600))
			}
		})
	}
}

// results reads those of a case. It makes of each as many rounds as the setting "rounds" says, which
// differ by the share "noise".
func results(t *testing.T, part string) record.File {
	t.Helper()
	_, raw, _ := strings.Cut(part, " --\n")
	f, err := record.Read(strings.NewReader(raw), "results")
	check.OK(t, err)
	rounds, err := strconv.Atoi(f.Setting("rounds"))
	check.OK(t, err)
	noise, err := strconv.ParseFloat(f.Setting("noise"), 64)
	check.OK(t, err)
	f.Settings = slices.DeleteFunc(f.Settings, func(s record.Setting) bool { return s.Key == "rounds" || s.Key == "noise" })
	once := f.Results
	f.Results = nil
	for _, r := range once {
		for round := range rounds {
			off := 1 + noise*(float64(round)-float64(rounds-1)/2)/float64(max(1, rounds-1))*2
			values := slices.Clone(r.Values)
			for k := range values {
				values[k].Value *= off
			}
			f.Results = append(f.Results, record.Result{ID: r.ID, N: r.N, Values: values, Notes: r.Notes})
		}
	}
	return f
}

// published are the results from which the tables of the documents are made.
func published(t *testing.T) []record.File {
	t.Helper()
	paths, err := filepath.Glob("../../results/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v, %v", paths, err)
	}
	var files []record.File
	for _, path := range paths {
		f, err := record.ReadFile(path)
		check.OK(t, err)
		files = append(files, f)
	}
	return files
}

func text(t *testing.T, f record.File, color bool, width int) string {
	t.Helper()
	var b strings.Builder
	check.OK(t, report.Text(&b, f, color, width))
	return b.String()
}

func page(t *testing.T, files ...record.File) string {
	t.Helper()
	var b strings.Builder
	check.OK(t, report.HTML(&b, files))
	return b.String()
}

// harmless checks what holds for the report of any results, whatever is in them. It returns how many plots there are.
func harmless(t *testing.T, f record.File) int {
	t.Helper()
	all := visible(t, page(t, f))
	for _, width := range []int{60, 80, 120, 200} {
		s := text(t, f, false, width)
		all += s
		for line := range strings.Lines(s) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("width %d: %d letters in %q", width, n, line)
			}
		}
	}
	for _, table := range []string{report.Performance(f), report.Summary(f), report.Behaviour(f), report.Features(f)} {
		all += table
		cells := 0
		for line := range strings.Lines(table) {
			if !strings.HasPrefix(line, "|") {
				break
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if cells != 0 && n != cells {
				t.Errorf("%d cells, want %d: %s", n, cells, line)
			}
			cells = n
		}
		if strings.Contains(table, "<script") {
			t.Errorf("Markdown:\n%s", table)
		}
	}
	for _, no := range []string{"NaN", "Inf", "%!", "\x1b", "\x00"} {
		if strings.Contains(all, no) {
			t.Errorf("%q in\n%s", no, all)
		}
	}
	return plots(t, f)
}

// plots checks the SVG files of a run, and returns how many there are.
func plots(t *testing.T, f record.File) int {
	t.Helper()
	dir := t.TempDir()
	check.OK(t, report.SVGs(dir, "", f))
	paths, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	check.OK(t, err)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		check.OK(t, err)
		checkSVG(t, filepath.Base(path), string(raw))
	}
	return len(paths)
}

// hasAny reports whether one of the parts stands in s.
func hasAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// checkSVG checks that a file is well-formed, needs nothing from outside, and follows the theme.
func checkSVG(t *testing.T, name, s string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(s)); ; {
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
	weir := strings.Contains(s, "var(--weir)") == strings.Contains(s, ">weir")
	if hasAny(s, "fill:#", "stroke:#") || !strings.Contains(s, "var(--ink)") || !weir || !strings.Contains(s, "prefers-color-scheme:dark") {
		t.Errorf("%s: its colours do not follow the theme", name)
	}
	if hasAny(s, "NaN", "Inf") {
		t.Errorf("%s: a place that is none", name)
	}
}

// visible is the text of a page, a block a line, with the titles of the pictures, and without what stands on every
// page. It checks that what opens is closed, that every link leads somewhere, and that the page needs
// nothing from outside.
func visible(t *testing.T, s string) string {
	t.Helper()
	if strings.Contains(s, "ZgotmplZ") {
		t.Error("the template has refused a value")
	}
	if rest := strings.ReplaceAll(s, "http://www.w3.org/2000/svg", ""); hasAny(rest, "http://", "https://", "url(", "@import") {
		t.Error("the page asks for something from outside")
	}
	ids, links := map[string]int{}, []string{}
	hidden := []string{"head", "header", "nav", "footer", "svg"}
	var open, lines []string
	line := ""
	z := html.NewTokenizer(strings.NewReader(s))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		for _, a := range token.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "href":
				links = append(links, a.Val)
			case a.Key == "src", a.Key == "srcset", strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s=%q", a.Key, a.Val)
			}
		}
		switch kind {
		case html.StartTagToken:
			switch token.Data {
			case "script", "link", "img", "iframe", "object":
				t.Errorf("a %s", token.Data)
			case "meta":
				continue
			case "td", "th":
				line += "| "
			}
			open = append(open, token.Data)
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %v", token.Data, open)
			}
			open = open[:len(open)-1]
			switch token.Data {
			case "h1", "h2", "h3", "h4", "p", "li", "tr", "dt", "dd", "summary", "title":
				if line = strings.TrimRight(line, " "); line != "" {
					lines = append(lines, line)
				}
				line = ""
			}
		case html.TextToken:
			words := strings.Join(strings.Fields(token.Data), " ")
			if words == "" {
				continue
			}
			isHidden := slices.ContainsFunc(open, func(tag string) bool { return slices.Contains(hidden, tag) })
			if open[len(open)-1] == "title" && slices.Contains(open, "svg") {
				line += "picture: " + words
			} else if !isHidden {
				line += words + " "
			}
		}
	}
	if err := z.Err(); !errors.Is(err, io.EOF) || len(open) > 0 {
		t.Fatalf("%v, never closed: %v", err, open)
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
	return strings.Join(lines, "\n") + "\n"
}
