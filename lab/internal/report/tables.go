package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/theirs"
)

// A grid is a table that is ready to be shown.
type grid struct {
	Suite, Experiment string
	Title, About      string // of the experiment
	Params            string // parameters that hold for the whole grid

	Corner  string // text above the names
	Columns []column
	Rows    []row
	Foot    []row // how Weir stands in each column

	Leads   []string // how Weir stands, in sentences
	Notes   []string // what a reader must know about the figures
	Details []detail

	peers []string // the names in the rows of measured peers

	// Bulk marks figures that are also drawn; a terminal leaves them out.
	Bulk bool
}

type column struct {
	Group, Name string

	table record.Table // the table of the column's figures, if they are from one table
	unit  string       // the unit of these figures
}

type row struct {
	Name   string
	Tag    string // text next to the name
	Theirs bool   // the figures are a document's
	Cells  []cell
}

type cell struct {
	Main, Side string
	Best       bool // best of its column
	Verdict    verdict
}

// A detail is the reason of a verdict.
type detail struct {
	Row, Peer string
	Verdict   verdict
	Text      string
}

// mostColumns is how many columns a grid may have before it is split into several.
const mostColumns = 12

// experimentGrids returns the grids of an experiment. That is one grid for each table; but several tables
// that hold little more than times are folded together.
func experimentGrids(e experiment, figures []theirs.Figure) []grid {
	if len(e.tables) > 1 && !slices.ContainsFunc(e.tables, hasFurtherUnits) {
		return foldedGrids(e, figures)
	}
	var list []grid
	for _, t := range e.tables {
		list = append(list, plainGrid(t, figures))
	}
	return list
}

func hasFurtherUnits(t record.Table) bool {
	return slices.ContainsFunc(t.Units[min(1, len(t.Units)):], func(unit string) bool {
		return unit != "B/op" && unit != "allocs/op"
	})
}

func newGrid(suite, name string) grid {
	about := experimentTitle(suite, name)
	return grid{
		Suite: clean(suite), Experiment: clean(name), Title: about.title, About: about.about, Corner: "peer",
	}
}

// newPeerGrid returns a grid with a row for each peer, and no column yet.
func newPeerGrid(suite, name string, peers []string) grid {
	g := newGrid(suite, name)
	g.peers = peers
	for _, peer := range peers {
		g.Rows = append(g.Rows, row{Name: clean(peer)})
	}
	return g
}

// add appends a column; of returns its cell for each peer.
func (g *grid) add(c column, of func(peer string) cell) {
	g.Columns = append(g.Columns, c)
	for k, peer := range g.peers {
		g.Rows[k].Cells = append(g.Rows[k].Cells, of(peer))
	}
}

// plainGrid returns the grid of one table: a row for each peer, a column for each unit.
func plainGrid(t record.Table, figures []theirs.Figure) grid {
	g := newPeerGrid(t.Suite, t.Experiment, peersOf([]record.Table{t}))
	g.Params = paramsText(t.Params, t.Procs)
	g.addFailures(t)
	if len(t.Units) == 0 {
		g.Rows = nil
		return g
	}
	for k, unit := range t.Units {
		top, _ := best(t.Rows, unit, notInPlace)
		g.add(column{Name: unitTitle(unit), table: t, unit: unit}, func(peer string) cell { return figureCell(t, peer, unit, top) })
		if k > 0 {
			continue
		}
		for _, competes := range []func(string) bool{isPlain, isWeir} {
			if base, ok := best(t.Rows, unit, competes); ok {
				g.add(column{Name: "against " + clean(base.Peer)}, func(peer string) cell { return againstCell(t, peer, base, unit) })
			}
		}
	}
	if weir, ok := best(t.Rows, t.Units[0], isWeir); ok {
		// The form that is best in the first unit stands for the library in all units. A library that wins on
		// time with one form and on memory with another wins on neither.
		for k, unit := range t.Units {
			if lead := leadSentence(t.Rows, weir, unit); lead != "" && (k == 0 || unit == "peak-B") {
				g.Leads = append(g.Leads, lead)
			}
		}
	}
	g.addTheirs(figures)
	return g
}

// addFailures adds the peers that failed, and their reasons.
func (g *grid) addFailures(t record.Table) {
	for _, r := range t.Rows {
		if reason := note(r.Notes, record.FailedNote); reason != "" {
			g.Details = append(g.Details, detail{clean(r.Peer), paramsText(t.Params, t.Procs), fails, reason})
		}
	}
}

