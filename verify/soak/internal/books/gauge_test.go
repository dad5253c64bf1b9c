package books_test

import (
	"testing"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

func TestAGaugeReportsWhatRunsAboveItsLimit(t *testing.T) {
	enter := func(g *books.Gauge, n int) {
		for range n {
			g.Enter()
		}
	}
	for name, c := range map[string]struct {
		limit int
		fine  func(g *books.Gauge)
		last  func(g *books.Gauge) // that alone is a breach
		want  string
	}{
		"a start above the limit": {3, func(g *books.Gauge) {
			enter(g, 3)
			g.Leave()
			enter(g, 1)
		}, (*books.Gauge).Enter, "a task has started while 3 ran: the limit is 3"},
		"under a lower limit only what was taken may start": {4, func(g *books.Gauge) {
			enter(g, 1)
			g.Lower(1)
			// Three were taken and had not started; the gauge cannot know that it was not four.
			for range 4 {
				g.Enter()
				g.Leave()
			}
		}, (*books.Gauge).Enter, "a task has started while 1 ran: the limit is 1"},
		"a higher limit holds at once": {1, func(g *books.Gauge) {
			g.Raise(3)
			enter(g, 3)
		}, (*books.Gauge).Enter, "the limit is 3"},
	} {
		t.Run(name, func(t *testing.T) {
			j := books.NewJournal()
			g := books.NewGauge(books.New("load", j), c.limit)
			c.fine(g)
			wantBreach(t, j, "")
			c.last(g)
			wantBreach(t, j, c.want)
		})
	}
}
