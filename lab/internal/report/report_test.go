package report_test

import (
	"cmp"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	"plots":       plots,
}

// plots returns the words of each plot of the page, which must be well-formed.
func plots(f record.File) (text string) {
	page, err := report.Page(f)
	inside := false
	for d := xml.NewDecoder(strings.NewReader(page)); ; {
		token, failed := d.Token()
		if err = cmp.Or(err, failed); errors.Is(err, io.EOF) {
			return text
		}
		switch token := token.(type) {
		case nil:
			return fmt.Sprint("no page: ", err)
		case xml.StartElement:
			inside = inside || token.Name.Local == "figure"
		case xml.EndElement:
			if token.Name.Local == "figure" {
				inside = false
				text += "\n"
			}
		case xml.CharData:
			if words := strings.TrimSpace(string(token)); inside && words != "" {
				text += "[" + words + "]"
			}
		}
	}
}

// chapters are the parts of a report: its title, the summary, the suites, and what stands at the end.
func chapters(f record.File) []string {
	return strings.Split(report.New(f), "\n## ")
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

// harmless checks what holds for the report of any results, whatever is in them.
func harmless(t *testing.T, f record.File) {
	t.Helper()
	page, err := report.Page(f)
	check.OK(t, err)
	if text := plots(f); strings.HasPrefix(text, "no page: ") {
		t.Error(text)
	}
	for _, text := range []string{page, report.New(f), report.Performance(f), report.Summary(f), report.Behaviour(f), report.Features(f)} {
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
		for _, part := range []string{"NaN", "Inf", "%!", "\x1b", "\x00", "<script", "src="} {
			if strings.Contains(text, part) {
				t.Errorf("there is %q in\n%s", part, text)
			}
		}
	}
}
