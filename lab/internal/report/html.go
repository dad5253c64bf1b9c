package report

import (
	_ "embed" // the page and its style
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
)

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	pageCSS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"class": cellClass,
}).Parse(pageText))

// HTML writes one page with all that was measured in some runs. The page needs
// nothing from outside, and no script. Each run is shown by itself: figures of
// different runs are never compared.
func HTML(w io.Writer, files []record.File) error {
	data := pageData{Style: template.CSS(themeCSS(":root") + pageCSS), Legend: legend}
	for k, f := range files {
		run, err := newRun(f, k)
		if err != nil {
			return err
		}
		data.Runs = append(data.Runs, run)
	}
	return page.Execute(w, data)
}

// SVGs writes the plots of a run into a folder that exists, one file each. Their
// names begin with the prefix, which keeps those of several runs apart.
func SVGs(dir, prefix string, file record.File) error {
	list, err := illustrated(record.Tables(file.Results))
	if err != nil {
		return err
	}
	for _, c := range list {
		for _, p := range c.Pictures {
			if err := os.WriteFile(filepath.Join(dir, fileName(prefix, p.Name)+".svg"), []byte(p.standalone()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

type pageData struct {
	Style  template.CSS
	Legend string
	Runs   []pageRun
}

// A pageRun is what the page shows of one file.
type pageRun struct {
	ID        string
	Title     string
	Facts     []fact
	LeftOut   string
	Part      string // how much was done of a run that was interrupted
	Rounds    string
	Scores    []scoreLine
	Losses    []outcome
	Settings  int
	Failures  []failure
	Standings []standing
	Tallies   []tallyLine
	Chapters  []pageChapter
}

type scoreLine struct{ Text, Class string }

type tallyLine struct {
	Library       string
	Passed, Total int
	Others        string
}

type pageChapter struct {
	ID, Title, About string
	Pictures         []pagePicture
	Sections         []pageSection
}

type pagePicture struct {
	Title string
	SVG   template.HTML
}

// A pageSection is the grids of one experiment.
type pageSection struct {
	Name, Title, About string
	Grids              []pageGrid
}

type pageGrid struct {
	grid
	Groups  []pageGroup // above the columns
	Reasons []pageReason
}

type pageGroup struct {
	Name string
	Span int
}

// A pageReason is all details of one row.
type pageReason struct {
	Row     string
	Short   string
	Details []detail
}

func newRun(file record.File, k int) (pageRun, error) {
	tables := record.Tables(file.Results)
	list, err := illustrated(tables)
	if err != nil {
		return pageRun{}, err
	}
	run := pageRun{
		ID: fmt.Sprintf("run%d", k+1), LeftOut: clean(file.Setting(leftOutKey)), Part: clean(file.Setting(InterruptedKey)), Rounds: rounds(tables), Standings: standings(tables),
	}
	run.Title = join([]string{clean(file.Setting("cpu")), clean(file.Setting("go-version")), clean(file.Setting("date"))}, " · ")
	for _, f := range facts(file.Settings) {
		if f.Title != "Left out" {
			run.Facts = append(run.Facts, f)
		}
	}
	sum := summarize(tables)
	run.Losses, run.Settings, run.Failures = sum.Losses, sum.Settings, sum.Failures
	for _, s := range sum.Scores {
		run.Scores = append(run.Scores, s.line())
	}
	for _, t := range tallies(tables) {
		run.Tallies = append(run.Tallies, t.line())
	}
	for i, c := range list {
		run.Chapters = append(run.Chapters, newPageChapter(c, fmt.Sprintf("%s-%d", run.ID, i+1)))
	}
	return run, nil
}

// line is a score as a sentence.
func (s score) line() scoreLine {
	var parts []string
	if all := s.Ahead + s.Equal + s.Behind; all > 0 {
		parts = append(parts, fmt.Sprintf("Weir is ahead in %d of %d settings", s.Ahead, all))
	}
	if s.Equal > 0 {
		parts = append(parts, fmt.Sprintf("about equal in %d", s.Equal))
	}
	line := scoreLine{}
	switch {
	case s.Behind > 0:
		parts = append(parts, fmt.Sprintf("behind in %d", s.Behind))
		line.Class = "behind"
	case s.Ahead+s.Equal > 0:
		line.Class = "ahead"
	}
	if s.Open > 0 {
		parts = append(parts, fmt.Sprintf("too few rounds to tell in %d", s.Open))
	}
	text := fmt.Sprintf("%s, against %s: %s.", s.What, s.Against, strings.Join(parts, ", "))
	line.Text = strings.ToUpper(text[:1]) + text[1:]
	return line
}

func (t tally) line() tallyLine {
	line := tallyLine{Library: t.Library, Passed: t.Counts[pass], Total: t.Total}
	var others []string
	for _, v := range []verdict{fails, hangs, crashes, unmeasured, notOffered} {
		if n := t.Counts[v]; n > 0 {
			others = append(others, fmt.Sprintf("%d %s", n, v))
		}
	}
	line.Others = strings.Join(others, ", ")
	return line
}

func newPageChapter(c chapter, id string) pageChapter {
	out := pageChapter{ID: id, Title: c.Title, About: c.About}
	for _, p := range c.Pictures {
		// The plots are our own; every text in them was escaped when it was drawn.
		out.Pictures = append(out.Pictures, pagePicture{p.Title, template.HTML(p.SVG)})
	}
	for _, g := range c.Grids {
		name := join([]string{g.Suite, g.Experiment}, "/")
		last := len(out.Sections) - 1
		if last < 0 || out.Sections[last].Name != name || out.Sections[last].Title != g.Title {
			out.Sections = append(out.Sections, pageSection{Name: name, Title: g.Title, About: g.About})
			last++
		}
		out.Sections[last].Grids = append(out.Sections[last].Grids, newPageGrid(g))
	}
	return out
}

func newPageGrid(g grid) pageGrid {
	out := pageGrid{grid: g}
	for _, c := range g.Columns {
		last := len(out.Groups) - 1
		if last >= 0 && out.Groups[last].Name == c.Group {
			out.Groups[last].Span++
		} else {
			out.Groups = append(out.Groups, pageGroup{c.Group, 1})
		}
	}
	if !slices.ContainsFunc(out.Groups, func(g pageGroup) bool { return g.Name != "" }) {
		out.Groups = nil
	}
	for _, d := range g.Details {
		k := slices.IndexFunc(out.Reasons, func(r pageReason) bool { return r.Row == d.Row })
		if k < 0 {
			k = len(out.Reasons)
			out.Reasons = append(out.Reasons, pageReason{Row: d.Row})
		}
		r := &out.Reasons[k]
		r.Details = append(r.Details, d)
		if d.Verdict.Class() == "fail" {
			r.Short = join([]string{r.Short, d.Peer + " " + string(d.Verdict)}, ", ")
		}
	}
	return out
}

// IsWeir says whether the row is one of Weir's, which the page sets off.
func (r row) IsWeir() bool { return isWeir(r.Name) && !r.Theirs }

// Verdicts says whether the grid is of words, not of figures.
func (g grid) Verdicts() bool {
	return slices.ContainsFunc(g.Rows, func(r row) bool {
		return slices.ContainsFunc(r.Cells, func(c cell) bool { return c.Verdict != "" && c.Main == string(c.Verdict) })
	})
}

func cellClass(c cell) string {
	class := ""
	if c.Best {
		class = "best"
	}
	return join([]string{class, c.Verdict.Class()}, " ")
}
