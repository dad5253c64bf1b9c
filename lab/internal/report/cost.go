package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// The cost suite asks what a task costs in addition to the work itself. So every figure is compared with the
// same work run in place.

// overheadGrids show for each GOMAXPROCS, by length of task, the ratio of each peer's time to that of the work in place. Of each
// length the table with the most tasks counts, where the start weighs least.
func overheadGrids(tables []record.Table) (list []grid) {
	tasks := func(t record.Table) int {
		n, _ := strconv.Atoi(t.Param("tasks"))
		return n
	}
	for _, part := range sets(tables, byParam(record.ProcsKey)) {
		g := newPeerGrid(part)
		g.params = paramText(record.ProcsKey, part[0].Param(record.ProcsKey))
		g.notes = []string{"Time of a task over the work in place, at the largest number of tasks measured for each length: " +
			"1× is the work alone, one after the other; below it, the cores share the work."}
		for _, set := range sets(part, byParam("roots")) {
			t := slices.MaxFunc(set, func(a, b record.Table) int { return cmp.Compare(tasks(a), tasks(b)) })
			unit := firstUnit(t)
			alone := t.Row(peer.InPlace).Cells[unit]
			name := fmt.Sprintf("%s: %s in place", paramText("roots", t.Param("roots")), figure(alone.Center, unit))
			g.add(name, func(name string) string {
				c := t.Row(name).Cells[unit]
				if !usable(c) || !usable(alone) || alone.Center <= 0 {
					return "—"
				}
				return times(c.Center / alone.Center)
			})
		}
		list = append(list, g)
	}
	return list
}

// lengthTasks is how many tasks the rows of Lengths have.
const lengthTasks = "100000"

// Lengths is the table of what tasks of several lengths take, done in place and otherwise.
func Lengths(file record.File) string {
	peers := []string{peer.InPlace, "go", "weir.Pool"}
	var rows [][]string
	for _, t := range record.Tables(file.Results) {
		if experimentOf(t) != costCurve || t.Param("tasks") != lengthTasks {
			continue
		}
		cells := []string{t.Param("roots")}
		for _, name := range peers {
			c := t.Row(name).Cells[firstUnit(t)]
			if !usable(c) {
				return ""
			}
			cells = append(cells, figure(c.Center, firstUnit(t))+" "+interval(c))
		}
		rows = append(rows, cells)
	}
	return tableMarkdown([]string{"square roots of a task", "in place", "`go`", "`weir.Pool`"}, "--:", rows)
}
