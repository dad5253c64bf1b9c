package report

import (
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
func behaviourGrid(scenarios []record.Table) (g grid) {
	libraries := peersOf(scenarios)
	for _, library := range libraries {
		g.head = append(g.head, clean(library))
	}
	for _, t := range scenarios {
		name := join([]string{clean(t.Experiment), titleNote(t)}, " ")
		g.addVerdicts(name, verdictText, func(k int) record.Row { return t.Row(libraries[k]) })
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

// featureGrid returns the survey's table of the five features of each library.
func featureGrid(features []record.Table) (g grid) {
	for _, t := range features {
		name := clean(t.Param("column"))
		if title := titleNote(t); title != "" {
			g.notes = append(g.notes, name+": "+title+".")
		}
		g.head = append(g.head, name)
	}
	for _, library := range peersOf(features) {
		g.addVerdicts(clean(library), sign, func(k int) record.Row { return features[k].Row(library) })
	}
	return g
}

// addVerdicts appends a row: the verdict of each column as a text, with its reason.
func (g *grid) addVerdicts(name string, text func(verdict string) string, of func(column int) record.Row) {
	g.addRow(name, func(k int) string {
		notes := of(k).Notes
		v := note(notes, "verdict")
		if v == "" && note(notes, record.FailedNote) != "" {
			v = unmeasured
		}
		for _, key := range []string{"detail", record.FailedNote} {
			if text := note(notes, key); text != "" && text != "-" {
				g.reasons = append(g.reasons, reason{name, g.head[k], v, text})
			}
		}
		return text(v)
	})
}
