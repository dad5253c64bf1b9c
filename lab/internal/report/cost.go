package report

import (
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
)

// Lengths is the table of what tasks of several lengths take, done in place and otherwise, where there are 100 000 of them.
func Lengths(file record.File) string {
	peers := []string{peer.InPlace, "go", "weir.Pool"}
	var rows [][]string
	for _, t := range record.Tables(file.Results) {
		if experimentOf(t) != costCurve || t.Param("tasks") != "100000" {
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
