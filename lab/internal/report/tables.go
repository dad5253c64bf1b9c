package report

import (
	_ "embed" // the figures of the documents
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A grid is a table that is ready to be shown.
type grid struct {
	params  string     // parameters that hold for the whole grid
	head    []string   // the titles of the columns
	rows    [][]string // each begins with its name
	notes   []string   // what a reader must know about the figures
	reasons []reason
}

// A reason says why something has a verdict.
type reason struct{ row, column, verdict, text string }

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

// add appends a column; of returns its text for each row.
func (g *grid) add(title string, of func(peer string) string) {
	g.head = append(g.head, title)
	for k, row := range g.rows {
		g.rows[k] = append(row, of(row[0]))
	}
}

// addRow appends a row; of returns its text for each column.
func (g *grid) addRow(name string, of func(column int) string) {
	row := []string{name}
	for k := range g.head {
		row = append(row, of(k))
	}
	g.rows = append(g.rows, row)
}

// plainGrid returns the grid of one table: a row for each peer, a column for each unit, and how the times of all compare with those
// of a go statement and of Weir.
func plainGrid(t record.Table) grid {
	g := grid{params: paramsText(t.Params)}
	for _, r := range t.Rows {
		g.rows = append(g.rows, []string{r.Peer})
	}
	g.addFailures(t)
	for _, unit := range t.Units {
		top, _ := best(t.Rows, unit, notInPlace)
		g.add(unitTitle(unit), func(peer string) string { return figureCell(t, peer, unit, top) })
	}
	for _, competes := range []func(string) bool{isPlain, isWeir} {
		unit := firstUnit(t)
		base, ok := best(t.Rows, unit, competes)
		if !ok {
			continue
		}
		g.add("against "+clean(base.Peer), func(peer string) string {
			if peer == base.Peer {
				return ""
			}
			return compare(t.Row(peer).Cells[unit], base.Cells[unit]).words(unit)
		})
	}
	g.addTheirs(t)
	return g
}

// firstUnit returns the unit of which ratios are; "" if nothing was measured.
func firstUnit(t record.Table) string {
	if len(t.Units) == 0 {
		return ""
	}
	return t.Units[0]
}

// addFailures adds the peers that failed, and their reasons.
func (g *grid) addFailures(t record.Table) {
	for _, r := range t.Rows {
		if text := note(r.Notes, record.FailedNote); text != "" {
			g.reasons = append(g.reasons, reason{r.Peer, paramsText(t.Params), fails, text})
		}
	}
}

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

// addTheirs adds the figures of the documents in rows below, and one note for each document. A figure of one core stands
// next to ours of one core, any other next to ours of several cores.
func (g *grid) addTheirs(t record.Table) {
	for _, f := range theirs() {
		if !t.Is(f.ID.Setting()) || (f.ID.Procs == 1) != (t.Procs == 1) {
			continue
		}
		document, machine := record.Find(f.Notes, "document"), record.Find(f.Notes, "machine")
		short, _, _ := strings.Cut(machine, ",")
		g.addRow(fmt.Sprintf("%s, document %s, %s", f.ID.Peer, document, short), func(k int) string {
			if k >= len(t.Units) || math.IsNaN(f.Value(t.Units[k])) {
				return ""
			}
			return figure(f.Value(t.Units[k]), t.Units[k])
		})
		text := fmt.Sprintf("Document %s: its own figures (%s); no ratio is taken with them.", document, machine)
		if !slices.Contains(g.notes, text) {
			g.notes = append(g.notes, text)
		}
	}
}

// paramsText formats parameters: "limit 64 · producers 1 · GOMAXPROCS 2".
func paramsText(params []record.Setting) string {
	var parts []string
	for _, p := range params {
		parts = append(parts, clean(p.Key)+" "+grouped(p.Value))
	}
	return strings.Join(parts, " · ")
}
