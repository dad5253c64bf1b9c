package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// A curve is one peer's ratios to the work in place.
type curve struct {
	name   string
	points []vgPoint
}

type vgPoint struct{ x, y float64 }

// fewestTasks is how many numbers of tasks it takes to make a curve of them.
const fewestTasks = 3

// costPictures are the ratio over the length of a task, which shows from where on
// it pays, and over the number of tasks, as document 001 drew it.
func costPictures(e experiment) []picture {
	sets := costSets(e)
	var list []picture
	for _, n := range procsOf(sets) {
		var curves []curve
		for _, name := range peersOf(e.tables) {
			c := curve{name: clean(name)}
			for _, s := range sets {
				if p, ok := s.settled(name); ok && s.procs == n {
					c.points = append(c.points, vgPoint{p.length, p.ratio})
				}
			}
			curves = append(curves, c)
		}
		where := paramText(procsKey, strconv.Itoa(n))
		list = append(list, drawRatios(overInPlace, fileName(e.suite, e.name, where), where+" · by length of the task", "ns", "one task, in place", curves)...)
	}
	for _, s := range sets {
		var curves []curve
		for _, name := range peersOf(s.tables) {
			c := curve{name: clean(name)}
			for _, p := range costPoints(s.tables, name) {
				c.points = append(c.points, vgPoint{p.tasks, p.ratio})
			}
			if len(c.points) >= fewestTasks {
				curves = append(curves, c)
			}
		}
		where := paramText("roots", s.roots) + " · " + paramText(procsKey, strconv.Itoa(s.procs))
		list = append(list, drawRatios(overInPlace, fileName(e.suite, e.name, where), where+" · by number of tasks", "tasks", "tasks", curves)...)
	}
	return list
}

const overInPlace = "Time over the work in place"

// fewPictures are the times of small sets over those of plain goroutines, by number of tasks, for each length of task.
func fewPictures(e experiment) []picture {
	var list []picture
	for _, part := range split(e, "work") {
		var curves []curve
		for _, name := range peersOf(part.tables) {
			if isGo(name) {
				continue
			}
			c := curve{name: clean(name)}
			for _, t := range part.tables {
				this, _ := rowOf(t, name)
				plain, _ := rowOf(t, peer.Go)
				if tasks := number(paramOf(t, "tasks")); len(t.Units) > 0 && !math.IsInf(tasks, 1) {
					time, of := this.Cells[t.Units[0]], plain.Cells[t.Units[0]]
					if usable(time) && usable(of) && of.Center > 0 {
						c.points = append(c.points, vgPoint{tasks, time.Center / of.Center})
					}
				}
			}
			curves = append(curves, c)
		}
		where := paramText("work", paramOf(part.tables[0], "work"))
		list = append(list, drawRatios("Time over that of go statements", fileName(e.suite, e.name, where), where+" · by number of tasks", "tasks", "tasks", curves)...)
	}
	return list
}

// drawRatios draws curves of times over others.
func drawRatios(title, name, below, unit, axis string, curves []curve) []picture {
	curves = slices.DeleteFunc(curves, func(c curve) bool { return c.name == peer.InPlace || len(c.points) < 2 })
	for _, c := range curves {
		slices.SortFunc(c.points, func(a, b vgPoint) int { return cmp.Compare(a.x, b.x) })
	}
	p := newPlot()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), 0, 1, 1
	f := addLines(p, lines{curves, 1})
	if p.X.Min >= p.X.Max {
		return nil
	}
	p.Y.Min, p.Y.Max = p.Y.Min/1.15, p.Y.Max*1.15
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{unit}, decades{"×"}
	p.X.Label.Text = axis
	f.name, f.title, f.below, f.height = name, title, below, 250
	return []picture{f.draw(p)}
}

// addLines adds curves to a plot, whose axes come to span them. The frame has room for their names.
func addLines(p *plot.Plot, l lines) (f frame) {
	for _, c := range l.curves {
		for _, at := range c.points {
			p.X.Min, p.X.Max = min(p.X.Min, at.x), max(p.X.Max, at.x)
			p.Y.Min, p.Y.Max = min(p.Y.Min, at.y), max(p.Y.Max, at.y)
		}
		f.right = max(f.right, min(labelWidth(c.name), 110)+10)
	}
	p.Add(gridLines(), l)
	return f
}

// lines are curves, and a level that they are to be held against.
type lines struct {
	curves []curve
	level  float64
}

// dashes tell the forms of one library apart, which share its colour.
var dashes = [][]vg.Length{nil, {5, 2.5}, {1.5, 2}, {7, 2, 1.5, 2}}

func (l lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: themed("muted"), Width: 0.8, Dashes: []vg.Length{3, 3}}, c.Min.X, y(l.level), c.Max.X, y(l.level))
	forms := map[string]int{}
	var ends []vg.Length
	for _, curve := range l.curves {
		pen := draw.LineStyle{Color: libraryColor(curve.name), Width: 1.3}
		if isWeir(curve.name) {
			pen.Width = 2
		}
		library := peer.LibraryOf(curve.name)
		pen.Dashes = dashes[forms[library]%len(dashes)]
		forms[library]++
		var path []vg.Point
		for _, at := range curve.points {
			path = append(path, vg.Point{X: x(at.x), Y: y(at.y)})
		}
		c.StrokeLines(pen, path)
		ends = append(ends, path[len(path)-1].Y)
	}
	for k, place := range apart(ends, labelGap, c.Min.Y+4, c.Max.Y-4) {
		curve := l.curves[k]
		style := nameLetters(labelSize, curve.name)
		style.Color = libraryColor(curve.name)
		c.FillText(style, vg.Point{X: c.Max.X + 6, Y: place}, fit(style, curve.name, 110))
	}
}
