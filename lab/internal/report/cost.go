package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// The cost suite asks what a task costs in addition to the work itself. So every figure is compared with the
// same work run in place.

// A costPoint is a peer's time for tasks of one length.
type costPoint struct {
	tasks  float64
	length float64 // ns of one task of the peer compared with
	ratio  float64 // the peer's time, divided by length
}

// costPoints returns the points of peer name, compared with peer of, for one length of task, by number of tasks.
func costPoints(tables []record.Table, name, of string) []costPoint {
	var points []costPoint
	for _, t := range tables {
		if len(t.Units) == 0 {
			continue
		}
		base, _ := rowOf(t, of)
		r, _ := rowOf(t, name)
		tasks, length, time := number(paramOf(t, "tasks")), base.Cells[t.Units[0]], r.Cells[t.Units[0]]
		if usable(length) && usable(time) && length.Center > 0 && time.Center > 0 && tasks > 0 && !math.IsInf(tasks, 1) {
			points = append(points, costPoint{tasks, length.Center, time.Center / length.Center})
		}
	}
	slices.SortFunc(points, func(a, b costPoint) int { return cmp.Compare(a.tasks, b.tasks) })
	return points
}

func number(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.Inf(1)
	}
	return n
}

// settled returns the point with the most tasks, where the start weighs least, compared with the work in place.
func settled(e experiment, name string) (costPoint, bool) {
	points := costPoints(e.tables, name, peer.InPlace)
	if len(points) == 0 {
		return costPoint{}, false
	}
	return points[len(points)-1], true
}

// settledPoints returns the settled points of all lengths of task.
func settledPoints(e experiment, name string) []costPoint {
	var points []costPoint
	for _, set := range split(e, "roots") {
		if p, ok := settled(set, name); ok {
			points = append(points, p)
		}
	}
	return points
}

// costGrids returns the answer to "from what task length does it pay", the overhead by length of task, and
// the figures behind the curves.
func costGrids(e experiment) []grid {
	list := []grid{payGrid(e)}
	for _, part := range split(e, record.ProcsKey) {
		list = append(list, overheadGrid(part))
	}
	return append(list, foldedGrids(e)...)
}

// newCostGrid returns a grid with a row for each peer that is compared with the work in place.
func newCostGrid(e experiment, about, note string) grid {
	g := newPeerGrid(e.tables)
	g.rows = slices.DeleteFunc(g.rows, func(row []string) bool { return row[0] == peer.InPlace })
	g.about, g.notes = about, []string{note}
	return g
}

func payGrid(e experiment) grid {
	g := newCostGrid(e, "The shortest task that takes no longer than if it were run in place, on one core, one after the other.",
		"Interpolated between the measured lengths, at the largest number of tasks of each.")
	for _, part := range split(e, record.ProcsKey) {
		g.addBest(column{name: paramText(record.ProcsKey, paramOf(part.tables[0], record.ProcsKey))}, func(name string) (string, float64) {
			return payCell(settledPoints(part, name))
		})
	}
	return g
}

// addBest is add for texts with a figure, of which the least is the best. A text without one has an infinite figure.
func (g *grid) addBest(c column, of func(peer string) (string, float64)) {
	least := math.Inf(1)
	for _, row := range g.rows {
		_, figure := of(row[0])
		least = min(least, figure)
	}
	g.add(c, func(peer string) string {
		text, figure := of(peer)
		return starred(text, figure == least && !math.IsInf(figure, 1))
	})
}

// payCell says from what task length on the peer is at least as fast as the work in place. length is infinite
// if the peer never was.
func payCell(points []costPoint) (text string, length float64) {
	slices.SortFunc(points, func(a, b costPoint) int { return cmp.Compare(a.length, b.length) })
	for k, p := range points {
		if p.ratio > 1 {
			continue
		}
		if k == 0 {
			return "at once, from " + figure(p.length, "ns"), p.length
		}
		length := crossing(points[k-1], p)
		return figure(length, "ns"), length
	}
	if len(points) == 0 {
		return "—", math.Inf(1)
	}
	last := points[len(points)-1]
	return fmt.Sprintf("not up to %s: %s there", figure(last.length, "ns"), times(last.ratio)), math.Inf(1)
}

// crossing returns the length at which the ratio is 1, on a straight line between two points on logarithmic axes.
func crossing(above, below costPoint) float64 {
	fall := math.Log(above.ratio) / (math.Log(above.ratio) - math.Log(below.ratio))
	return math.Exp(math.Log(above.length) + fall*(math.Log(below.length)-math.Log(above.length)))
}

// overheadGrid shows for one GOMAXPROCS, by length of task, the ratio of each peer's time to that of the work in place.
func overheadGrid(e experiment) grid {
	g := newCostGrid(e, "Time of a task over the work in place: 1× is the work alone, one after the other; below it, the cores share the work.",
		"At the largest number of tasks measured for each length.")
	g.params = paramText(record.ProcsKey, paramOf(e.tables[0], record.ProcsKey))
	for _, set := range split(e, "roots") {
		length, ok := settled(set, peer.InPlace)
		if !ok {
			continue
		}
		name := fmt.Sprintf("%s: %s in place", paramText("roots", paramOf(set.tables[0], "roots")), figure(length.length, "ns"))
		g.addBest(column{name: name}, func(name string) (string, float64) {
			p, ok := settled(set, name)
			if !ok {
				return "—", math.Inf(1)
			}
			return times(p.ratio), p.ratio
		})
	}
	return g
}

// lengthTasks is how many tasks the rows of Lengths have.
const lengthTasks = "100000"

// Lengths is the table of what tasks of several lengths take, done in place and otherwise.
func Lengths(file record.File) string {
	peers := []string{peer.InPlace, "go", "weir.Pool"}
	var rows [][]string
	for _, t := range record.Tables(file.Results) {
		if t.Suite != "cost" || paramOf(t, "tasks") != lengthTasks || len(t.Units) == 0 {
			continue
		}
		cells := []string{paramOf(t, "roots")}
		for _, name := range peers {
			r, _ := rowOf(t, name)
			c := r.Cells[t.Units[0]]
			if !usable(c) {
				return ""
			}
			cells = append(cells, figure(c.Center, t.Units[0])+" "+interval(c))
		}
		rows = append(rows, cells)
	}
	return tableMarkdown([]string{"square roots of a task", "in place", "`go`", "`weir.Pool`"}, "--:", rows)
}
