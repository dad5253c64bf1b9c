package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/64ed045f/weir/lab/internal/record"
)

// legend says once how to read the tables.
const legend = "Figures are medians; ± is the interval in which the true median lies with 95 % confidence, ± ? means too few " +
	"rounds for one. “2.0× slower” in a column “against go” says that the peer of this row takes twice the time of go; “about " +
	"equal” that a Mann-Whitney U-test (alpha 0.05) does not tell the rounds of the two apart, or that the medians differ by " +
	"less than 0.5 %. A ratio with “?” comes from fewer rounds than the test needs, four on each side, and is scored as " +
	"nothing; figures that are the same in each of three rounds or more need no test. inplace is the work without any " +
	"concurrency: a bound, not a competitor."

// narrowest is the width below which tables do not get narrower.
const narrowest = 40

// Text writes the tables of a run for a terminal of that width. Without color, a star marks what would be
// bold. A table that is too wide goes on below with the remaining columns.
func Text(w io.Writer, file record.File, color bool, width int) error {
	t := &terminal{to: bufio.NewWriter(w), color: color, width: max(width, narrowest)}
	list := shape(record.Tables(file.Results))
	for _, c := range list {
		t.chapter(c)
	}
	if len(list) == 0 {
		fmt.Fprintln(t.to, "Nothing was measured.")
	} else {
		best := "The best of each column is bold. "
		if !color {
			best = "* is the best of a column. "
		}
		t.paragraph(best + legend)
	}
	return t.to.Flush()
}

type terminal struct {
	to    *bufio.Writer
	color bool
	width int
}

// paint colours a text, if the terminal has colours.
func (t *terminal) paint(s string, color text.Color) string {
	if !t.color || s == "" {
		return s
	}
	return text.Escape(s, color.EscapeSeq())
}

func (t *terminal) paragraph(s string) { t.indented("", s) }

// indented writes a paragraph, each line of which begins with the same text.
func (t *terminal) indented(begin, s string) {
	for line := range strings.SplitSeq(text.WrapSoft(s, t.width-len(begin)), "\n") {
		fmt.Fprintln(t.to, strings.TrimRight(begin+line, " "))
	}
}

func (t *terminal) chapter(c chapter) {
	title := c.Name
	if !strings.EqualFold(c.Title, c.Name) {
		title += ": " + c.Title
	}
	t.paragraph(t.paint(strings.ToUpper(title), text.Bold))
	if c.About != "" {
		t.paragraph(c.About)
	}
	fmt.Fprintln(t.to)
	previous := ""
	for _, g := range c.Grids {
		if g.Bulk {
			continue
		}
		t.grid(g, g.Title+g.Experiment == previous)
		previous = g.Title + g.Experiment
	}
}

// grid shows one grid; again says that the previous grid was of the same experiment.
func (t *terminal) grid(g grid, again bool) {
	heading := join([]string{g.Suite, g.Experiment}, "/")
	for from, rest := 0, true; rest; {
		end, table := t.table(g, from)
		if from > 0 {
			fmt.Fprintln(t.to)
		}
		line := t.paint(heading, text.Bold)
		if params := join([]string{g.Params, g.commonGroup(from, end)}, " · "); params != "" {
			line += "  " + params
		}
		t.paragraph(line)
		if about := join([]string{g.Title, g.About}, ": "); from == 0 && !again && about != "" {
			t.paragraph(t.paint(about, text.Faint))
		}
		if table != "" {
			fmt.Fprintln(t.to, table)
		}
		from, rest = end, end < len(g.Columns)
	}
	for _, lead := range g.Leads {
		t.paragraph(lead)
	}
	for _, n := range g.Notes {
		t.paragraph(t.paint(n, text.Faint))
	}
	previous := ""
	for _, d := range g.Details {
		if d.Verdict == pass {
			continue
		}
		if d.Row != previous {
			t.paragraph(d.Row)
			previous = d.Row
		}
		t.indented("  ", join([]string{join([]string{d.Peer, string(d.Verdict)}, " "), d.Text}, ": "))
	}
	fmt.Fprintln(t.to)
}

