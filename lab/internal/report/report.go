// Package report shows measurements to people: as one document in Markdown, which a terminal shows as it is, as a page of HTML made
// from it, with plots, and as the tables of a README.
package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// Experiments with a presentation of their own.
const (
	scenarios = "behaviour/scenarios" // all of them together
	features  = "survey/feature"
	costCurve = "cost/curve"
	servers   = "http/overload"
)

// experimentOf returns the name of the experiment that the table belongs to.
func experimentOf(t record.Table) string {
	if t.Suite == "behaviour" {
		return scenarios
	}
	return t.Suite + "/" + t.Experiment
}

// sets sorts tables into sets that have the same key, in the order of their first tables.
func sets(tables []record.Table, key func(record.Table) string) (list [][]record.Table) {
	for _, t := range tables {
		k := slices.IndexFunc(list, func(set []record.Table) bool { return key(set[0]) == key(t) })
		if k < 0 {
			k = len(list)
			list = append(list, nil)
		}
		list[k] = append(list[k], t)
	}
	return list
}

// about describes one operation of the experiment; it is "" for features, each of which has its own.
func about(t record.Table) string {
	for _, known := range suite.Plan(suite.Scale{Full: true, Cores: 2}) {
		if known.ID.Suite == t.Suite && known.ID.Experiment == t.Experiment && experimentOf(t) != features && experimentOf(t) != scenarios {
			return "What is measured: " + known.About + "."
		}
	}
	return ""
}

// grids returns the grids of an experiment.
func grids(tables []record.Table) (list []grid) {
	switch experimentOf(tables[0]) {
	case scenarios:
		return []grid{behaviourGrid(tables)}
	case features:
		return []grid{featureGrid(tables)}
	case servers:
		return httpGrids(tables)
	}
	for _, t := range tables {
		list = append(list, plainGrid(t))
	}
	return list
}

// usualProcs returns the GOMAXPROCS of most experiments.
func usualProcs(tables []record.Table) (usual int) {
	counts := map[int]int{}
	for _, set := range sets(tables, func(t record.Table) string { return experimentOf(t) + " " + t.Param(record.ProcsKey) }) {
		procs := set[0].Procs
		counts[procs]++
		if n := counts[procs] - counts[usual]; n > 0 || n == 0 && procs > usual {
			usual = procs
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
		if at := experimentOf(t); at == scenarios || at == features {
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
