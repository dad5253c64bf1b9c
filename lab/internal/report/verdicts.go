package report

import (
	"fmt"
	"slices"

	"github.com/64ed045f/weir/lab/internal/behaviour"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A verdict is what a library did in a scenario, in the words of the measurement.
type verdict string

// The verdicts that have a sign and a colour. Any other is shown as it stands.
const (
	pass       = verdict(behaviour.Pass)
	fails      = verdict(behaviour.Fails)
	hangs      = verdict(behaviour.Hangs)
	crashes    = verdict(behaviour.Crashes)
	notOffered = verdict(behaviour.NotOffered)
	unmeasured = verdict("failed") // the measurement came to no end
)

// verdictOf is what the notes of a result say.
func verdictOf(notes []record.Setting) verdict {
	v := verdict(note(notes, "verdict"))
	if v == "" && note(notes, record.FailedNote) != "" {
		return unmeasured
	}
	return v
}

// Sign is the verdict without words, for readers that scan a table.
func (v verdict) Sign() string {
	sign, _ := v.signAndClass()
	return sign
}

// Class names the verdict for style sheets and terminals.
func (v verdict) Class() string {
	_, class := v.signAndClass()
	return class
}

func (v verdict) signAndClass() (sign, class string) {
	switch v {
	case "":
		return "", ""
	case pass:
		return "✓", "pass"
	case notOffered:
		return "–", "none"
	}
	return "✗", "fail"
}

// behaviourGrid is all scenarios: a row for each, a column for each library.
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

// titleNote is what the results say that the scenario or the feature is.
func titleNote(t record.Table) string {
	for _, measured := range t.Rows {
		if title := note(measured.Notes, "title"); title != "" {
			return title
		}
	}
	return ""
}

// addVerdicts appends a row: in each column what a library did, with the reason for it or why there is none.
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

// featureGrid is the survey's table: which library has which of its five columns.
func featureGrid(e experiment) grid {
	g := newGrid(e.suite, e.name)
	g.Corner = "library"
	g.About = "" // that of the experiment is of one column alone
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
	Others        string // the other verdicts, counted
}

// tallies counts what each library did in the scenarios, Weir first.
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
