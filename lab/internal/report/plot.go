package report

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	pen "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// A picture is a plot with a curve for each of some peers.
type picture struct {
	*plot.Plot
	title  string // what is drawn upwards, and which parameters hold for all of it
	curves []curve
}

type curve struct {
	peer   string
	points plotter.XYs
}

// pictures draws what the tables of an experiment show along a parameter, or along the time of a measurement.
func pictures(tables []record.Table) (list []picture) {
	for _, along := range tables[0].Params {
		for _, set := range sets(tables, func(t record.Table) string { return t.Experiment + " " + paramsBut(t, along.Key) }) {
			list = append(list, alongParam(set, along.Key))
		}
	}
	for _, t := range tables {
		list = append(list, alongTime(t, "good-curve", "served in time, a second", 1), alongTime(t, "memory-curve", "memory, MB", 1e-6))
	}
	return slices.DeleteFunc(list, func(p picture) bool { // two points are no more than two columns of a table
		return !slices.ContainsFunc(p.curves, func(c curve) bool { return len(c.points) >= 3 })
	})
}

// paramsBut returns the parameters of a table without that of a key.
func paramsBut(t record.Table, key string) string {
	return paramsText(slices.DeleteFunc(slices.Clone(t.Params), func(s record.Setting) bool { return s.Key == key }))
}

// alongParam draws tables that differ in one parameter. Where they have the work in place, or plain goroutines, times are multiples
// of its time; but along GOMAXPROCS they are what they are, to show how much faster each peer becomes. Values that are no numbers
// are left out.
func alongParam(tables []record.Table, key string) picture {
	unit, base := firstUnit(tables[0]), ""
	p := picture{Plot: plot.New(), title: unitTitle(unit)}
	if plain, ok := best(tables[0].Rows, unit, isPlain); ok && key != record.ProcsKey {
		base = plain.Peer
		if usable(tables[0].Row(peer.InPlace).Cells[unit]) {
			base = peer.InPlace
		}
		p.title += " over that of " + clean(base)
	}
	p.title = join([]string{p.title, paramsBut(tables[0], key)}, ": ")
	drawable := func(v float64) bool { return v > 1e-12 && v < 1e15 } // what is not has no place on a logarithmic axis
	var at plot.ConstantTicks
	least, most := math.Inf(1), 0.0
	for _, name := range peersOf(tables) {
		c := curve{peer: name}
		for _, t := range tables {
			x, err := strconv.ParseFloat(t.Param(key), 64)
			y := t.Row(name).Cells[unit].Center
			if base != "" {
				y /= t.Row(base).Cells[unit].Center
			}
			if err == nil && drawable(x) && drawable(y) && name != base {
				c.points = append(c.points, plotter.XY{X: x, Y: y})
				if tick := (plot.Tick{Value: x, Label: grouped(t.Param(key))}); !slices.Contains(at, tick) {
					at = append(at, tick)
				}
				least, most = min(least, y), max(most, y)
			}
		}
		slices.SortFunc(c.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		p.curves = append(p.curves, c)
	}
	text := times
	if base == "" {
		text = func(v float64) string { return figure(v, unit) }
	}
	p.X.Label.Text, p.X.Scale, p.Y.Scale, p.X.Tick.Marker = clean(key), plot.LogScale{}, plot.LogScale{}, at
	if most > 0 {
		ticks := logTicks(least, most, text)
		p.Y.Tick.Marker, p.Y.Min, p.Y.Max = ticks, ticks[0].Value, ticks[len(ticks)-1].Value
	}
	return p
}

// logTicks returns ticks at powers of 2, or of 10 if there would be too many, as few as have all values between them.
func logTicks(least, most float64, text func(float64) string) (ticks plot.ConstantTicks) {
	step := 2.0
	if most > 500*least {
		step = 10
	}
	for v := math.Pow(step, math.Floor(math.Log(least)/math.Log(step))); ; v *= step {
		ticks = append(ticks, plot.Tick{Value: v, Label: text(v)})
		if v > most {
			return ticks
		}
	}
}

// alongTime draws the curves that the last round of each peer has under a key, in the unit of the title.
func alongTime(t record.Table, key, title string, scale float64) picture {
	p := picture{Plot: plot.New(), title: title + ": " + paramsText(t.Params)}
	p.X.Label.Text, p.Y.Min = "seconds of the last round", 0
	for _, r := range t.Rows {
		c := curve{peer: r.Peer}
		for _, point := range record.ParseCurve(record.Find(r.Notes, key)) {
			c.points = append(c.points, plotter.XY{X: point[0], Y: point[1] * scale})
		}
		p.curves = append(p.curves, c)
	}
	return p
}

// svg returns the picture as SVG, in one line. The names of the curves stand below, in the order of their ends.
func (p picture) svg() string {
	const width, height, line, gap = 360, 240, 15, 8 // few points, so that the words can be read on the screen of a phone
	curves := slices.DeleteFunc(p.curves, func(c curve) bool { return len(c.points) < 2 })
	end := func(c curve) float64 { return c.points[len(c.points)-1].Y }
	slices.SortStableFunc(curves, func(a, b curve) int { return cmp.Compare(end(b), end(a)) })
	p.Add(plotter.NewGrid())
	p.X.Tick.Label.Font.Size = 8 // numbers of tasks are long
	columns := []plot.Legend{plot.NewLegend(), plot.NewLegend()}
	rows := vg.Length((len(curves) + 1) / 2)
	for k, c := range curves {
		l := &plotter.Line{XYs: c.points, LineStyle: pen.LineStyle{Color: plotutil.Color(k), Width: 1.3, Dashes: plotutil.Dashes(k)}}
		if isWeir(c.peer) {
			l.Width = 2.5
		}
		if isPlain(c.peer) {
			l.Color = color.Black
		}
		p.Add(l)
		columns[k/int(rows)].Add(clean(c.peer), l)
	}
	canvas := vgsvg.New(width, height+gap+rows*line)
	all := pen.New(canvas)
	p.Draw(pen.Crop(all, 0, -gap, gap+rows*line, -gap))
	for k, column := range columns {
		column.Top, column.Left, column.Padding = true, true, 3
		column.Draw(pen.Crop(all, gap+vg.Length(k)*width/2, 0, 0, -height))
	}
	var text strings.Builder
	if _, err := canvas.WriteTo(&text); err != nil {
		panic(err) // writing to a builder never fails
	}
	_, svg, _ := strings.Cut(text.String(), "-->")
	return strings.Join(strings.Fields(svg), " ")
}
