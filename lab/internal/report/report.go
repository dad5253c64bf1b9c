// Package report shows measurements to people: as tables for a terminal, as one
// HTML page with plots, as SVG files, and as the tables of a README.
//
// All of them say the same, for all are made from the same shapes: a [record.File]
// becomes chapters of grids and pictures, and only then text or HTML.
package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/theirs"
)

// Suites that are shown in a way of their own.
const (
	suiteBehaviour = "behaviour"
	suiteCost      = "cost"
	suiteCold      = "cold"
	suiteHTTP      = "http"
	suiteSurvey    = "survey"
)

// A chapter is what is shown of one suite.
type chapter struct {
	ID                 string // on the page
	Name, Title, About string
	Grids              []grid
	Pictures           []picture
}

// An experiment is the tables that differ in their parameters alone.
type experiment struct {
	suite, name string
	tables      []record.Table
}

// is says whether the experiment is that of the suite.
func (e experiment) is(suite, name string) bool { return e.suite == suite && e.name == name }

// experiments sorts tables into experiments, and those by suite, in the order in
// which they were measured first.
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

// shape makes the chapters of all that was measured, without their pictures.
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

// illustrated is shape, with the pictures.
func illustrated(tables []record.Table) []chapter {
	list := shape(tables)
	usual := usualProcs(tables)
	for _, e := range experiments(tables) {
		k := slices.IndexFunc(list, func(c chapter) bool { return c.Name == e.suite })
		list[k].Pictures = append(list[k].Pictures, experimentPictures(e, usual)...)
	}
	return list
}

// usualProcs is the GOMAXPROCS at which what does not vary it was measured: that
// of most experiments with one alone.
func usualProcs(tables []record.Table) int {
	counts := map[int]int{}
	for _, e := range experiments(tables) {
		procs := map[int]bool{}
		for _, t := range e.tables {
			procs[t.Procs] = true
		}
		for p := range procs {
			// One that varies has a say only where nothing else has.
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

// isWeir says whether the peer is a form of Weir.
func isWeir(name string) bool {
	library := peer.LibraryOf(name)
	return library == peer.Weir || library == weirQueues
}

// isOther says whether the peer is a library that Weir competes with.
func isOther(name string) bool {
	switch peer.LibraryOf(name) {
	case peer.Weir, weirQueues, peer.Go, peer.InPlace, peer.Made, "semaphore":
		return false
	}
	return true
}

// best returns the row with the smallest figure of the unit among those that may
// compete; ok is false if there is none.
func best(rows []record.Row, unit string, competes func(name string) bool) (row record.Row, ok bool) {
	for _, r := range rows {
		c, has := r.Cells[unit]
		if has && usable(c) && competes(r.Peer) && (!ok || c.Center < row.Cells[unit].Center) {
			row, ok = r, true
		}
	}
	return row, ok
}

// note returns what a result says under that key, safe to show.
func note(notes []record.Setting, key string) string { return clean(record.Find(notes, key)) }

// rounds says how often each figure was taken: "10", or "3 to 10".
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
