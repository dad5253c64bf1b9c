package report

import (
	"bytes"
	"cmp"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	pen "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A picture is a plot as an SVG file.
type picture struct {
	name, title string // name is that of the file, without extension
	svg         []byte
}

// logFrom is the smallest ratio of the largest to the smallest figure at which an axis is logarithmic.
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
		list = append(list, drawFigures(t, t.Units[0])...)
		if slices.Contains(t.Units, "peak-B") && kindOf(t.Units[0]) == kindTime {
			list = append(list, drawFigures(t, "peak-B")...)
		}
	}
	return list
}

// worthDrawing leaves out tables that differ from others only in the limit or in GOMAXPROCS, if there are
// many. The tables of the report have their figures.
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

// drawFigures draws the figures of a unit as points with their intervals, the least at the top.
func drawFigures(t record.Table, unit string) []picture {
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r record.Row) bool { return !usable(r.Cells[unit]) || r.Cells[unit].Center < 0 })
	slices.SortStableFunc(rows, func(a, b record.Row) int { return cmp.Compare(b.Cells[unit].Center, a.Cells[unit].Center) })
	if len(rows) < 2 || rows[0].Cells[unit].Center <= 0 {
		return nil
	}
	most, least := rows[0].Cells[unit].Center, rows[len(rows)-1].Cells[unit].Center
	inTidy, suffix := tidy(1, unit)
	scale := benchunit.CommonScale([]float64{most * inTidy, max(least*inTidy, most*inTidy/1e6)}, benchunit.Decimal)
	factor := inTidy / scale.Factor
	p := plot.New()
	p.X.Min, p.X.Label.Text = 0, join([]string{unitTitle(unit), scale.Prefix + suffix}, ", ")
	if least > 0 && most/least > logFrom {
		p.X.Min = least * factor / 1.3
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	bars := &plotter.XErrorBars{LineStyle: plotter.DefaultLineStyle, CapWidth: 4}
	dots := &plotter.Scatter{GlyphStyleFunc: func(k int) pen.GlyphStyle {
		return pen.GlyphStyle{Color: colorOf(rows[k].Peer), Radius: 4, Shape: pen.CircleGlyph{}}
	}}
	var names []string
	for k, r := range rows {
		c := r.Cells[unit]
		at := plotter.XY{X: c.Center * factor, Y: float64(k)}
		var around struct{ Low, High float64 }
		if c.Low < c.High && !math.IsInf(c.Low, 0) && !math.IsInf(c.High, 0) {
			around.Low, around.High = min((c.Center-c.Low)*factor, at.X-p.X.Min), min((c.High-c.Center)*factor, 1.3*most*factor)
		}
		bars.XYs, bars.XErrors, dots.XYs = append(bars.XYs, at), append(bars.XErrors, around), append(dots.XYs, at)
		names = append(names, clean(r.Peer)+", "+figure(c.Center, unit))
	}
	p.NominalY(names...)
	p.Add(&plotter.Grid{Vertical: plotter.DefaultGridLineStyle}, bars, dots)
	return []picture{draw(fileName(whereOf(t), unitTitle(unit)), whereOf(t), p, vg.Length(18*len(rows)+90))}
}

// colorOf uses only three colours, as the peer's name is next to the point.
func colorOf(name string) color.Color {
	switch {
	case isWeir(name):
		return color.RGBA{0x0f, 0x76, 0x6e, 255}
	case isPlain(name):
		return color.Black
	}
	return color.Gray{0x90}
}

// draw draws a plot, with its legend at the right. Without a height it has the usual one.
func draw(name, title string, p *plot.Plot, height vg.Length) picture {
	const width = 540
	canvas := vgsvg.New(width, cmp.Or(height, 300))
	all := pen.New(canvas)
	room, legend := vg.Length(0), p.Legend
	if names := legend.Rectangle(all).Size().X; names > 0 {
		room = names + 24 // the letters of another font may be wider
	}
	p.Title.Text, p.Legend = strings.Replace(title, ", ", "\n", 1), plot.NewLegend()
	p.Draw(pen.Crop(all, 0, -room, 0, 0))
	legend.Draw(pen.Crop(all, width-room, 0, 0, 0))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		panic(err) // writing to a buffer never fails
	}
	return picture{name, title, svg.Bytes()}
}

