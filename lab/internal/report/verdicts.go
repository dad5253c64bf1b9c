package report

import (
	"fmt"
	"slices"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A verdict is what a library did in a scenario, in the words of the measurement.
type verdict string

// The verdicts that have a sign and a colour. Other verdicts are shown as they are.
const (
	pass       = verdict(behaviour.Pass)
	fails      = verdict(behaviour.Fails)
	hangs      = verdict(behaviour.Hangs)
	crashes    = verdict(behaviour.Crashes)
	notOffered = verdict(behaviour.NotOffered)
	unmeasured = verdict("failed") // the measurement failed
)

// verdictOf returns the verdict in the notes of a result.
func verdictOf(notes []record.Setting) verdict {
	v := verdict(note(notes, "verdict"))
	if v == "" && note(notes, record.FailedNote) != "" {
		return unmeasured
	}
	return v
}

// Sign returns a sign for the verdict, for readers who scan a table.
func (v verdict) Sign() string { return v.look()[0] }

// Class returns the name of the verdict for style sheets and terminals.
func (v verdict) Class() string { return v.look()[1] }

// look returns the sign and the class.
func (v verdict) look() [2]string {
	switch v {
	case "":
		return [2]string{}
	case pass:
		return [2]string{"✓", "pass"}
	case notOffered:
		return [2]string{"–", "none"}
	}
	return [2]string{"✗", "fail"}
}

// behaviourGrid returns the grid of all scenarios: a row for each scenario, a column for each library.
func behaviourGrid(scenarios []experiment) grid {
	g := newGrid(suiteBehaviour, "")
	g.Corner = "scenario"
	var tables []record.Table
	for _, e := range scenarios {
		tables = append(tables, e.tables...)
	}
	libraries := peersOf(tables)
	for _, library := range libraries {
		g.Columns = append(g.Columns, column{Name: clean(library)})
	}
	for _, e := range scenarios {
		for _, t := range e.tables {
			r := row{Name: join([]string{clean(e.name), titleNote(t)}, " ")}
			if len(e.tables) > 1 {
				r.Tag = paramsText(t.Params, t.Procs)
			}
			g.addVerdicts(r, func(k int) (record.Table, string) { return t, libraries[k] })
		}
	}
	return g
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

// addVerdicts appends a row: the verdict of each column, with its reason.
func (g *grid) addVerdicts(r row, of func(column int) (record.Table, string)) {
	for k, c := range g.Columns {
		measured, _ := rowOf(of(k))
		v := verdictOf(measured.Notes)
		r.Cells = append(r.Cells, cell{Main: string(v), Verdict: v})
		for _, key := range []string{"detail", record.FailedNote} {
			if text := note(measured.Notes, key); text != "" && text != "-" {
				g.Details = append(g.Details, detail{r.Name, c.Name, v, text})
			}
		}
	}
	g.Rows = append(g.Rows, r)
}

// featureGrid returns the survey's table of the five features of each library.
func featureGrid(e experiment) grid {
	g := newGrid(e.suite, e.name)
	g.Corner = "library"
	g.About = "" // the experiment's About describes only one column
	for _, t := range e.tables {
		name := clean(paramOf(t, "column"))
		if title := titleNote(t); title != "" {
			g.Notes = append(g.Notes, name+": "+title+".")
		}
		g.Columns = append(g.Columns, column{Name: name})
	}
	for _, library := range peersOf(e.tables) {
		g.addVerdicts(row{Name: clean(library)}, func(k int) (record.Table, string) { return e.tables[k], library })
	}
	return g
}

// A tally counts the verdicts of one library.
type tally struct {
	Library       string
	Passed, Total int
	Others        string // counts of the other verdicts, as text
}

// tallies returns the verdict counts of all libraries, Weir first.
func tallies(scenarios grid) []tally {
	var list []tally
	for k, c := range scenarios.Columns {
		counts := map[verdict]int{}
		for _, r := range scenarios.Rows {
			counts[r.Cells[k].Verdict]++
		}
		t := tally{Library: c.Name, Passed: counts[pass], Total: len(scenarios.Rows) - counts[""]}
		for _, v := range []verdict{fails, hangs, crashes, unmeasured, notOffered} {
			if n := counts[v]; n > 0 {
				t.Others = join([]string{t.Others, fmt.Sprintf("%d %s", n, v)}, ", ")
			}
		}
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b tally) int { return b2i(isWeir(b.Library)) - b2i(isWeir(a.Library)) })
	return list
}
