package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// InterruptedKey is the key of the setting that says how much of an interrupted run was done.
const InterruptedKey = "interrupted"

const versionPrefix = "version-"

// nothing is the report of no results.
const nothing = "Nothing was measured.\n"

// A Report shows the results of one run, in Markdown. Its plots are files of their own, whose names stand in the text.
type Report struct {
	Markdown string
	pictures []picture
}

// New makes the report of a run. The names of the files of plots begin with prefix, which distinguishes several runs.
func New(file record.File, prefix string) Report {
	tables := record.Tables(file.Results)
	if len(tables) == 0 {
		return Report{Markdown: nothing}
	}
	d := &document{}
	setting := func(key string) string { return clean(file.Setting(key)) }
	d.heading(1, cmp.Or(join([]string{setting("cpu"), setting("go-version"), setting("date")}, " · "), "Results"))
	d.summary(file, tables)
	usual, previous := usualProcs(tables), ""
	all := experiments(tables)
	for _, e := range all {
		if e.suite != previous {
			d.suite(e.suite)
			if e.suite == suiteBehaviour {
				d.grid(behaviourGrid(behaviours(all)))
			}
		}
		previous = e.suite
		if e.suite == suiteBehaviour {
			continue
		}
		d.heading(3, e.suite+"/"+e.name)
		about, said := e.about(), ""
		for _, g := range grids(e) {
			if now := cmp.Or(g.about, about); now != said {
				d.say(now)
				said = now
			}
			d.grid(g)
		}
		for _, p := range experimentPictures(e, usual) {
			p.name = fileName(prefix, p.name)
			d.picture(p)
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
	return Report{d.text.String(), d.pictures}
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
			reasons = append(reasons, fmt.Sprintf("%s, %s %s: %s", r.row, r.peer, r.verdict, r.text))
		}
	}
	d.list(reasons)
}

// summary says how Weir stands in all of the run.
func (d *document) summary(file record.File, tables []record.Table) {
	d.heading(2, "Summary")
	part := file.Setting(InterruptedKey)
	if part != "" {
		d.say("This run was interrupted " + part + ". What follows says nothing of the rest.")
	}
	sentences, losses, settings := scores(tables)
	d.list(sentences)
	d.paragraph(strings.TrimSuffix(standingsMarkdown(standings(tables, false)), "\n"))
	switch {
	case len(losses) > 0:
		d.heading(3, "Where Weir is behind")
		d.list(losses)
	case settings > 0 && part == "":
		d.say(fmt.Sprintf("In none of the settings compared here, %d in all, is Weir behind.", settings))
	}
	var failed []string
	for _, t := range tables {
		failed = append(failed, failures(t)...)
	}
	if len(failed) > 0 {
		d.heading(3, "Where a form of Weir failed")
		d.list(failed)
	}
	if rows := tallies(behaviours(experiments(tables))); len(rows) > 0 {
		d.heading(3, "Scenarios")
		d.table(append([][]string{{"", "passed", "others"}}, rows...))
	}
}

func join(parts []string, between string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), between)
}
