package report

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/64ed045f/weir/lab/internal/record"
)

// logFrom is the smallest ratio of the largest to the smallest figure at which bars are too unequal to show both.
const logFrom = 40

// experimentPictures draws the results of an experiment that are worth a picture.
func experimentPictures(e experiment, usual int) []picture {
	switch {
	case e.suite == suiteBehaviour, e.is(suiteSurvey, "feature"):
		return nil
	case e.is(suiteCost, "curve"):
		return costPictures(e)
	case e.is(suiteCold, "few"):
		return fewPictures(e)
	case e.suite == suiteHTTP:
		return httpPictures(e)
	}
	var list []picture
	for _, t := range worthDrawing(e, usual) {
		if len(t.Units) == 0 {
			continue
		}
		list = append(list, drawBars(t, t.Units[0], "")...)
		if slices.Contains(t.Units, "peak-B") && kindOf(t.Units[0]) == kindTime {
			list = append(list, drawBars(t, "peak-B", "memory")...)
		}
	}
	return list
}

// worthDrawing leaves out tables that differ from others only in the limit or in GOMAXPROCS, if there are
// many. The tables on the page have their figures.
func worthDrawing(e experiment, usual int) []record.Table {
	tables := e.tables
	keep := func(want func(t record.Table) bool) {
		if slices.ContainsFunc(tables, want) && len(tables) > 2 {
			tables = slices.DeleteFunc(slices.Clone(tables), func(t record.Table) bool { return !want(t) })
		}
	}
	keep(func(t record.Table) bool { return t.Procs == usual })
	keep(func(t record.Table) bool { return paramOf(t, "limit") == "64" })
	return tables
}

// drawn returns the rows that have a figure of the unit, the least first.
func drawn(t record.Table, unit string) []record.Row {
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r record.Row) bool { return !usable(r.Cells[unit]) || r.Cells[unit].Center < 0 })
	slices.SortStableFunc(rows, func(a, b record.Row) int { return cmp.Compare(a.Cells[unit].Center, b.Cells[unit].Center) })
	return rows
}

func nameOfPicture(t record.Table, more string) string {
	return fileName(t.Suite, t.Experiment, paramsText(t.Params, t.Procs), more)
}

func titleOf(t record.Table) string {
	return experimentTitle(t.Suite, t.Experiment).title
}

// drawBars draws the figures of a unit as bars, or as points on a logarithmic scale if they are far apart.
// The least is at the top.
func drawBars(t record.Table, unit, more string) []picture {
	rows := drawn(t, unit)
	if len(rows) < 2 || rows[len(rows)-1].Cells[unit].Center <= 0 {
		return nil
	}
	low, high := rows[0].Cells[unit].Center, rows[len(rows)-1].Cells[unit].Center
	f := frame{
		name: nameOfPicture(t, more), title: titleOf(t), below: join([]string{unitTitle(unit), paramsText(t.Params, t.Procs)}, " · "),
		height: vg.Length(19*len(rows) + 44),
	}
	p := newPlot()
	p.HideY()
	log, from := low > 0 && high/low > logFrom, 0.0
	if log {
		from = low / 1.3
		f.height += 18
		p.X.Scale, p.X.Tick.Marker, p.X.LineStyle.Width = plot.LogScale{}, decades{unit}, 0
		p.Add(&plotter.Grid{Vertical: faint})
	} else {
		p.HideX()
	}
	names, figures := &plotter.Labels{Offset: vg.Point{X: -6}}, &plotter.Labels{Offset: vg.Point{X: 7}}
	for k, r := range rows {
		name, value, at := clean(r.Peer), r.Cells[unit], -float64(k)
		begin, end := plotter.XY{X: from, Y: at}, plotter.XY{X: value.Center, Y: at}
		right := end
		stem := draw.LineStyle{Color: themed(barColor(name)), Width: 10}
		if log {
			stem = draw.LineStyle{Color: themed("line"), Width: 1}
		}
		p.Add(line(stem, begin, end))
		if least, most, ok := whisker(value, from, 1.3*high); ok {
			right.X = max(right.X, most)
			p.Add(&plotter.XErrorBars{
				XYs: plotter.XYs{end}, XErrors: plotter.XErrors{{Low: end.X - least, High: most - end.X}},
				LineStyle: draw.LineStyle{Color: themed("ink"), Width: 0.9}, CapWidth: 4,
			})
		}
		if log {
			dot := draw.GlyphStyle{Color: themed(barColor(name)), Radius: 4, Shape: draw.CircleGlyph{}}
			p.Add(&plotter.Scatter{XYs: plotter.XYs{end}, GlyphStyle: dot})
		}
		style := nameLetters(11, name)
		style.XAlign = text.XRight
		addLabel(names, begin, style, fit(style, name, 120))
		addLabel(figures, right, letters(11, "muted"), figure(value.Center, unit))
	}
	p.Add(names, figures)
	return []picture{f.draw(p)}
}

func line(pen draw.LineStyle, points ...plotter.XY) plot.Plotter {
	return &plotter.Line{XYs: points, LineStyle: pen}
}

func addLabel(to *plotter.Labels, at plotter.XY, style text.Style, label string) {
	to.XYs, to.TextStyle, to.Labels = append(to.XYs, at), append(to.TextStyle, style), append(to.Labels, label)
}

// barColor uses only three colours, as the peer's name is next to the bar.
func barColor(name string) string {
	switch {
	case isWeir(name):
		return "weir"
	case isPlain(name):
		return "go"
	}
	return "other"
}

// whisker returns the part of an interval that fits into the plot.
func whisker(c record.Cell, low, high float64) (from, to float64, ok bool) {
	if math.IsInf(c.Low, 0) || math.IsInf(c.High, 0) || math.IsNaN(c.Low) || math.IsNaN(c.High) || c.Low >= c.High {
		return 0, 0, false
	}
	from, to = max(c.Low, low), min(c.High, high)
	return from, to, from < to
}
