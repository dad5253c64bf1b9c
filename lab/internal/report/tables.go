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

// A grid is a table ready to be shown.
type grid struct {
	Suite, Experiment string
	Title, About      string // of the experiment
	Params            string // what all of the grid has in common

	Corner  string // above the names
	Columns []column
	Rows    []row
	Foot    []row // how Weir stands in each column

	Leads   []string // how Weir stands, in sentences
	Notes   []string // what must be known to read the figures
	Details []detail

	// Bulk marks figures that are drawn elsewhere; a terminal leaves them out.
	Bulk bool
}

type column struct{ Group, Name string }

type row struct {
	Name   string
	Tag    string // next to the name
	Theirs bool   // a document's figures
	Cells  []cell
}

type cell struct {
	Main, Side string
	Best       bool // of its column
	Verdict    verdict
}

// A detail is the reason of a verdict.
type detail struct {
	Row, Peer string
	Verdict   verdict
	Text      string
}

// mostColumns is how many columns a grid may have before it is split in several.
const mostColumns = 12

// experimentGrids shapes an experiment: as one grid for each of its tables, or, if
// there are several and they hold little more than times, folded together.
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

// plainGrid shows one table: a row for each peer, a column for each unit.
func plainGrid(t record.Table, figures []theirs.Figure) grid {
	g := newGrid(t.Suite, t.Experiment)
	g.Params = paramsText(t.Params, t.Procs)
	g.addFailures(t)
	if len(t.Units) == 0 {
		return g
	}
	first := t.Units[0]
	plain, hasGo := best(t.Rows, first, isPlain)
	weir, hasWeir := best(t.Rows, first, isWeir)
	for k, unit := range t.Units {
		g.Columns = append(g.Columns, column{Name: unitTitle(unit)})
		if k == 0 && hasGo {
			g.Columns = append(g.Columns, column{Name: "against " + clean(plain.Peer)})
		}
		if k == 0 && hasWeir {
			g.Columns = append(g.Columns, column{Name: "against " + clean(weir.Peer)})
		}
	}
	for _, r := range t.Rows {
		out := row{Name: clean(r.Peer)}
		for k, unit := range t.Units {
			top, _ := best(t.Rows, unit, notInPlace)
			out.Cells = append(out.Cells, figureCell(r, unit, top))
			if k == 0 && hasGo {
				out.Cells = append(out.Cells, againstCell(r, plain, first))
			}
			if k == 0 && hasWeir {
				out.Cells = append(out.Cells, againstCell(r, weir, first))
			}
		}
		g.Rows = append(g.Rows, out)
	}
	if hasWeir {
		for k, unit := range t.Units {
			if k != 0 && unit != "peak-B" {
				continue
			}
			// The form that is best in the first unit must do for all: a library that wins on time
			// with one form and on memory with another wins on neither.
			if lead := leadSentence(t.Rows, weir, unit); lead != "" {
				g.Leads = append(g.Leads, lead)
			}
		}
	}
	for _, f := range figures {
		if !f.Stands(t) {
			continue
		}
		out := theirRow(f)
		for k, unit := range t.Units {
			out.Cells = append(out.Cells, theirCell(f, unit))
			if k == 0 {
				out.Cells = append(out.Cells, make([]cell, len(g.Columns)-len(t.Units))...)
			}
		}
		if slices.ContainsFunc(out.Cells, func(c cell) bool { return c.Main != "" }) {
			g.addTheirs(out, f)
		}
	}
	return g
}

// addFailures says which peers came to no end, and why.
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

func figureCell(r record.Row, unit string, top record.Row) cell {
	c, ok := r.Cells[unit]
	if !ok || !usable(c) {
		if note(r.Notes, record.FailedNote) != "" {
			return cell{Main: "failed", Verdict: fails}
		}
		return cell{Main: "—"}
	}
	out := cell{Main: figure(c.Center, unit), Side: interval(c)}
	if kindOf(unit) != kindTime && c.Low == c.High {
		out.Side = "" // what is counted and never varies is exact
	}
	// Several may be best: allocations are often 0 for more than one.
	out.Best = notInPlace(r.Peer) && top.Peer != "" && out.Main == figure(top.Cells[unit].Center, unit)
	return out
}

func againstCell(r, base record.Row, unit string) cell {
	if r.Peer == base.Peer {
		return cell{}
	}
	return cell{Main: compare(r.Cells[unit], base.Cells[unit]).words(unit)}
}

// leadSentence says how a form of Weir stands to the best other library and to what the language
// has: a plain go statement, or objects made anew.
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
	words := ""
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

func theirRow(f theirs.Figure) row {
	machine, _, _ := strings.Cut(clean(f.Machine), ",")
	return row{Name: clean(f.Peer), Tag: join([]string{"document " + clean(f.Document), machine}, ", "), Theirs: true}
}

func theirCell(f theirs.Figure, unit string) cell {
	for _, v := range f.Values {
		if v.Unit == unit {
			return cell{Main: figure(v.Value, unit)}
		}
	}
	return cell{}
}

// addTheirs appends a row of a document's figures, and says once whose they are.
func (g *grid) addTheirs(r row, f theirs.Figure) {
	g.Rows = append(g.Rows, r)
	text := fmt.Sprintf("Document %s: its own figures (%s); no ratio is taken with them.", clean(f.Document), clean(f.Machine))
	if !slices.Contains(g.Notes, text) {
		g.Notes = append(g.Notes, text)
	}
}

// paramsText shows parameters: "limit 64 · producers 1 · GOMAXPROCS 2".
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
