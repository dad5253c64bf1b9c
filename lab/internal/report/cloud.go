package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/64ed045f/weir/lab/internal/record"
)

// A dotted is one peer in a cloud of points.
type dotted struct {
	name  string
	x, y  float64
	label vg.Length // the height of its name
}

// drawCloud draws time against memory: a peer that is good at both stands at the lower left.
func drawCloud(t record.Table) []picture {
	const memory = "peak-B"
	unit := t.Units[0]
	var dots []dotted
	for _, r := range t.Rows {
		x, y := r.Cells[unit], r.Cells[memory]
		if usable(x) && usable(y) && x.Center > 0 && y.Center > 0 {
			dots = append(dots, dotted{name: clean(r.Peer), x: x.Center, y: y.Center})
		}
	}
	if len(dots) < 2 {
		return nil
	}
	p := newPlot()
	p.X.Min, p.X.Max = reach(dots, func(d dotted) float64 { return d.x })
	p.Y.Min, p.Y.Max = reach(dots, func(d dotted) float64 { return d.y })
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{unit}, decades{memory}
	p.X.Label.Text, p.Y.Label.Text = "time", "peak memory"
	p.Add(gridLines(), cloud(dots))
	return []picture{frame{
		name: nameOfPicture(t, "memory"), title: titleOf(t) + ": time and memory", below: paramsText(t.Params, t.Procs), height: 290, right: 6,
	}.draw(p)}
}

// reach is what an axis must span, with room around it.
func reach(dots []dotted, of func(dotted) float64) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, d := range dots {
		low, high = min(low, of(d)), max(high, of(d))
	}
	room := max(math.Pow(high/low, 0.15), 1.25)
	return low / room, high * room
}

type cloud []dotted

// labelSize is that of the names in clouds and next to curves, and labelGap what two of them are apart.
const (
	labelSize = 10.5
	labelGap  = 12.5
)

func labelWidth(name string) vg.Length { return nameLetters(labelSize, name).Width(name) }

func (dots cloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	// Labels keep off each other only where their points are close sideways: all of
	// one side are set together.
	var sides [2][]*dotted
	for k := range dots {
		d := &dots[k]
		side := 0
		if x(d.x)+labelWidth(d.name)+8 > c.Max.X {
			side = 1
		}
		sides[side] = append(sides[side], d)
	}
	for side, members := range sides {
		for _, cluster := range clusters(members, x) {
			var wishes []vg.Length
			for _, d := range cluster {
				wishes = append(wishes, y(d.y))
			}
			for k, place := range apart(wishes, labelGap, c.Min.Y+6, c.Max.Y-6) {
				cluster[k].label = place
			}
		}
		for _, d := range members {
			px, py := x(d.x), y(d.y)
			at, edge := vg.Point{X: px + 8, Y: d.label}, px+7
			if side == 1 {
				at.X, edge = px-8-labelWidth(d.name), px-7
			}
			if away := d.label - py; away > 7 || away < -7 {
				c.StrokeLine2(draw.LineStyle{Color: themed("muted"), Width: 0.5}, px, py, edge, d.label)
			}
			c.FillText(nameLetters(labelSize, d.name), at, d.name)
		}
	}
	for _, d := range dots {
		radius := vg.Length(3.5)
		if isWeir(d.name) {
			radius = 4.5
		}
		dot(c, libraryColor(d.name), x(d.x), y(d.y), radius)
	}
}

// clusters are the points whose labels would touch if they were at one height, each with those that it touches.
func clusters(dots []*dotted, x func(float64) vg.Length) [][]*dotted {
	touch := func(a, b *dotted) bool {
		return max(x(a.x)-x(b.x), x(b.x)-x(a.x)) < max(labelWidth(a.name), labelWidth(b.name))+12
	}
	var list [][]*dotted
	for rest := dots; len(rest) > 0; {
		cluster := rest[:1:1]
		rest = rest[1:]
		for k := 0; k < len(cluster); k++ { // the cluster grows meanwhile
			var others []*dotted
			for _, d := range rest {
				if touch(cluster[k], d) {
					cluster = append(cluster, d)
				} else {
					others = append(others, d)
				}
			}
			rest = others
		}
		list = append(list, cluster)
	}
	return list
}
