package report

import (
	"cmp"
	_ "embed" // the legend
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// legend says once how to read the tables.
//
//go:embed legend.txt
var legend string

// A document is a text in Markdown. Its methods escape what they are given: no name in a file of results can change the
// structure of the document.
type document struct {
	strings.Builder
	withPlots bool
}

// New returns the report of a run in Markdown, which a terminal shows as it is.
func New(file record.File) string {
	d := &document{}
	d.report(file)
	return d.String()
}

func (d *document) report(file record.File) {
	tables := record.Tables(file.Results)
	if len(tables) == 0 {
		d.say("Nothing was measured.")
		return
	}
	setting := func(key string) string { return clean(file.Setting(key)) }
	d.heading(1, cmp.Or(join([]string{setting("cpu"), setting("go-version"), setting("date")}, " · "), "Results"))
	d.summary(tables)
	previous := ""
	for _, set := range sets(tables, experimentOf) {
		if set[0].Suite != previous {
			d.suite(set[0].Suite)
		}
		previous = set[0].Suite
		d.heading(3, experimentOf(set[0]))
		d.say(about(set[0]))
		if d.withPlots {
			d.pictures(set)
		}
		for _, g := range grids(set) {
			d.grid(g)
		}
	}
	d.heading(2, "Machine and versions")
	facts := []string{"rounds: " + rounds(tables)}
	for _, s := range file.Settings {
		facts = append(facts, s.Key+": "+s.Value)
	}
	d.list(facts)
	d.heading(2, "How to read this")
	d.say(legend)
}

// summary says how Weir stands in all of the run.
func (d *document) summary(tables []record.Table) {
	d.heading(2, "Summary")
	rows, losses := scores(tables)
	d.table(rows)
	d.paragraph(strings.TrimSuffix(standingsMarkdown(standings(tables, false)), "\n"))
	if len(losses) > 0 {
		d.heading(3, "Where Weir is behind")
		d.list(losses)
	}
}

// suite begins the chapter of a suite.
func (d *document) suite(name string) {
	for _, s := range suite.All() {
		if s.Name == name {
			d.heading(2, s.Name+": "+s.Title)
			d.say(s.About)
			return
		}
	}
	d.heading(2, name)
}

func (d *document) grid(g grid) {
	d.say(g.params)
	d.table(g.table(""))
	for _, n := range g.notes {
		d.say(n)
	}
	var reasons []string
	for _, r := range g.reasons {
		if r.verdict != pass {
			reasons = append(reasons, fmt.Sprintf("%s, %s %s: %s", r.row, r.column, r.verdict, r.text))
		}
	}
	d.list(reasons)
}

func (d *document) heading(level int, text string) {
	d.paragraph(strings.Repeat("#", level) + " " + escapeMarkdown(text))
}

// say appends a paragraph; it ignores an empty one.
func (d *document) say(text string) { d.paragraph(escapeMarkdown(text)) }

// paragraph is like say, for a text that is Markdown.
func (d *document) paragraph(text string) {
	if text != "" {
		d.WriteString(text + "\n\n")
	}
}

func (d *document) list(items []string) {
	var lines []string
	for _, item := range items {
		lines = append(lines, "- "+escapeMarkdown(item))
	}
	d.paragraph(strings.Join(lines, "\n"))
}

// table appends a table, the first row of which is its head. Its columns are also aligned in the text.
func (d *document) table(rows [][]string) {
	if len(rows) < 2 || len(rows[0]) < 2 {
		return
	}
	rows = escaped(rows)
	for k := range rows[0] {
		width := 0
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[k]))
		}
		for _, row := range rows {
			row[k] += strings.Repeat(" ", width-utf8.RuneCountInString(row[k]))
		}
	}
	d.paragraph(strings.TrimSuffix(tableMarkdown(rows[0], "---", rows[1:]), "\n"))
}
