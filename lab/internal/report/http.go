package report

import (
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// The http suite asks what a server does that gets more requests than it can serve. For what it serves, more
// is better. The course over time is part of the answer.

// ofReached is the unit of a ratio: what a server serves, over what the server with just enough load serves.
const ofReached = "of-reached"

// httpRows are the figures of the table.
var httpRows = []struct{ name, unit string }{
	{"answers a second: served in time", "good/s"},
	{"answers a second: % of capacity", "good-%"},
	{"answers a second: % of " + suite.JustEnough, ofReached},
	{"answers a second: served at all", "served/s"},
	{"answers a second: refused", "refused/s"},
	{"the backend: time for one", "service-ns"},
	{"the backend: % busy", "busy-%"},
	{"latency of the served: median", "p50-ns"},
	{"latency of the served: p99", "p99-ns"},
	{"latency of the served: longest", "max-ns"},
	{"latency of the refused: median", "refused-p50-ns"},
	{"latency of the refused: p99", "refused-p99-ns"},
	{"what must not be: other answers", "other"},
	{"what must not be: broken", "broken"},
	{"what must not be: lost", "lost"},
	{"the server: peak memory", "peak-B"},
	{"the server: second half", "growth"},
	{"the server: goroutines", "peak-goroutines"},
	{"the server: handlers", "peak-running"},
	{"the server: shutdown", "shutdown-ns"},
	{"the server: cores", "server-cores"},
	{"the load: sent a second", "sent/s"},
	{"the load: unsent a second", "unsent/s"},
	{"the load: p99 too late", "lag-p99-ns"},
	{"the load: cores", "load-cores"},
}

// httpGrid has a row for each figure and a column for each server.
func httpGrid(t record.Table) grid {
	var g grid
	g.about = "Requests come at a steady rate, whatever becomes of the earlier ones; capacity and offered are requests a second."
	g.params = paramsText(t.Params)
	g.addFailures(t)
	for _, r := range t.Rows {
		g.columns = append(g.columns, column{name: r.Peer})
	}
	_, hasMost := reached(t)
	for _, at := range httpRows {
		var of func(server string) string
		switch {
		case at.unit == ofReached && hasMost:
			of = func(server string) string { return reachedCell(t, server) }
		case slices.Contains(t.Units, at.unit):
			top := record.Row{} // most rows have no best
			if slices.Contains([]string{"good/s", "p99-ns", "peak-B"}, at.unit) {
				top, _ = best(t.Rows, at.unit, competes)
			}
			of = func(server string) string { return figureCell(t, server, at.unit, top) }
		default:
			continue
		}
		row := []string{at.name}
		for _, r := range t.Rows {
			row = append(row, of(r.Peer))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// httpNotes stand once below all tables of the suite.
var httpNotes = []string{
	"Served in time are those whose latency is at most the patience. A latency counts from the moment at which the request was due.",
	"The capacity is that of a backend that takes 20 ms for a request to the nanosecond. Sleeps last longer: time for one is how long they did, and % busy how much of that time the backend had a request in each of its places.",
	"Lost are requests that the server has let in and not answered, its shutdown under load included. Second half: the most memory then, over that of the first half.",
}

func competes(name string) bool { return name != suite.JustEnough }

// reached returns how many requests per second the server with just enough load serves.
func reached(t record.Table) (perSecond float64, ok bool) {
	r, _ := rowOf(t, suite.JustEnough)
	c := r.Cells["served/s"]
	return c.Center, usable(c) && c.Center > 0
}

func reachedCell(t record.Table, peer string) string {
	most, ok := reached(t)
	r, _ := rowOf(t, peer)
	good := r.Cells["good/s"]
	if !ok || !usable(good) || !competes(peer) {
		return "—"
	}
	return figure(100*good.Center/most, ofReached)
}

// httpPictures returns the curves over time, of the last round.
func httpPictures(e experiment) []picture {
	var list []picture
	for _, t := range e.tables {
		for _, c := range []struct {
			key, title string
			scale      float64
		}{{"good-curve", "served in time, a second", 1}, {"memory-curve", "memory of the server, MB", 1e-6}} {
			var curves []curve
			for _, r := range t.Rows {
				var points plotter.XYs
				for _, p := range record.ParseCurve(record.Find(r.Notes, c.key)) {
					points = append(points, plotter.XY{X: p[0], Y: p[1] * c.scale})
				}
				if len(points) > 1 && competes(r.Peer) {
					curves = append(curves, curve{clean(r.Peer), points})
				}
			}
			if len(curves) > 0 {
				p := newPlot(curves, "seconds, last round", c.title)
				p.Y.Min = 0
				list = append(list, draw(fileName(whereOf(t), c.key), whereOf(t), p, 0))
			}
		}
	}
	return list
}