var fileUnsafe = regexp.MustCompile(`[^a-z0-9.]+`)

// fileName returns a name that is valid on every file system.
func fileName(parts ...string) string {
	name := fileUnsafe.ReplaceAllString(strings.ToLower(strings.Join(parts, "-")), "-")
	return strings.Trim(name, "-.")
}

// A curve is the curve of one peer.
type curve struct {
	name   string
	points plotter.XYs
}

// newPlot returns a plot of curves, whose names stand in the order of their ends.
func newPlot(curves []curve, x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Add(plotter.NewGrid())
	end := func(c curve) float64 { return c.points[len(c.points)-1].Y }
	slices.SortStableFunc(curves, func(a, b curve) int { return cmp.Compare(end(b), end(a)) })
	for k, c := range curves {
		line := &plotter.Line{XYs: c.points, LineStyle: pen.LineStyle{Color: plotutil.Color(k), Width: 1.3, Dashes: plotutil.Dashes(k)}}
		if isWeir(c.name) {
			line.Color, line.Width = colorOf(c.name), 2
		}
		p.Add(line)
		p.Legend.Add(c.name, line)
	}
	p.Legend.Top, p.Legend.Left = true, true
	return p
}

// fewestTasks is how many numbers of tasks a curve needs.
const fewestTasks = 3

// costPictures draws the ratio by length of task, which shows from what length on a peer pays. It also draws
// the ratio by number of tasks, as document 001 did.
func costPictures(e experiment) []picture {
	var list []picture
	for _, part := range split(e, record.ProcsKey) {
		var curves []curve
		for _, name := range peersOf(part.tables) {
			c := curve{name: clean(name)}
			for _, p := range settledPoints(part, name) {
				c.points = append(c.points, plotter.XY{X: p.length, Y: p.ratio})
			}
			curves = append(curves, c)
		}
		procs := paramText(record.ProcsKey, paramOf(part.tables[0], record.ProcsKey))
		list = append(list, drawRatios(e, procs, "length of the task in place, ns", "time over the work in place", curves)...)
		for _, set := range split(part, "roots") {
			curves := slices.DeleteFunc(byTasks(set, peer.InPlace), func(c curve) bool { return len(c.points) < fewestTasks })
			where := paramText("roots", paramOf(set.tables[0], "roots")) + " · " + procs
			list = append(list, drawRatios(e, where, "tasks", "time over the work in place", curves)...)
		}
	}
	return list
}

// fewPictures draws, for each length of task, the times of small sets over those of plain goroutines, by
// number of tasks.
func fewPictures(e experiment) []picture {
	var list []picture
	for _, part := range split(e, "work") {
		curves := slices.DeleteFunc(byTasks(part, peer.Go), func(c curve) bool { return isGo(c.name) })
		list = append(list, drawRatios(e, paramText("work", paramOf(part.tables[0], "work")), "tasks", "time over that of go statements", curves)...)
	}
	return list
}

// byTasks returns the ratios of the peers' times to those of one of them, by number of tasks.
func byTasks(e experiment, of string) []curve {
	var curves []curve
	for _, name := range peersOf(e.tables) {
		c := curve{name: clean(name)}
		for _, p := range costPoints(e.tables, name, of) {
			c.points = append(c.points, plotter.XY{X: p.tasks, Y: p.ratio})
		}
		curves = append(curves, c)
	}
	return curves
}

// drawRatios draws curves of ratios of times.
func drawRatios(e experiment, where, x, y string, curves []curve) []picture {
	curves = slices.DeleteFunc(curves, func(c curve) bool { return c.name == peer.InPlace || len(c.points) < 2 })
	for _, c := range curves {
		slices.SortFunc(c.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	}
	p := newPlot(curves, x, y)
	if !(p.X.Min < p.X.Max) {
		return nil
	}
	p.Y.Min, p.Y.Max = p.Y.Min/1.15, p.Y.Max*1.15
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	title := join([]string{clean(e.suite) + "/" + clean(e.name), where}, ", ")
	return []picture{draw(fileName(title, x), title, p, 0)}
}
