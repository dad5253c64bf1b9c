// Package report shows measurements to people: as one document in Markdown, which a terminal shows as it is, and as the tables
// of a README.
package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// Suites with a presentation of their own.
const (
	suiteBehaviour = "behaviour"
	suiteCost      = "cost"
	suiteHTTP      = "http"
	suiteSurvey    = "survey"
)

// An experiment is a set of tables that differ only in their parameters. All scenarios are one.
type experiment struct {
	suite, name string
	tables      []record.Table
}

// is reports whether the experiment is the one with this name in this suite.
func (e experiment) is(suite, name string) bool { return e.suite == suite && e.name == name }

// experiments sorts tables into experiments, in the order of their first measurement.
func experiments(tables []record.Table) []experiment {
	var list []experiment
	for _, t := range tables {
		name := t.Experiment
		if t.Suite == suiteBehaviour {
			name = "scenarios"
		}
		k := slices.IndexFunc(list, func(e experiment) bool { return e.is(t.Suite, name) })
		if k < 0 {
			k = len(list)
			list = append(list, experiment{suite: t.Suite, name: name})
		}
		list[k].tables = append(list[k].tables, t)
	}
	return list
}

// about describes one operation of the experiment; it is "" for features, each of which has its own.
func (e experiment) about() string {
	for _, known := range suite.Plan(suite.Scale{Full: true, Cores: 2}) {
		if known.ID.Suite == e.suite && known.ID.Experiment == e.name && !e.is(suiteSurvey, "feature") {
			return "What is measured: " + known.About + "."
		}
	}
	return ""
}

// split makes an experiment of each value of a parameter.
func split(e experiment, key string) []experiment {
	var parts []experiment
	for _, t := range e.tables {
		k := slices.IndexFunc(parts, func(p experiment) bool { return p.tables[0].Param(key) == t.Param(key) })
		if k < 0 {
			k = len(parts)
			parts = append(parts, experiment{suite: e.suite, name: e.name})
		}
		parts[k].tables = append(parts[k].tables, t)
	}
	return parts
}

// grids returns the tables of an experiment.
func grids(e experiment) (list []grid) {
	switch {
	case e.suite == suiteBehaviour:
		return []grid{behaviourGrid(e.tables)}
	case e.is(suiteSurvey, "feature"):
		return []grid{featureGrid(e.tables)}
	case e.suite == suiteHTTP:
		return httpGrids(e.tables)
	case e.is(suiteCost, "curve"):
		list = overheadGrids(e)
	}
	for _, t := range e.tables {
		list = append(list, plainGrid(t))
	}
	return list
}

// usualProcs returns the GOMAXPROCS of most experiments.
func usualProcs(tables []record.Table) (usual int) {
	counts := map[int]int{}
	for _, e := range experiments(tables) {
		for _, part := range split(e, record.ProcsKey) {
			procs := part.tables[0].Procs
			counts[procs]++
			if n := counts[procs] - counts[usual]; n > 0 || n == 0 && procs > usual {
				usual = procs
			}
		}
	}
	return usual
}

// isWeir reports whether the peer is a form of Weir.
func isWeir(name string) bool {
	library := peer.LibraryOf(name)
	return library == peer.Weir || library == weirQueues
}

// isOther reports whether the peer is a library that Weir competes with.
func isOther(name string) bool {
	switch peer.LibraryOf(name) {
	case peer.Weir, weirQueues, peer.Go, peer.InPlace, peer.Made, "semaphore":
		return false
	}
	return true
}

// best returns the row with the smallest figure of the unit, or the largest of what is done a second, of the peers for which
// competes returns true. ok is false if there is none.
func best(rows []record.Row, unit string, competes func(name string) bool) (row record.Row, ok bool) {
	most := strings.HasSuffix(unit, "/s")
	for _, r := range rows {
		c := r.Cells[unit]
		if !usable(c) || !competes(r.Peer) {
			continue
		}
		if old := row.Cells[unit].Center; !ok || c.Center != old && (c.Center > old) == most {
			row, ok = r, true
		}
	}
	return row, ok
}

// note returns the note of a result with that key, safe to show.
func note(notes []record.Setting, key string) string { return clean(record.Find(notes, key)) }

// rounds returns how often each figure was taken: "10", or "3 to 10".
func rounds(tables []record.Table) string {
	var list []int
	for _, t := range tables {
		if t.Suite == suiteBehaviour || t.Suite == suiteSurvey && t.Experiment == "feature" {
			continue
		}
		for _, r := range t.Rows {
			for _, c := range r.Cells {
				list = append(list, c.Rounds)
			}
		}
	}
	switch {
	case len(list) == 0:
		return "0"
	case slices.Min(list) == slices.Max(list):
		return fmt.Sprint(list[0])
	}
	return fmt.Sprintf("%d to %d", slices.Min(list), slices.Max(list))
}
