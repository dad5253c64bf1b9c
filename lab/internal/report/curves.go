package report

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// A curve is the curve of one peer.
type curve struct {
	name   string
	points plotter.XYs
}

// fewestTasks is how many numbers of tasks a curve needs.
const fewestTasks = 3

// costPictures draws the ratio by length of task, which shows from what length on a peer pays. It also draws
// the ratio by number of tasks, as document 001 did.
func costPictures(e experiment) []picture {
	const title = "Time over the work in place"
	var list []picture
	for _, part := range split(e, procsKey) {
		var curves []curve
		for _, name := range peersOf(part.tables) {
			c := curve{name: clean(name)}
			for _, p := range settledPoints(part, name) {
				c.points = append(c.points, plotter.XY{X: p.length, Y: p.ratio})
			}
			curves = append(curves, c)
		}
		procs := paramText(procsKey, paramOf(part.tables[0], procsKey))
		list = append(list, drawRatios(title, fileName(e.suite, e.name, procs), procs+" · by length of the task", "ns", "one task, in place", curves)...)
		for _, set := range split(part, "roots") {
			curves := slices.DeleteFunc(byTasks(set, peer.InPlace), func(c curve) bool { return len(c.points) < fewestTasks })
			where := paramText("roots", paramOf(set.tables[0], "roots")) + " · " + procs
			list = append(list, drawRatios(title, fileName(e.suite, e.name, where), where+" · by number of tasks", "tasks", "tasks", curves)...)
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
		where := paramText("work", paramOf(part.tables[0], "work"))
		list = append(list, drawRatios("Time over that of go statements", fileName(e.suite, e.name, where), where+" · by number of tasks", "tasks", "tasks", curves)...)
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
func drawRatios(title, name, below, unit, axis string, curves []curve) []picture {
	curves = slices.DeleteFunc(curves, func(c curve) bool { return c.name == peer.InPlace || len(c.points) < 2 })
	for _, c := range curves {
		slices.SortFunc(c.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	}
	p := newPlot()
	addCurves(p, curves)
	if !(p.X.Min < p.X.Max) {
		return nil
	}
	addLevel(p, 1)
	p.Y.Min, p.Y.Max = p.Y.Min/1.15, p.Y.Max*1.15
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{unit}, decades{"×"}
	p.X.Label.Text = axis
	return []picture{frame{name: name, title: title, below: below, height: 250}.draw(p)}
}

// dashes distinguish the forms of one library, which share its colour.
var dashes = [][]vg.Length{nil, {5, 2.5}, {1.5, 2}, {7, 2, 1.5, 2}}

// addCurves draws the curves, and lists their names in the order of their ends.
func addCurves(p *plot.Plot, curves []curve) {
	p.Add(&plotter.Grid{Vertical: faint, Horizontal: faint})
	end := func(c curve) float64 { return c.points[len(c.points)-1].Y }
	slices.SortStableFunc(curves, func(a, b curve) int { return cmp.Compare(end(b), end(a)) })
	forms := map[string]int{}
	for _, c := range curves {
		pen := draw.LineStyle{Color: libraryColor(c.name), Width: 1.3}
		if isWeir(c.name) {
			pen.Width = 2
		}
		library := peer.LibraryOf(c.name)
		pen.Dashes = dashes[forms[library]%len(dashes)]
		forms[library]++
		drawn := &plotter.Line{XYs: c.points, LineStyle: pen}
		p.Add(drawn)
		p.Legend.Add(fit(p.Legend.TextStyle, c.name, 110), drawn)
	}
}

// addLevel draws a horizontal line with which to compare the curves.
func addLevel(p *plot.Plot, y float64) {
	pen := draw.LineStyle{Color: themed("muted"), Width: 0.8, Dashes: []vg.Length{3, 3}}
	p.Add(line(pen, plotter.XY{X: p.X.Min, Y: y}, plotter.XY{X: p.X.Max, Y: y}))
}
