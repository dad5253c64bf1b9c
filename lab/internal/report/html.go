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

var page = template.Must(template.New("page").Parse(pageText))

// HTML writes one page with all results of one or more runs. The page loads nothing else, and has no script.
// It shows each run by itself: figures of different runs are never compared.
func HTML(w io.Writer, files []record.File) error {
	data := struct {
		Style  template.CSS
		Legend string
		Runs   []pageRun
	}{Style: template.CSS(themeCSS(":root") + pageCSS), Legend: legend}
	for k, f := range files {
		data.Runs = append(data.Runs, newRun(f, k))
	}
	return page.Execute(w, data)
}

// SVGs writes the plots of a run into an existing folder, one file each. The file names begin with prefix,
// which distinguishes the plots of several runs.
func SVGs(dir, prefix string, file record.File) error {
	for _, c := range illustrated(record.Tables(file.Results)) {
		for _, p := range c.Pictures {
			if err := os.WriteFile(filepath.Join(dir, fileName(prefix, p.Name)+".svg"), []byte(p.standalone()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// A pageRun is what the page shows of one file.
type pageRun struct {
	summary

	ID        string
	Title     string
	Facts     []fact
	LeftOut   string
	Part      string // how much of an interrupted run was done
	Rounds    string
	Standings []standing
	Tallies   []tally
	Chapters  []chapter
}

func newRun(file record.File, k int) pageRun {
	tables := record.Tables(file.Results)
	setting := func(key string) string { return clean(file.Setting(key)) }
	run := pageRun{
		summary: summarize(tables),
		ID:      fmt.Sprintf("run%d", k+1),
		Title:   join([]string{setting("cpu"), setting("go-version"), setting("date")}, " · "),
		Facts:   facts(file.Settings), LeftOut: setting(leftOutKey), Part: setting(InterruptedKey),
		Rounds: rounds(tables), Standings: standings(tables), Tallies: tallies(gridOf(file, suiteBehaviour, "")), Chapters: illustrated(tables),
	}
	for i := range run.Chapters {
		run.Chapters[i].ID = fmt.Sprintf("%s-%d", run.ID, i+1)
	}
	return run
}

// Text returns the score as a sentence.
func (s score) Text() string {
	var parts []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	all := s.Ahead + s.Equal + s.Behind
	add(all, "Weir is ahead in %d of %d settings", s.Ahead, all)
	add(s.Equal, "about equal in %d", s.Equal)
	add(s.Behind, "behind in %d", s.Behind)
	add(s.Open, "too few rounds to tell in %d", s.Open)
	return sentence(fmt.Sprintf("%s, against %s: %s", s.What, s.Against, strings.Join(parts, ", ")))
}

// A section has the grids of one experiment.
type section struct {
	Name, Title, About string
	Grids              []grid
}

// Sections returns the grids of the chapter by experiment.
func (c chapter) Sections() []section {
	var list []section
	for _, g := range c.Grids {
		name := join([]string{g.Suite, g.Experiment}, "/")
		last := len(list) - 1
		if last < 0 || list[last].Name != name || list[last].Title != g.Title {
			list = append(list, section{Name: name, Title: g.Title, About: g.About})
			last++
		}
		list[last].Grids = append(list[last].Grids, g)
	}
	return list
}

// A group is a heading above adjacent columns.
type group struct {
	Name string
	Span int
}

// Groups returns the groups of the columns, if any of the groups has a name.
func (g grid) Groups() []group {
	var list []group
	named := false
	for _, c := range g.Columns {
		if last := len(list) - 1; last >= 0 && list[last].Name == c.Group {
			list[last].Span++
			continue
		}
		list = append(list, group{c.Group, 1})
		named = named || c.Group != ""
	}
	if !named {
		return nil
	}
	return list
}

// A reason has all details of one row.
type reason struct {
	Row     string
	Short   string
	Details []detail
}

// Reasons returns the details by row.
func (g grid) Reasons() []reason {
	var list []reason
	for _, d := range g.Details {
		k := slices.IndexFunc(list, func(r reason) bool { return r.Row == d.Row })
		if k < 0 {
			k = len(list)
			list = append(list, reason{Row: d.Row})
		}
		r := &list[k]
		r.Details = append(r.Details, d)
		if d.Verdict.Class() == "fail" {
			r.Short = join([]string{r.Short, d.Peer + " " + string(d.Verdict)}, ", ")
		}
	}
	return list
}

// IsWeir reports whether the row is one of Weir's, which the page highlights.
func (r row) IsWeir() bool { return isWeir(r.Name) && !r.Theirs }

// Verdicts reports whether the grid has verdicts instead of figures.
func (g grid) Verdicts() bool {
	return slices.ContainsFunc(g.Rows, func(r row) bool {
		return slices.ContainsFunc(r.Cells, func(c cell) bool { return c.Verdict != "" && c.Main == string(c.Verdict) })
	})
}

// Class returns the class of the cell for the style sheet.
func (c cell) Class() string {
	if c.Best {
		return strings.TrimSpace("best " + c.Verdict.Class())
	}
	return c.Verdict.Class()
}