func isGo(name string) bool       { return name == peer.Go }
func isPlain(name string) bool    { return name == peer.Go || name == peer.Made } // no table has both
func notInPlace(name string) bool { return name != peer.InPlace }

// figureCell returns the cell of a peer's figure in a table; top is the row that is best in the unit.
func figureCell(t record.Table, peer, unit string, top record.Row) cell {
	r, _ := rowOf(t, peer)
	c, ok := r.Cells[unit]
	if !ok || !usable(c) {
		if note(r.Notes, record.FailedNote) != "" {
			return cell{Main: "failed", Verdict: fails}
		}
		return cell{Main: "—"}
	}
	out := cell{Main: figure(c.Center, unit), Side: interval(c)}
	if kindOf(unit) != kindTime && c.Low == c.High {
		out.Side = "" // a count that never varies is exact
	}
	// Several may be best: allocations are often 0 for more than one.
	out.Best = notInPlace(r.Peer) && top.Peer != "" && out.Main == figure(top.Cells[unit].Center, unit)
	return out
}

func againstCell(t record.Table, peer string, base record.Row, unit string) cell {
	if peer == base.Peer {
		return cell{}
	}
	r, _ := rowOf(t, peer)
	return cell{Main: compare(r.Cells[unit], base.Cells[unit]).words(unit)}
}

// leadSentence compares a form of Weir with the best other library, and with the means of the language: a
// plain go statement, or a new object for each use.
func leadSentence(rows []record.Row, weir record.Row, unit string) string {
	if !usable(weir.Cells[unit]) {
		return ""
	}
	var parts []string
	if other, ok := best(rows, unit, isOther); ok {
		parts = append(parts, than(weir, other, unit)+", the best other library")
	}
	if plain, ok := best(rows, unit, isPlain); ok {
		parts = append(parts, than(weir, plain, unit))
	}
	if len(parts) == 0 {
		return ""
	}
	verb := "takes"
	if kindOf(unit) == kindTime {
		verb = "is"
	}
	return fmt.Sprintf("%s: %s %s %s.", unitTitle(unit), clean(weir.Peer), verb, strings.Join(parts, "; "))
}

func than(a, b record.Row, unit string) string {
	c := compare(a.Cells[unit], b.Cells[unit])
	var words string
	switch {
	case !c.valid:
		return fmt.Sprintf("%s against %s for %s",
			figure(a.Cells[unit].Center, unit), figure(b.Cells[unit].Center, unit), clean(b.Peer))
	case c.equal && kindOf(unit) == kindTime:
		words = "about equal to " + clean(b.Peer)
	case c.equal:
		words = "about as much as " + clean(b.Peer)
	default:
		words = c.claimed(unit) + " than " + clean(b.Peer)
	}
	if !c.known {
		words += " (too few rounds to be sure)"
	}
	return words
}

// addTheirs adds the figures of the documents in rows below, each in the column that it belongs to. It adds
// one note for each document.
func (g *grid) addTheirs(figures []theirs.Figure) {
	for _, f := range figures {
		machine, _, _ := strings.Cut(clean(f.Machine), ",")
		r := row{Name: clean(f.Peer), Tag: join([]string{"document " + clean(f.Document), machine}, ", "), Theirs: true}
		found := false
		for _, c := range g.Columns {
			var at cell
			for _, v := range f.Values {
				if v.Unit == c.unit && f.Stands(c.table) {
					at.Main, found = figure(v.Value, v.Unit), true
				}
			}
			r.Cells = append(r.Cells, at)
		}
		if !found {
			continue
		}
		same := slices.IndexFunc(g.Rows, func(o row) bool { return o.Theirs && o.Name == r.Name && o.Tag == r.Tag })
		if same < 0 {
			g.Rows = append(g.Rows, r)
			text := fmt.Sprintf("Document %s: its own figures (%s); no ratio is taken with them.", clean(f.Document), clean(f.Machine))
			if !slices.Contains(g.Notes, text) {
				g.Notes = append(g.Notes, text)
			}
			continue
		}
		for k, c := range r.Cells {
			if c.Main != "" {
				g.Rows[same].Cells[k] = c
			}
		}
	}
}

// paramsText formats parameters: "limit 64 · producers 1 · GOMAXPROCS 2".
func paramsText(params []record.Setting, procs int) string {
	var parts []string
	for _, p := range params {
		parts = append(parts, paramText(p.Key, p.Value))
	}
	if procs > 0 {
		parts = append(parts, paramText(procsKey, strconv.Itoa(procs)))
	}
	return strings.Join(parts, " · ")
}

func paramText(key, value string) string { return clean(key) + " " + grouped(value) }
