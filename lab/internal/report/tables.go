package report

import (
	_ "embed" // the figures of the documents
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A grid is a table that is ready to be shown.
type grid struct {
	params  string // parameters that hold for the whole grid
	columns []column
	rows    [][]string // each begins with its name
	notes   []string   // what a reader must know about the figures
	reasons []reason
}

// A column has figures of one unit of one table, if it has a table.
type column struct {
	name  string
	table record.Table
	unit  string
}

// A reason says why something has a verdict.
type reason struct{ row, peer, verdict, text string }

// newPeerGrid returns a grid with a row for each peer, and no column yet.
func newPeerGrid(tables []record.Table) (g grid) {
	for _, name := range peersOf(tables) {
		g.rows = append(g.rows, []string{name})
	}
	return g
}

// add appends a column; of returns its text for each row.
func (g *grid) add(c column, of func(peer string) string) {
	g.columns = append(g.columns, c)
	for k, row := range g.rows {
		g.rows[k] = append(row, of(row[0]))
	}
}

// row returns the row of that name. It makes it if there is none.
func (g *grid) row(name string) []string {
	k := slices.IndexFunc(g.rows, func(row []string) bool { return row[0] == name })
	if k < 0 {
		k = len(g.rows)
		g.rows = append(g.rows, append([]string{name}, make([]string, len(g.columns))...))
	}
	return g.rows[k]
}

// experimentGrids returns the grids of an experiment. That is one grid for each table; but several tables
// that hold little more than times are folded together.
func experimentGrids(e experiment) []grid {
	if len(e.tables) > 1 && !slices.ContainsFunc(e.tables, hasFurtherUnits) {
		return foldedGrids(e)
	}
	var list []grid
	for _, t := range e.tables {
		list = append(list, plainGrid(t))
	}
	return list
}

func hasFurtherUnits(t record.Table) bool {
	return slices.ContainsFunc(t.Units[min(1, len(t.Units)):], func(unit string) bool {
		return unit != "B/op" && unit != "allocs/op"
	})
}

// plainGrid returns the grid of one table: a row for each peer, a column for each unit.
func plainGrid(t record.Table) grid {
	g := newPeerGrid([]record.Table{t})
	g.params = paramsText(t.Params)
	g.addFailures(t)
	for k, unit := range t.Units {
		top, _ := best(t.Rows, unit, notInPlace)
		g.add(column{unitTitle(unit), t, unit}, func(peer string) string { return figureCell(t, peer, unit, top) })
		if k > 0 {
			continue
		}
		for _, competes := range []func(string) bool{isPlain, isWeir} {
			if base, ok := best(t.Rows, unit, competes); ok {
				g.add(column{name: "against " + clean(base.Peer)}, func(peer string) string {
					if peer == base.Peer {
						return ""
					}
					return compare(t.Row(peer).Cells[unit], base.Cells[unit]).words(unit)
				})
			}
		}
	}
	g.addTheirs()
	g.addFeet()
	return g
}

// addFailures adds the peers that failed, and their reasons.
func (g *grid) addFailures(t record.Table) {
	for _, r := range t.Rows {
		if text := note(r.Notes, record.FailedNote); text != "" {
			g.reasons = append(g.reasons, reason{r.Peer, paramsText(t.Params), fails, text})
		}
	}
}

func isGo(name string) bool       { return name == peer.Go }
func isPlain(name string) bool    { return name == peer.Go || name == peer.Made } // no table has both
func notInPlace(name string) bool { return name != peer.InPlace }

// figureCell returns a peer's figure in a table; top is the row that is best in the unit.
func figureCell(t record.Table, peer, unit string, top record.Row) string {
	r := t.Row(peer)
	c := r.Cells[unit]
	if !usable(c) {
		if note(r.Notes, record.FailedNote) != "" {
			return "✗ failed"
		}
		return "—"
	}
	text := figure(c.Center, unit)
	// Several may be best: allocations are often 0 for more than one.
	isBest := notInPlace(r.Peer) && top.Peer != "" && text == figure(top.Cells[unit].Center, unit)
	if kindOf(unit) == kindTime || c.Low != c.High { // a count that never varies is exact
		text += " " + interval(c)
	}
	if isBest {
		return "★ " + text
	}
	return text
}

//go:embed theirs.txt
var theirText string

// theirs are the figures that the documents publish.
var theirs = sync.OnceValue(func() []record.Result {
	file, err := record.Read(strings.NewReader(theirText), "theirs.txt")
	if err != nil {
		panic(err)
	}
	return file.Results
})

// addTheirs adds the figures of the documents in rows below, each in the column that it belongs to, and one note for
// each document. A figure of one core stands next to ours of one core, any other next to ours of several cores.
func (g *grid) addTheirs() {
	for _, f := range theirs() {
		document, machine := record.Find(f.Notes, "document"), record.Find(f.Notes, "machine")
		short, _, _ := strings.Cut(machine, ",")
		name := fmt.Sprintf("%s, document %s, %s", f.ID.Peer, document, short)
		for k, c := range g.columns {
			for _, v := range f.Values {
				if v.Unit != c.unit || !c.table.Is(f.ID.Setting()) || (f.ID.Procs == 1) != (c.table.Procs == 1) {
					continue
				}
				g.row(name)[k+1] = figure(v.Value, v.Unit)
				text := fmt.Sprintf("Document %s: its own figures (%s); no ratio is taken with them.", document, machine)
				if !slices.Contains(g.notes, text) {
					g.notes = append(g.notes, text)
				}
			}
		}
	}
}

// paramsText formats parameters: "limit 64 · producers 1 · GOMAXPROCS 2".
func paramsText(params []record.Setting) string {
	var parts []string
	for _, p := range params {
		parts = append(parts, paramText(p.Key, p.Value))
	}
	return strings.Join(parts, " · ")
}

func paramText(key, value string) string { return clean(key) + " " + grouped(value) }