func join(parts []string, between string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), between)
}

// table renders as many columns of the grid from number from as the terminal has room for, and returns the
// number of the next column. It breaks a grid between groups if possible.
func (t *terminal) table(g grid, from int) (end int, table string) {
	end = len(g.Columns)
	if end == 0 {
		return end, ""
	}
	names := 0 // width of the names; 0 for their natural width
	for {
		table = t.render(g, from, end, names)
		if text.LongestLineLen(table) <= t.width {
			break
		}
		if names == 0 {
			names = t.width * 2 / 5
		} else if end--; end == from {
			return from + 1, table
		}
	}
	if end == len(g.Columns) {
		return end, table
	}
	begin := end // of the group that must be split
	for begin > from && g.Columns[begin-1].Group != "" && g.Columns[begin-1].Group == g.Columns[end].Group {
		begin--
	}
	if begin > from && begin < end {
		return begin, t.render(g, from, begin, names)
	}
	return end, table
}

// commonGroup returns the group of all these columns, if they have only one.
func (g grid) commonGroup(from, end int) string {
	columns := g.Columns[from:end]
	if len(columns) == 0 || slices.ContainsFunc(columns, func(c column) bool { return c.Group != columns[0].Group }) {
		return ""
	}
	return columns[0].Group
}

// cell returns a cell's text. The side text is next to the figure, and in the foot below it.
func (t *terminal) cell(c cell, foot bool) string {
	s := c.Main
	switch c.Verdict.Class() {
	case "pass":
		s = t.paint(s, text.FgGreen)
	case "fail":
		s = t.paint(s, text.FgRed)
	case "none":
		s = t.paint("–", text.Faint)
	}
	if c.Best {
		if t.color {
			s = t.paint(s, text.Bold)
		} else {
			s = "* " + s
		}
	}
	switch {
	case c.Side == "":
	case foot:
		s += "\n" + c.Side
	default:
		s += " " + t.paint(c.Side, text.Faint)
	}
	return s
}

// render returns the table of g.Columns[from:end]. If names is not 0, the names take at most that width, and
// a cell at most the width that is then left for it.
func (t *terminal) render(g grid, from, end, names int) string {
	to := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	style.Format = table.FormatOptions{}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	to.SetStyle(style)
	to.SuppressTrailingSpaces()

	align := text.AlignRight
	if g.Verdicts() {
		align = text.AlignLeft
	}
	cells := 0
	if names > 0 {
		cells = t.width - names - 2*len(style.Box.PaddingRight)
	}
	head := table.Row{g.Corner}
	configs := []table.ColumnConfig{{Number: 1, WidthMax: names, WidthMaxEnforcer: text.WrapSoft}}
	common := g.commonGroup(from, end)
	for k, c := range g.Columns[from:end] {
		if c.Group != common {
			c.Name = strings.ReplaceAll(c.Group, " · ", "\n") + "\n" + c.Name
		}
		head = append(head, c.Name)
		configs = append(configs, table.ColumnConfig{
			Number: k + 2, Align: align, AlignHeader: align, AlignFooter: align, VAlignHeader: text.VAlignBottom,
			WidthMax: cells, WidthMaxEnforcer: text.WrapSoft,
		})
	}
	to.AppendHeader(head)
	to.SetColumnConfigs(configs)
	// row returns the row's cells in these columns; empty reports that all are blank.
	row := func(r row, foot bool) (out table.Row, empty bool) {
		name := join([]string{r.Name, r.Tag}, ", ")
		if r.Theirs {
			name = t.paint(name, text.Faint)
		}
		out = table.Row{name}
		for _, c := range r.Cells[from:end] {
			out = append(out, t.cell(c, foot))
		}
		return out, !slices.ContainsFunc(r.Cells[from:end], func(c cell) bool { return c.Main != "" })
	}
	for _, r := range g.Rows {
		if out, empty := row(r, false); !r.Theirs || !empty {
			to.AppendRow(out)
		}
	}
	for _, r := range g.Foot {
		if out, empty := row(r, true); !empty {
			to.AppendFooter(out)
		}
	}
	return to.Render()
}
