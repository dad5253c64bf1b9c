package report

import (
	"cmp"
	"slices"

	"github.com/64ed045f/weir/lab/internal/record"
)

// keysOf returns the parameters that the tables have.
func keysOf(tables []record.Table) []string {
	var keys []string
	for _, t := range tables {
		for _, p := range t.Params {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	return keys
}

// foldedGrids shows many tables as few grids: a row for each peer, a column for each value of one parameter, which is the
// one with the most values. There is a grid for each combination of the others.
func foldedGrids(e experiment) []grid {
	keys := keysOf(e.tables)
	across := slices.MaxFunc(keys, func(a, b string) int { return cmp.Compare(len(split(e, a)), len(split(e, b))) })
	others := slices.DeleteFunc(keys, func(key string) bool { return key == across })
	var list []grid
	for _, part := range split(e, others...) {
		list = append(list, foldedGrid(part, across, others))
	}
	return list
}

// split makes an experiment of each value of a parameter, or of each combination of values of several parameters.
func split(e experiment, keys ...string) []experiment {
	var parts []experiment
	for _, t := range e.tables {
		k := slices.IndexFunc(parts, func(p experiment) bool {
			return !slices.ContainsFunc(keys, func(key string) bool { return p.tables[0].Param(key) != t.Param(key) })
		})
		if k < 0 {
			k = len(parts)
			parts = append(parts, experiment{suite: e.suite, name: e.name})
		}
		parts[k].tables = append(parts[k].tables, t)
	}
	return parts
}

func foldedGrid(e experiment, across string, others []string) grid {
	g := newPeerGrid(e.tables)
	var common []record.Setting
	for _, key := range others {
		if value := e.tables[0].Param(key); value != "" {
			common = append(common, record.Setting{Key: key, Value: value})
		}
	}
	g.params = paramsText(common)
	for _, t := range e.tables {
		c, top := column{name: paramText(across, t.Param(across))}, record.Row{}
		if len(t.Units) > 0 {
			c.table, c.unit = t, t.Units[0]
			top, _ = best(t.Rows, c.unit, notInPlace)
		}
		g.add(c, func(peer string) string { return figureCell(t, peer, c.unit, top) })
		g.addFailures(t)
	}
	for _, unit := range furtherUnits(e.tables) {
		g.add(column{name: "over all of these: " + unitTitle(unit)}, func(peer string) string { return rangeCell(e.tables, peer, unit) })
	}
	g.addTheirs()
	g.addFeet()
	return g
}

// peersOf returns all peers of the tables, in the order of the first table.
func peersOf(tables []record.Table) []string {
	var peers []string
	for _, t := range tables {
		for _, r := range t.Rows {
			if !slices.Contains(peers, r.Peer) {
				peers = append(peers, r.Peer)
			}
		}
	}
	return peers
}

func furtherUnits(tables []record.Table) []string {
	var units []string
	for _, t := range tables {
		for _, unit := range t.Units[min(1, len(t.Units)):] {
			if !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		}
	}
	return units
}

// rangeCell returns the smallest and the largest figure of a unit over all tables.
func rangeCell(tables []record.Table, name, unit string) string {
	var centers []float64
	for _, t := range tables {
		if c := t.Row(name).Cells[unit]; usable(c) {
			centers = append(centers, c.Center)
		}
	}
	if len(centers) == 0 {
		return "—"
	}
	from, to := figure(slices.Min(centers), unit), figure(slices.Max(centers), unit)
	if from == to {
		return from
	}
	return from + " – " + to
}

// addFeet adds rows that say for each column how Weir compares with the best other library, and with the means of the language:
// a plain go statement, or a new object for each use. The form of Weir that is best in the first unit stands for Weir in all
// units: a library that wins on time with one form and on memory with another wins on neither.
func (g *grid) addFeet() {
	for _, rival := range []struct {
		name     string // empty for the name of the peer
		competes func(string) bool
	}{{"the best other", isOther}, {"", isPlain}} {
		for k, c := range g.columns {
			if c.unit == "" {
				continue
			}
			weir, hasWeir := best(c.table.Rows, c.table.Units[0], isWeir)
			against, ok := best(c.table.Rows, c.unit, rival.competes)
			if !ok || !hasWeir {
				continue
			}
			words := compare(weir.Cells[c.unit], against.Cells[c.unit]).words(c.unit)
			if rival.name != "" {
				words += " (" + clean(against.Peer) + ")"
			}
			g.row("best Weir against " + cmp.Or(rival.name, clean(against.Peer)))[k+1] = words
		}
	}
}
