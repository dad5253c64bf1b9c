package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/theirs"
)

// procsKey is the name of GOMAXPROCS among the parameters.
const procsKey = "GOMAXPROCS"

// A dimension is a parameter that varies, with its values in the order of their measurement.
type dimension struct {
	key    string
	values []string
}

// allParams returns the table's parameters and GOMAXPROCS.
func allParams(t record.Table) []record.Setting {
	if t.Procs <= 0 {
		return t.Params
	}
	return append(slices.Clone(t.Params), record.Setting{Key: procsKey, Value: strconv.Itoa(t.Procs)})
}

func paramOf(t record.Table, key string) string {
	if key == procsKey {
		return strconv.Itoa(t.Procs)
	}
	return record.Find(t.Params, key)
}

// dimensions returns the parameters that vary among the tables, and those that all tables share.
func dimensions(tables []record.Table) (vary []dimension, common []record.Setting) {
	var all []dimension
	for _, t := range tables {
		for _, p := range allParams(t) {
			if !slices.ContainsFunc(all, func(d dimension) bool { return d.key == p.Key }) {
				all = append(all, dimension{key: p.Key})
			}
		}
	}
	for _, d := range all {
		for _, t := range tables {
			if v := paramOf(t, d.key); !slices.Contains(d.values, v) {
				d.values = append(d.values, v)
			}
		}
		if len(d.values) > 1 {
			vary = append(vary, d)
		} else {
			common = append(common, record.Setting{Key: d.key, Value: d.values[0]})
		}
	}
	// GOMAXPROCS last, wherever it first appeared.
	slices.SortStableFunc(vary, func(a, b dimension) int {
		return b2i(a.key == procsKey) - b2i(b.key == procsKey)
	})
	return vary, common
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// foldedGrids shows many tables as few grids: a row for each peer, a column for each setting. If a grid had
// too many columns, foldedGrids makes one grid for each value of the parameter with the fewest values.
func foldedGrids(e experiment, figures []theirs.Figure) []grid {
	vary, _ := dimensions(e.tables)
	if len(e.tables) <= mostColumns || len(vary) < 2 {
		return []grid{foldedGrid(e, figures)}
	}
	fewest := vary[0]
	for _, d := range vary {
		if len(d.values) < len(fewest.values) {
			fewest = d
		}
	}
	var list []grid
	for _, part := range split(e, fewest.key) {
		list = append(list, foldedGrids(part, figures)...)
	}
	return list
}

// split makes an experiment of each value of a parameter, or of each combination of values of several parameters.
func split(e experiment, keys ...string) []experiment {
	var parts []experiment
	for _, t := range e.tables {
		k := slices.IndexFunc(parts, func(p experiment) bool {
			return !slices.ContainsFunc(keys, func(key string) bool { return paramOf(p.tables[0], key) != paramOf(t, key) })
		})
		if k < 0 {
			k = len(parts)
			parts = append(parts, experiment{suite: e.suite, name: e.name})
		}
		parts[k].tables = append(parts[k].tables, t)
	}
	return parts
}

func foldedGrid(e experiment, figures []theirs.Figure) grid {
	vary, common := dimensions(e.tables)
	tables := slices.Clone(e.tables)
	slices.SortStableFunc(tables, func(a, b record.Table) int {
		for _, d := range vary {
			if c := slices.Index(d.values, paramOf(a, d.key)) - slices.Index(d.values, paramOf(b, d.key)); c != 0 {
				return c
			}
		}
		return 0
	})
	g := newPeerGrid(e.suite, e.name, peersOf(tables))
	g.Params = paramsText(common, 0)
	for _, t := range tables {
		c, top := foldedColumn(t, vary), record.Row{}
		if len(t.Units) > 0 {
			c.table, c.unit = t, t.Units[0]
			top, _ = best(t.Rows, c.unit, notInPlace)
		}
		g.add(c, func(peer string) cell { return figureCell(t, peer, c.unit, top) })
	}
	for _, unit := range furtherUnits(tables) {
		g.add(column{Group: "over all of these", Name: unitTitle(unit)}, func(peer string) cell { return rangeCell(tables, peer, unit) })
	}
	g.Foot = foldedFoot(tables, len(g.Columns))
	for _, t := range tables {
		g.addFailures(t)
	}
	g.addTheirs(figures)
	return g
}

func foldedColumn(t record.Table, vary []dimension) column {
	var parts []string
	for _, d := range vary {
		parts = append(parts, paramText(d.key, paramOf(t, d.key)))
	}
	if len(parts) == 0 {
		return column{Name: "time"}
	}
	last := len(parts) - 1
	return column{Group: strings.Join(parts[:last], " · "), Name: parts[last]}
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

func rowOf(t record.Table, name string) (record.Row, bool) {
	k := slices.IndexFunc(t.Rows, func(r record.Row) bool { return r.Peer == name })
	if k < 0 {
		return record.Row{}, false
	}
	return t.Rows[k], true
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

// rangeCell returns a cell with the smallest and the largest figure of a unit over all tables.
func rangeCell(tables []record.Table, name, unit string) cell {
	var centers []float64
	for _, t := range tables {
		r, _ := rowOf(t, name)
		if c, ok := r.Cells[unit]; ok && usable(c) {
			centers = append(centers, c.Center)
		}
	}
	if len(centers) == 0 {
		return cell{Main: "—"}
	}
	from, to := figure(slices.Min(centers), unit), figure(slices.Max(centers), unit)
	if from == to {
		return cell{Main: from}
	}
	return cell{Main: from + " – " + to}
}

// foldedFoot says for each column how the best form of Weir compares.
func foldedFoot(tables []record.Table, columns int) []row {
	var foot []row
	for _, rival := range []struct {
		name     string // empty for the name of the peer
		competes func(string) bool
	}{{"the best other", isOther}, {"", isPlain}} {
		r := row{Cells: make([]cell, columns)}
		for k, t := range tables {
			if len(t.Units) == 0 {
				continue
			}
			unit := t.Units[0]
			weir, hasWeir := best(t.Rows, unit, isWeir)
			against, ok := best(t.Rows, unit, rival.competes)
			if !ok || !hasWeir {
				continue
			}
			r.Cells[k].Main = compare(weir.Cells[unit], against.Cells[unit]).words(unit)
			if rival.name != "" {
				r.Cells[k].Side = clean(against.Peer)
			}
			r.Name = "best Weir against " + cmp.Or(rival.name, clean(against.Peer))
		}
		if r.Name != "" {
			foot = append(foot, r)
		}
	}
	return foot
}
