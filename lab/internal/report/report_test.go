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
var made = map[string]func(f record.File) string{
	"standing": func(f record.File) string { // without the table of goals, which is that of performance
		return strings.Replace(chapters(f)[1], report.Performance(f)[:max(0, strings.Index(report.Performance(f), "\n\n"))], "", 1)
	},
	// The chapters of suites, without what stands in all reports of a suite.
	"report": func(f record.File) string {
		text := ""
		for _, chapter := range chapters(f)[2:] {
			if _, body, ok := strings.Cut(chapter, "\n### "); ok {
				text += "### " + body
			} else if _, body, ok := strings.Cut(chapter, "library that has the feature.\n\n"); ok {
				text += body
			}
		}
		return text
	},
	"facts": func(f record.File) string { // the title, and what is known of the run
		all := chapters(f)
		return all[0] + "\n" + all[len(all)-2]
	},
	"performance": report.Performance,
	"summary":     report.Summary,
	"behaviour":   report.Behaviour,
	"features":    report.Features,
	"queues":      report.Queues,
}

// chapters are the parts of a report: its title, the summary, the suites, and what stands at the end.
func chapters(f record.File) []string {
	return strings.Split(report.New(f, "").Markdown, "\n## ")
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
				got := strings.TrimRight(strings.ReplaceAll(made[name](f), "\u00a0", " "), "\n") + "\n"
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

// harmless checks what holds for the report of any results, whatever is in them. It returns how many plots there are.
func harmless(t *testing.T, f record.File) int {
	t.Helper()
	dir := t.TempDir()
	r := report.New(f, "")
	check.OK(t, report.Write(dir, []report.Report{r}))
	texts := []string{r.Markdown, report.Performance(f), report.Summary(f), report.Behaviour(f), report.Features(f)}
	for _, text := range texts {
		cells := 0
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "|") {
				cells = 0
				continue
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if cells != 0 && n != cells {
				t.Errorf("%d cells, want %d: %s", n, cells, line)
			}
			cells = n
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	check.OK(t, err)
	checkPage(t, string(page))
	plots, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	check.OK(t, err)
	check.Equal(t, "pictures on the page", strings.Count(string(page), `<img src="data:`), len(plots))
	for _, path := range plots {
		raw, err := os.ReadFile(path)
		check.OK(t, err)
		checkSVG(t, filepath.Base(path), string(raw))
		texts = append(texts, string(raw))
	}
	for _, text := range texts {
		if hasAny(text, "NaN", "Inf", "%!", "\x1b", "\x00", "<script") {
			t.Errorf("it has what no report has:\n%s", text)
		}
	}
	return len(plots)
}

// hasAny reports whether one of the parts stands in s.
func hasAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// checkSVG checks that a file is well-formed, and needs nothing from outside.
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
	if strings.Contains(strings.ReplaceAll(s, "http://www.w3.org/", ""), "://") {
		t.Errorf("%s asks for something from outside", name)
	}
}

// checkPage checks that every link of a page leads somewhere, that all pictures are in it, and that it has only the elements
// that a document in Markdown is made of.
func checkPage(t *testing.T, s string) {
	t.Helper()
	ids, links := map[string]int{}, []string{}
	z := html.NewTokenizer(strings.NewReader(s))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		if !slices.Contains(strings.Fields("html meta title style main nav a h1 h2 h3 p ul li table thead tbody tr th td code img strong em"), token.Data) {
			t.Errorf("an element %q", token.Data)
		}
		for _, a := range token.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "href":
				links = append(links, strings.TrimPrefix(a.Val, "#"))
			case a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/svg+xml;base64,"), strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s=%q", a.Key, a.Val)
			}
		}
	}
	for id, n := range ids {
		check.Equal(t, "places with the name "+id, n, 1)
	}
	for _, link := range links {
		check.Equal(t, "places to which a link leads: "+link, ids[link], 1)
	}
}
