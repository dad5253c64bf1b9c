package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// The http suite asks what a server does that gets more requests than it can serve. For what it serves, more
// is better. The course over time is part of the answer.

// ofReached is the unit of a ratio: what a server serves, over what the server with just enough load serves.
const ofReached = "of-reached"

// httpColumns are the figures of the table.
var httpColumns = []struct{ group, name, unit string }{
	{"answers a second", "served in time", "good/s"},
	{"answers a second", "% of capacity", "good-%"},
	{"answers a second", "% of " + suite.JustEnough, ofReached},
	{"answers a second", "served at all", "served/s"},
	{"answers a second", "refused", "refused/s"},
	{"the backend", "time for one", "service-ns"},
	{"the backend", "% busy", "busy-%"},
	{"latency of the served", "median", "p50-ns"},
	{"latency of the served", "p99", "p99-ns"},
	{"latency of the served", "longest", "max-ns"},
	{"latency of the refused", "median", "refused-p50-ns"},
	{"latency of the refused", "p99", "refused-p99-ns"},
	{"what must not be", "other answers", "other"},
	{"what must not be", "broken", "broken"},
	{"what must not be", "lost", "lost"},
	{"the server", "peak memory", "peak-B"},
	{"the server", "second half", "growth"},
	{"the server", "goroutines", "peak-goroutines"},
	{"the server", "handlers", "peak-running"},
	{"the server", "shutdown", "shutdown-ns"},
	{"the server", "cores", "server-cores"},
	{"the load", "sent a second", "sent/s"},
	{"the load", "unsent a second", "unsent/s"},
	{"the load", "p99 too late", "lag-p99-ns"},
	{"the load", "cores", "load-cores"},
}

func httpGrid(t record.Table) grid {
	g := newPeerGrid(t.Suite, t.Experiment, peersOf([]record.Table{t}))
	g.About = "Requests come at a steady rate, whatever becomes of the earlier ones; capacity and offered are requests a second."
	g.Params = paramsText(t.Params, t.Procs)
	g.addFailures(t)
	for _, c := range httpColumns {
		at := column{Group: c.group, Name: c.name}
		if _, ok := reached(t); ok && c.unit == ofReached {
			g.add(at, func(peer string) cell { return reachedCell(t, peer) })
		}
		if !slices.Contains(t.Units, c.unit) {
			continue
		}
		top := record.Row{} // most columns have no best
		switch c.unit {
		case "good/s": // in the order of the time per request
			top, _ = best(t.Rows, "ns/op", competes)
		case "p99-ns", "peak-B":
			top, _ = best(t.Rows, c.unit, competes)
		}
		g.add(at, func(peer string) cell { return figureCell(t, peer, c.unit, top) })
	}
	if len(g.Columns) > 0 {
		g.Leads = httpLeads(t)
		g.Notes = []string{
			"Served in time are those whose latency is at most the patience. A latency counts from the moment at which the request was due.",
			"The capacity is that of a backend that takes 20 ms for a request to the nanosecond. Sleeps last longer: time for one is how long they did, and % busy how much of that time the backend had a request in each of its places.",
			"Lost are requests that the server has let in and not answered, its shutdown under load included. Second half: the most memory then, over that of the first half.",
		}
	}
	return g
}

func competes(name string) bool { return name != suite.JustEnough }

// reached returns how many requests per second the server with just enough load serves.
func reached(t record.Table) (perSecond float64, ok bool) {
	r, _ := rowOf(t, suite.JustEnough)
	c := r.Cells["served/s"]
	return c.Center, usable(c) && c.Center > 0
}

func reachedCell(t record.Table, peer string) cell {
	most, ok := reached(t)
	r, _ := rowOf(t, peer)
	good := r.Cells["good/s"]
	if !ok || !usable(good) || !competes(peer) {
		return cell{Main: "—"}
	}
	return cell{Main: significant(100 * good.Center / most)}
}

// httpLeads says what share of the capacity each server uses.
func httpLeads(t record.Table) []string {
	var list []string
	for _, r := range t.Rows {
		good, ok := r.Cells["good/s"]
		share := r.Cells["good-%"]
		if !ok || !usable(good) || !usable(share) {
			continue
		}
		if !competes(r.Peer) {
			list = append(list, fmt.Sprintf("%s, which is offered just the capacity, serves %s requests a second.",
				clean(r.Peer), figure(r.Cells["served/s"].Center, "served/s")))
			continue
		}
		text := fmt.Sprintf("%s serves %.0f requests a second in time, %.1f %% of the capacity", clean(r.Peer), good.Center, share.Center)
		if most, ok := reached(t); ok {
			text += fmt.Sprintf(" and %.1f %% of what %s serves", 100*good.Center/most, suite.JustEnough)
		}
		if p99, ok := r.Cells["p99-ns"]; ok && usable(p99) {
			text += ", 99 of 100 of all that it serves within " + figure(p99.Center, "p99-ns")
		}
		list = append(list, text+".")
	}
	return list
}

// httpPictures returns the curves over time, of the last round.
func httpPictures(e experiment) []picture {
	var list []picture
	for _, t := range e.tables {
		capacity := number(paramOf(t, "capacity"))
		for _, c := range []struct {
			key, title, unit string
			level            float64
		}{
			{"good-curve", "Served in time, a second", "requests", capacity},
			{"memory-curve", "Memory of the server", "B", 0},
		} {
			var curves []curve
			for _, r := range t.Rows {
				if points := pointsOf(note(r.Notes, c.key)); len(points) > 1 && competes(r.Peer) {
					curves = append(curves, curve{clean(r.Peer), points})
				}
			}
			if len(curves) == 0 {
				continue
			}
			below := "over seconds, last round · " + paramsText(t.Params, t.Procs)
			list = append(list, drawOverTime(frame{name: nameOfPicture(t, c.key), title: c.title, below: below}, c.unit, c.level, curves))
		}
	}
	return list
}

// pointsOf parses points such as "0.5:12 1.5:13". It leaves out invalid points.
func pointsOf(text string) plotter.XYs {
	var points plotter.XYs
	for word := range strings.FieldsSeq(text) {
		at, value, _ := strings.Cut(word, ":")
		x, errX := strconv.ParseFloat(at, 64)
		y, errY := strconv.ParseFloat(value, 64)
		if errX == nil && errY == nil && x >= 0 && y >= 0 && x < 1e6 && y < 1e15 {
			points = append(points, plotter.XY{X: x, Y: y})
		}
	}
	return points
}

func drawOverTime(f frame, unit string, level float64, curves []curve) picture {
	p := newPlot()
	p.X.Min, p.Y.Min, p.Y.Max = 0, 0, 1
	addCurves(p, curves)
	if level > 0 && level < 1e15 {
		addLevel(p, level)
	}
	p.Y.Max *= 1.08
	p.X.Tick.Marker, p.Y.Tick.Marker = evenly{unit: "s"}, evenly{unit: unit}
	f.height = 230
	return f.draw(p)
}
