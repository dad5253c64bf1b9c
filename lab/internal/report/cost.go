package report

import (
	"cmp"
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
	peers := slices.DeleteFunc(peersOf(e.tables), func(name string) bool { return name == peer.InPlace })
	grids := []grid{payGrid(e, peers), overheadGrid(e, peers)}
	for _, g := range foldedGrids(e, nil) {
		g.Title, g.Bulk = "Time of one task, by number of tasks", true
		grids = append(grids, g)
	}
	return grids
}

func payGrid(e experiment, peers []string) grid {
	g := newPeerGrid(e.suite, e.name, peers)
	g.Title = "From what task length does it pay?"
	g.About = "The shortest task that takes no longer than if it were run in place, on one core, one after the other."
	g.Notes = append(g.Notes, "Interpolated between the measured lengths, at the largest number of tasks of each.")
	for _, part := range split(e, procsKey) {
		g.addBest(column{Name: paramText(procsKey, paramOf(part.tables[0], procsKey))}, func(name string) (cell, float64) {
			return payCell(settledPoints(part, name))
		})
	}
	return g
}

// addBest is add for cells with a figure, of which the least is the best. A cell without one has an infinite figure.
func (g *grid) addBest(c column, of func(peer string) (cell, float64)) {
	var figures []float64
	g.add(c, func(peer string) cell {
		made, figure := of(peer)
		figures = append(figures, figure)
		return made
	})
	for k, figure := range figures {
		g.Rows[k].Cells[len(g.Columns)-1].Best = !math.IsInf(figure, 1) && figure == slices.Min(figures)
	}
}

// payCell says from what task length on the peer is at least as fast as the work in place. length is infinite
// if the peer never was.
func payCell(points []costPoint) (c cell, length float64) {
	slices.SortFunc(points, func(a, b costPoint) int { return cmp.Compare(a.length, b.length) })
	for k, p := range points {
		if p.ratio > 1 {
			continue
		}
		if k == 0 {
			return cell{Main: "at once", Side: "from " + figure(p.length, "ns")}, p.length
		}
		length := crossing(points[k-1], p)
		return cell{Main: figure(length, "ns")}, length
	}
	if len(points) == 0 {
		return cell{Main: "—"}, math.Inf(1)
	}
	last := points[len(points)-1]
	return cell{
		Main: "not up to " + figure(last.length, "ns"),
		Side: times(last.ratio) + " there",
	}, math.Inf(1)
}

// crossing returns the length at which the ratio is 1, on a straight line between two points on logarithmic axes.
func crossing(above, below costPoint) float64 {
	fall := math.Log(above.ratio) / (math.Log(above.ratio) - math.Log(below.ratio))
	return math.Exp(math.Log(above.length) + fall*(math.Log(below.length)-math.Log(above.length)))
}

// overheadGrid shows, by length of task, the ratio of each peer's time to that of the work in place.
func overheadGrid(e experiment, peers []string) grid {
	g := newPeerGrid(e.suite, e.name, peers)
	g.Title = "Time of a task over the work in place"
	g.About = "1× is the work alone, one after the other; below it, the cores share the work."
	g.Notes = append(g.Notes, "At the largest number of tasks measured for each length.")
	inPlace := row{Name: "one task in place"}
	for _, set := range split(e, procsKey, "roots") {
		length, ok := settled(set, peer.InPlace)
		if !ok {
			continue
		}
		inPlace.Cells = append(inPlace.Cells, cell{Main: figure(length.length, "ns")})
		first := set.tables[0]
		c := column{Group: paramText(procsKey, paramOf(first, procsKey)), Name: paramText("roots", paramOf(first, "roots"))}
		g.addBest(c, func(name string) (cell, float64) {
			p, ok := settled(set, name)
			if !ok {
				return cell{Main: "—"}, math.Inf(1)
			}
			return cell{Main: times(p.ratio)}, p.ratio
		})
	}
	g.Rows = slices.Insert(g.Rows, 0, inPlace)
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
