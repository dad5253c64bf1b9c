package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/64ed045f/weir/lab/internal/record"
)

// A dotted is one peer in a cloud of points.
type dotted struct {
	name string
	x, y record.Cell
}

// drawCloud draws time against memory: a peer that is good at both stands at the lower left.
func drawCloud(t record.Table) (picture, bool, error) {
	const memory = "peak-B"
	unit := t.Units[0]
	var dots []dotted
	for _, r := range t.Rows {
		x, y := r.Cells[unit], r.Cells[memory]
		if usable(x) && usable(y) && x.Center > 0 && y.Center > 0 {
			dots = append(dots, dotted{clean(r.Peer), x, y})
		}
	}
	if len(dots) < 2 {
		return picture{}, false, nil
	}
	title, below := titleOf(t)+": time and memory", paramsText(t.Params, t.Procs)
	s := newSheet(290, title, below)
	p := newPlot()
	p.X.Min, p.X.Max = reach(dots, func(d dotted) float64 { return d.x.Center })
	p.Y.Min, p.Y.Max = reach(dots, func(d dotted) float64 { return d.y.Center })
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{unit}, decades{memory}
	p.X.Label.Text, p.Y.Label.Text = "time", "peak memory"
	p.Add(cloud{dots})
	p.Draw(draw.Crop(s.body, 0, -6, 0, 0))
	picture, err := newPicture(nameOfPicture(t, "memory"), join([]string{title, below}, ", "), s.svg)
	return picture, err == nil, err
}

// reach is what an axis must span, with room around it.
func reach(dots []dotted, of func(dotted) float64) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, d := range dots {
		low, high = min(low, of(d)), max(high, of(d))
	}
	room := math.Pow(high/low, 0.15)
	room = max(room, 1.25)
	return low / room, high * room
}

type cloud struct{ dots []dotted }

func (s cloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	drawGridLines(c, p, x, y)
	// Labels keep off each other only where their points are close sideways: all of
	// one side are set together.
	width := func(name string) vg.Length { return nameLetters(10.5, name).Width(name) }
	var sides [2][]int
	for k, d := range s.dots {
		side := 0
		if x(d.x.Center)+width(d.name)+8 > c.Max.X {
			side = 1
		}
		sides[side] = append(sides[side], k)
	}
	for side, members := range sides {
		var wishes []vg.Length
		for _, k := range members {
			wishes = append(wishes, y(s.dots[k].y.Center))
		}
		places := apartWhereClose(wishes, members, s.dots, x, width, c)
		for i, k := range members {
			d := s.dots[k]
			px, py := x(d.x.Center), y(d.y.Center)
			at, edge := vg.Point{X: px + 8, Y: places[i]}, px+7
			if side == 1 {
				at.X, edge = px-8-width(d.name), px-7
			}
			if away := places[i] - py; away > 7 || away < -7 {
				c.StrokeLine2(draw.LineStyle{Color: themed("muted"), Width: 0.5}, px, py, edge, places[i])
			}
			c.FillText(nameLetters(10.5, d.name), at, d.name)
		}
	}
	for _, d := range s.dots {
		radius := vg.Length(3.5)
		if isWeir(d.name) {
			radius = 4.5
		}
		c.DrawGlyph(draw.GlyphStyle{Color: libraryColor(d.name), Radius: radius, Shape: draw.CircleGlyph{}},
			vg.Point{X: x(d.x.Center), Y: y(d.y.Center)})
	}
}

// apartWhereClose moves apart the labels that would touch, cluster by cluster.
func apartWhereClose(
	wishes []vg.Length, members []int, dots []dotted, x func(float64) vg.Length, width func(string) vg.Length, c draw.Canvas,
) []vg.Length {
	const apartBy = 12.5
	places := slices.Clone(wishes)
	done := make([]bool, len(members))
	for i := range members {
		if done[i] {
			continue
		}
		cluster := []int{i}
		done[i] = true
		for grown := true; grown; {
			grown = false
			for j := range members {
				if done[j] {
					continue
				}
				for _, k := range cluster {
					sideways := x(dots[members[j]].x.Center) - x(dots[members[k]].x.Center)
					if sideways < 0 {
						sideways = -sideways
					}
					if sideways < max(width(dots[members[j]].name), width(dots[members[k]].name))+12 {
						cluster, done[j], grown = append(cluster, j), true, true
						break
					}
				}
			}
		}
		var own []vg.Length
		for _, k := range cluster {
			own = append(own, wishes[k])
		}
		for n, place := range apart(own, apartBy, c.Min.Y+6, c.Max.Y-6) {
			places[cluster[n]] = place
		}
	}
	return places
}

func drawGridLines(c draw.Canvas, p *plot.Plot, x, y func(float64) vg.Length) {
	faint := draw.LineStyle{Color: themed("line"), Width: 0.4}
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(faint, x(tick.Value), c.Min.Y, x(tick.Value), c.Max.Y)
	}
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(faint, c.Min.X, y(tick.Value), c.Max.X, y(tick.Value))
	}
}
