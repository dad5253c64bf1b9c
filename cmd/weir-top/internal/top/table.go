package top

import (
	"strings"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

// maxTableName is the largest width of the names in a table without a terminal.
const maxTableName = 48

// Table returns the pools as plain text, all columns and all rows, in the order of the screen.
func Table(page, find string, snapshot *weirdebug.Snapshot) string {
	s := newPools(page, find)
	_ = s.take(snapshot) // accepts any snapshot
	width, shown := 2, []int(nil)
	for i, c := range columns {
		width, shown = width+1+c.width, append(shown, i)
	}
	name := widest(snapshot.Pools, maxTableName)
	width += name
	var b strings.Builder
	line := func(text string) { b.WriteString(strings.TrimRight(plain(text), " ") + "\n") }
	line(text.Clean("weir top  "+page+snapshot.Time.Format("  2006-01-02 15:04:05 -07:00"), 1000))
	line(text.Clean(totals(snapshot, find), 1000))
	if queues := queuesLine(snapshot); queues != "" {
		line(text.Clean(queues, 1000))
	}
	line("")
	line(s.titles(shown, name, width))
	for i := range snapshot.Pools {
		line(poolLine(&snapshot.Pools[i], shown, name, width))
	}
	for i := range snapshot.Pools {
		for _, lint := range snapshot.Pools[i].Lints {
			line("! " + text.Clean(title(&snapshot.Pools[i]), maxTableName) + ": " + text.Clean(lint.Rule+": "+lint.Text, 1000))
		}
	}
	return b.String()
}
