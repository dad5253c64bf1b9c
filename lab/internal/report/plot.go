package report

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/64ed045f/weir/lab/internal/record"
)

// logFrom is the ratio of the largest to the smallest figure from which on a
// length cannot show both.
const logFrom = 40

// experimentPictures draws what is worth a picture.
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
		draw := drawBars
		if slices.Contains(t.Units, "peak-B") && kindOf(t.Units[0]) == kindTime {
			draw = drawCloud
		}
		list = append(list, draw(t)...)
	}
	return list
}

// worthDrawing leaves out what differs only in a limit or in GOMAXPROCS, where
// there are many: the tables have them.
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

// A mark is one peer's place in a picture.
type mark struct {
	name  string
	value record.Cell
}

func marksOf(t record.Table, unit string) []mark {
	var marks []mark
	for _, r := range t.Rows {
		if c, ok := r.Cells[unit]; ok && usable(c) && c.Center >= 0 {
			marks = append(marks, mark{clean(r.Peer), c})
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.value.Center, b.value.Center) })
	return marks
}

func nameOfPicture(t record.Table, more string) string {
	return fileName(t.Suite, t.Experiment, paramsText(t.Params, t.Procs), more)
}

func titleOf(t record.Table) string {
	return experimentTitle(t.Suite, t.Experiment).title
}

// drawBars draws the first unit: as lengths, or as points on a logarithmic scale
// where the figures lie far apart.
func drawBars(t record.Table) []picture {
	unit := t.Units[0]
	marks := marksOf(t, unit)
	if len(marks) < 2 || marks[len(marks)-1].value.Center <= 0 {
		return nil
	}
	low, high := marks[0].value.Center, marks[len(marks)-1].value.Center
	log := low > 0 && high/low > logFrom
	const line = 19
	f := frame{
		name: nameOfPicture(t, ""), title: titleOf(t), below: join([]string{unitTitle(unit), paramsText(t.Params, t.Procs)}, " · "),
		height: vg.Length(line*len(marks) + 44),
	}
	for k := range marks {
		style := nameLetters(11, marks[k].name)
		marks[k].name = fit(style, marks[k].name, 120)
		f.left = max(f.left, style.Width(marks[k].name)+8)
		f.right = max(f.right, letters(11, "muted").Width(figure(marks[k].value.Center, unit))+12)
	}
	p := newPlot()
	p.HideY()
	p.Y.Min, p.Y.Max = -0.5, float64(len(marks))-0.5
	if log {
		f.height += 18
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = decades{unit}
		p.X.Min, p.X.Max = low/1.3, high*1.1
		p.X.LineStyle.Width = 0
	} else {
		p.HideX()
		p.X.Min, p.X.Max = 0, high
		for _, m := range marks {
			if !math.IsInf(m.value.High, 0) {
				p.X.Max = max(p.X.Max, min(m.value.High, 1.3*high))
			}
		}
	}
	p.Add(bars{marks, unit, log})
	return []picture{f.draw(p)}
}

// bars is drawn by a plot, whose X axis is the value; the first mark is on top.
type bars struct {
	marks []mark
	unit  string
	log   bool
}

func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const half = 5
	if b.log {
		for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			c.StrokeLine2(draw.LineStyle{Color: themed("line"), Width: 0.5}, x(tick.Value), c.Min.Y, x(tick.Value), c.Max.Y)
		}
	}
	for k, m := range b.marks {
		at := y(float64(len(b.marks) - 1 - k))
		end := x(m.value.Center)
		fill := barColor(m.name)
		if b.log {
			c.StrokeLine2(draw.LineStyle{Color: themed("line"), Width: 1}, c.Min.X, at, end, at)
			dot(c, themed(fill), end, at, 4)
		} else {
			c.FillPolygon(themed(fill), []vg.Point{
				{X: c.Min.X, Y: at - half}, {X: c.Min.X, Y: at + half}, {X: end, Y: at + half}, {X: end, Y: at - half},
			})
		}
		right := end
		if from, to, ok := whisker(m.value, p.X.Min, p.X.Max); ok && x(to)-x(from) > 1 {
			pen := draw.LineStyle{Color: themed("ink"), Width: 0.9}
			c.StrokeLine2(pen, x(from), at, x(to), at)
			c.StrokeLine2(pen, x(from), at-2, x(from), at+2)
			c.StrokeLine2(pen, x(to), at-2, x(to), at+2)
			right = max(right, x(to))
		}
		name := nameLetters(11, m.name)
		name.XAlign = text.XRight
		c.FillText(name, vg.Point{X: c.Min.X - 6, Y: at}, m.name)
		c.FillText(letters(11, "muted"), vg.Point{X: right + 7, Y: at}, figure(m.value.Center, b.unit))
	}
}

// barColor needs no more than three: the peer's name stands next to the bar.
func barColor(name string) string {
	switch {
	case isWeir(name):
		return "weir"
	case isPlain(name):
		return "go"
	}
	return "other"
}

// whisker is the part of an interval that can be drawn.
func whisker(c record.Cell, low, high float64) (from, to float64, ok bool) {
	if math.IsInf(c.Low, 0) || math.IsInf(c.High, 0) || math.IsNaN(c.Low) || math.IsNaN(c.High) || c.Low >= c.High {
		return 0, 0, false
	}
	from, to = max(c.Low, low), min(c.High, high)
	return from, to, from < to
}

func dot(c draw.Canvas, fill color.Color, x, y, radius vg.Length) {
	c.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: radius, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
}
