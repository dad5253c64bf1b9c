// Package report shows measurements to people: as tables for a terminal, as one
// HTML page with plots, as SVG files, and as the tables of a README.
//
// All of them say the same, because all are made in the same way: a [record.File] becomes chapters of grids
// and pictures, and only then text or HTML.
package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/theirs"
)

// Suites with a presentation of their own.
const (
	suiteBehaviour = "behaviour"
	suiteCost      = "cost"
	suiteCold      = "cold"
	suiteHTTP      = "http"
	suiteSurvey    = "survey"
)

// A chapter is the presentation of one suite.
type chapter struct {
	ID                 string // on the page
	Name, Title, About string
	Grids              []grid
	Pictures           []picture
}

// An experiment is a set of tables that differ only in their parameters.
type experiment struct {
	suite, name string
	tables      []record.Table
}

// is reports whether the experiment is the one with this name in this suite.
func (e experiment) is(suite, name string) bool { return e.suite == suite && e.name == name }

// experiments sorts tables into experiments, and experiments by suite, in the order of their first measurement.
func experiments(tables []record.Table) []experiment {
	var suites []string
	var list []experiment
	for _, t := range tables {
		if !slices.Contains(suites, t.Suite) {
			suites = append(suites, t.Suite)
		}
		k := slices.IndexFunc(list, func(e experiment) bool { return e.is(t.Suite, t.Experiment) })
		if k < 0 {
			k = len(list)
			list = append(list, experiment{suite: t.Suite, name: t.Experiment})
		}
		list[k].tables = append(list[k].tables, t)
	}
	slices.SortStableFunc(list, func(a, b experiment) int {
		return cmp.Compare(slices.Index(suites, a.suite), slices.Index(suites, b.suite))
	})
	return list
}

// shape makes the chapters of all results, without their pictures.
func shape(tables []record.Table) []chapter {
	var list []chapter
	figures := theirs.All()
	var scenarios []experiment
	for _, e := range experiments(tables) {
		if len(list) == 0 || list[len(list)-1].Name != e.suite {
			about := suiteTitle(e.suite)
			list = append(list, chapter{Name: e.suite, Title: about.title, About: about.about})
		}
		c := &list[len(list)-1]
		switch {
		case e.suite == suiteBehaviour:
			scenarios = append(scenarios, e)
			c.Grids = []grid{behaviourGrid(scenarios)}
		case e.is(suiteSurvey, "feature"):
			c.Grids = append(c.Grids, featureGrid(e))
		case e.is(suiteCost, "curve"):
			c.Grids = append(c.Grids, costGrids(e)...)
		case e.suite == suiteHTTP:
			for _, t := range e.tables {
				c.Grids = append(c.Grids, httpGrid(t))
			}
		default:
			c.Grids = append(c.Grids, experimentGrids(e, figures)...)
		}
	}
	return list
}

// illustrated is like shape, but with the pictures.
func illustrated(tables []record.Table) []chapter {
	list := shape(tables)
	usual := usualProcs(tables)
	for _, e := range experiments(tables) {
		k := slices.IndexFunc(list, func(c chapter) bool { return c.Name == e.suite })
		list[k].Pictures = append(list[k].Pictures, experimentPictures(e, usual)...)
	}
	return list
}

// usualProcs returns the GOMAXPROCS of most of the experiments that have only one value of it.
func usualProcs(tables []record.Table) int {
	counts := map[int]int{}
	for _, e := range experiments(tables) {
		procs := map[int]bool{}
		for _, t := range e.tables {
			procs[t.Procs] = true
		}
		for p := range procs {
			// An experiment that varies GOMAXPROCS counts only if no other experiment does not.
			counts[p]++
			if len(procs) == 1 && e.suite != suiteBehaviour {
				counts[p] += 1000
			}
		}
	}
	best := 0
	for p, n := range counts {
		if n > counts[best] || n == counts[best] && p > best {
			best = p
		}
	}
	return best
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

// best returns the row with the smallest figure of the unit, of the peers for which competes returns true. ok
// is false if there is none.
func best(rows []record.Row, unit string, competes func(name string) bool) (row record.Row, ok bool) {
	for _, r := range rows {
		c, has := r.Cells[unit]
		if has && usable(c) && competes(r.Peer) && (!ok || c.Center < row.Cells[unit].Center) {
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
