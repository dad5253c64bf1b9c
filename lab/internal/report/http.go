package report

import (
	"slices"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// httpGrids have a row for each figure, of which a server has many, and a column for each server.
func httpGrids(tables []record.Table) (list []grid) {
	for _, t := range tables {
		g := grid{params: paramsText(t.Params)}
		g.addFailures(t)
		for _, r := range t.Rows {
			g.head = append(g.head, r.Peer)
		}
		for _, unit := range t.Units {
			top := record.Row{} // most figures have no best
			if slices.Contains([]string{"good/s", "p99-ns", "peak-B"}, unit) {
				top, _ = best(t.Rows, unit, func(name string) bool { return name != suite.JustEnough })
			}
			g.addRow(unitTitle(unit), func(k int) string { return figureCell(t, t.Rows[k].Peer, unit, top) })
		}
		list = append(list, g)
	}
	list[len(list)-1].notes = httpNotes
	return list
}

// httpNotes stand once below all tables of the suite.
var httpNotes = []string{
	"Good are requests that are served in time: their latency is at most the patience. p50, p99 and max are latencies of all that are served, from the moment at which the request was due; lag is how much later it was sent; unsent had no connection in time.",
	"Good % is a share of the capacity, which is that of a backend that takes 20 ms for a request to the nanosecond. Sleeps last longer: service is how long they did, and busy % how much of that time the backend had a request in each of its places.",
	"Lost are requests that the server has let in and not answered, its shutdown under load included. Growth is the most memory in the second half, over that in the first.",
}
