package report

import (
	"fmt"
	"slices"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/record"
)

// Verdicts that stand in the tables as signs. The other verdicts of package behaviour mean that something went wrong.
const (
	pass       = string(behaviour.Pass)
	notOffered = string(behaviour.NotOffered)
	fails      = string(behaviour.Fails)
	unmeasured = "failed" // the measurement failed
)

// verdictOf returns the verdict in the notes of a result.
func verdictOf(notes []record.Setting) string {
	v := note(notes, "verdict")
	if v == "" && note(notes, record.FailedNote) != "" {
		return unmeasured
	}
	return v
}

// sign returns a sign for the verdict, for readers who scan a table.
func sign(verdict string) string {
	switch verdict {
	case "":
		return ""
	case pass:
		return "✓"
	case notOffered:
		return "–"
	}
	return "✗"
}

// verdictText returns the sign, and what went wrong.
func verdictText(verdict string) string {
	if s := sign(verdict); s != "✗" {
		return s
	}
	return "✗ " + verdict
}

// behaviourGrid returns the grid of all scenarios: a row for each scenario, a column for each library.
func behaviourGrid(scenarios []experiment) (g grid) {
	libraries := peersOf(tablesOf(scenarios))
	for _, library := range libraries {
		g.columns = append(g.columns, column{name: clean(library)})
	}
	for _, e := range scenarios {
		for _, t := range e.tables {
			name := join([]string{clean(e.name), titleNote(t)}, " ")
			if len(e.tables) > 1 {
				name += " " + paramsText(t.Params)
			}
			g.addVerdicts(name, verdictText, func(k int) (record.Table, string) { return t, libraries[k] })
		}
	}
	return g
}

func tablesOf(list []experiment) (tables []record.Table) {
	for _, e := range list {
		tables = append(tables, e.tables...)
	}
	return tables
}

// titleNote returns the title of the scenario or feature, from the results.
func titleNote(t record.Table) string {
	for _, measured := range t.Rows {
		if title := note(measured.Notes, "title"); title != "" {
			return title
		}
	}
	return ""
}

// addVerdicts appends a row: the verdict of each column as a text, with its reason.
func (g *grid) addVerdicts(name string, text func(verdict string) string, of func(column int) (record.Table, string)) {
	row := []string{name}
	for k, c := range g.columns {
		measured, _ := rowOf(of(k))
		v := verdictOf(measured.Notes)
		row = append(row, text(v))
		for _, key := range []string{"detail", record.FailedNote} {
			if text := note(measured.Notes, key); text != "" && text != "-" {
				g.reasons = append(g.reasons, reason{name, c.name, v, text})
			}
		}
	}
	g.rows = append(g.rows, row)
}

// featureGrid returns the survey's table of the five features of each library.
func featureGrid(e experiment) (g grid) {
	for _, t := range e.tables {
		name := clean(paramOf(t, "column"))
		if title := titleNote(t); title != "" {
			g.notes = append(g.notes, name+": "+title+".")
		}
		g.columns = append(g.columns, column{name: name})
	}
	for _, library := range peersOf(e.tables) {
		g.addVerdicts(clean(library), sign, func(k int) (record.Table, string) { return e.tables[k], library })
	}
	return g
}

// tallies returns the counts of all verdicts by library, Weir first: the rows of a table.
func tallies(scenarios []experiment) (rows [][]string) {
	tables := tablesOf(scenarios)
	for _, library := range peersOf(tables) {
		counts := map[string]int{}
		for _, t := range tables {
			r, _ := rowOf(t, library)
			counts[verdictOf(r.Notes)]++
		}
		others := ""
		for _, v := range []string{fails, string(behaviour.Hangs), string(behaviour.Crashes), unmeasured, notOffered} {
			if n := counts[v]; n > 0 {
				others = join([]string{others, fmt.Sprintf("%d %s", n, v)}, ", ")
			}
		}
		rows = append(rows, []string{library, fmt.Sprintf("%d of %d", counts[pass], len(tables)-counts[""]), others})
	}
	slices.SortStableFunc(rows, func(a, b []string) int { return b2i(isWeir(b[0])) - b2i(isWeir(a[0])) })
	return rows
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
