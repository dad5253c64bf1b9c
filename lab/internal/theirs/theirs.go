// Package theirs has figures that the documents publish, for display next to ours. They were measured years
// ago, on other machines, by other programs, so only their ratios can be compared.
package theirs

import (
	_ "embed" // the figures
	"fmt"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
)

// A Figure is one row of a table that a document publishes.
type Figure struct {
	Document string // "003"
	Machine  string // "laptop, 8 GB"

	// At says next to which tables of ours the figure is shown, as [record.Table.Is] has it.
	At string

	// Cores is how many cores the document used; 0 if it does not say. A figure of one core is shown next to
	// ours of one core, any other next to ours of several cores.
	Cores int

	Peer   string // the document's name for it: "plain goroutines", "ants, one function"
	Values []record.Value
}

// Stands reports whether the figure belongs to the table.
func (f Figure) Stands(t record.Table) bool { return t.Is(f.At) && (f.Cores == 1) == (t.Procs == 1) }

//go:embed figures.txt
var figures string

// All returns the figures, document by document.
func All() []Figure {
	var list []Figure
	var f Figure
	for line := range strings.Lines(figures) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) != 3 {
			continue // a comment
		}
		if document, ok := strings.CutPrefix(fields[0], "document "); ok {
			f = Figure{Document: document, Machine: fields[1]}
			_, _ = fmt.Sscanf(fields[2], "cores: %d", &f.Cores) // 0 where it is not named
			continue
		}
		f.At, f.Peer, f.Values = fields[0], fields[1], nil
		for word := range strings.FieldsSeq(fields[2]) {
			var v record.Value
			unit, value, _ := strings.Cut(word, "=")
			if _, err := fmt.Sscan(value, &v.Value); err != nil {
				panic(fmt.Sprintf("figures.txt: %s: %v", line, err))
			}
			v.Unit = unit
			f.Values = append(f.Values, v)
		}
		list = append(list, f)
	}
	return list
}
