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

// legend says once how the tables are to be read.
const legend = "Figures are medians; ± is the interval in which the true median lies with 95 % confidence, ± ? means too few " +
	"rounds for one. “2.0× slower” in a column “against go” says that the peer of this row takes twice the time of go; “about " +
	"equal” that a Mann-Whitney U-test (alpha 0.05) does not tell the rounds of the two apart, or that the medians differ by " +
	"less than 0.5 %. A ratio with “?” comes from fewer rounds than the test needs, four on each side, and is scored as " +
	"nothing; figures that are the same in each of three rounds or more need no test. inplace is the work without any " +
	"concurrency: a bound, not a competitor."

// ANSI codes of a terminal.
const (
	ansiBold  = "\x1b[1m"
	ansiFaint = "\x1b[2m"
	ansiGreen = "\x1b[32m"
	ansiRed   = "\x1b[31m"
	ansiEnd   = "\x1b[0m"
)

// narrowest is the width below which tables are not made narrower still.
const narrowest = 40

// Text writes the tables of a run for a terminal of that width. Where there is no
// color, a star marks what is bold otherwise. A table that is too wide goes on
// below, with other columns.
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

// paint puts codes around a text, where there are colors.
func (t *terminal) paint(s, code string) string {
	if !t.color || s == "" {
		return s
	}
	return code + s + ansiEnd
}

func (t *terminal) paragraph(s string) { t.indented("", s) }

// indented writes a paragraph whose lines all begin with the same.
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
	fmt.Fprintln(t.to, t.paint(strings.ToUpper(title), ansiBold))
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

// grid shows one grid; again says that the one before was of the same experiment.
func (t *terminal) grid(g grid, again bool) {
	heading := g.Suite
	if g.Experiment != "" {
		heading += "/" + g.Experiment
	}
	for k, part := range t.parts(g) {
		if k > 0 {
			fmt.Fprintln(t.to)
		}
		line := t.paint(heading, ansiBold)
		if params := join(part.common, " · "); params != "" {
			line += "  " + params
		}
		t.paragraph(line)
		if about := join([]string{g.Title, g.About}, ": "); k == 0 && !again && about != "" {
			t.paragraph(t.paint(about, ansiFaint))
		}
		if len(part.columns) > 0 {
			t.table(g, part)
		}
	}
	for _, lead := range g.Leads {
		t.paragraph(lead)
	}
	for _, n := range g.Notes {
		t.paragraph(t.paint(n, ansiFaint))
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

// A part is the columns of a grid that fit side by side.
type part struct {
	columns []int
	common  []string // what all of them have in common, for the heading
}

// gap is what stands between two columns.
const gap = 2

func (t *terminal) columnWidths(g grid) []int {
	widths := make([]int, len(g.Columns))
	for k, c := range g.Columns {
		widths[k] = max(runes(c.Name), longestPart(c.Group))
		for _, r := range slices.Concat(g.Rows, g.Foot) {
			widths[k] = max(widths[k], t.cellWidth(r.Cells[k]))
		}
		widths[k] += gap
	}
	return widths
}

// parts breaks a grid into as few parts as fit, between groups where it can.
func (t *terminal) parts(g grid) []part {
	widths := t.columnWidths(g)
	first := t.nameWidth(g) + gap
	var list []part
	var now part
	used := first
	flush := func() {
		if len(now.columns) > 0 {
			list = append(list, now)
		}
		now, used = part{}, first
	}
	for k := 0; k < len(g.Columns); {
		// The columns of a group stay together if a line has room for them.
		group, end := widths[k], k+1
		for g.Columns[k].Group != "" && end < len(g.Columns) && g.Columns[end].Group == g.Columns[k].Group {
			group += widths[end]
			end++
		}
		if first+group > t.width {
			group, end = widths[k], k+1
		}
		if used+group > t.width {
			flush()
		}
		for ; k < end; k++ {
			now.columns = append(now.columns, k)
		}
		used += group
	}
	flush()
	for i := range list {
		list[i].common = []string{g.Params}
		if group := g.Columns[list[i].columns[0]].Group; sameGroup(g, list[i]) {
			list[i].common = append(list[i].common, group)
		}
	}
	if len(list) == 0 {
		list = []part{{common: []string{g.Params}}}
	}
	return list
}

// shows says whether the row has anything in these columns.
func (p part) shows(r row) bool {
	return slices.ContainsFunc(p.columns, func(k int) bool { return r.Cells[k].Main != "" })
}

// sameGroup says whether all columns of the part are of one group.
func sameGroup(g grid, p part) bool {
	return !slices.ContainsFunc(p.columns, func(k int) bool { return g.Columns[k].Group != g.Columns[p.columns[0]].Group })
}

func runes(s string) int { return text.StringWidthWithoutEscSequences(s) }

func longestPart(s string) int {
	longest := 0
	for part := range strings.SplitSeq(s, " · ") {
		longest = max(longest, runes(part))
	}
	return longest
}

func (t *terminal) nameWidth(g grid) int {
	widest := runes(g.Corner)
	for _, r := range slices.Concat(g.Rows, g.Foot) {
		widest = max(widest, runes(join([]string{r.Name, r.Tag}, ", ")))
	}
	rest := t.width - gap
	for _, width := range t.columnWidths(g) {
		rest -= width
	}
	return min(widest, max(rest, t.width*2/5))
}

func (t *terminal) cellWidth(c cell) int {
	widest := 0
	for line := range strings.Lines(t.cell(c, false)) {
		widest = max(widest, runes(strings.TrimSpace(line)))
	}
	return widest
}

// cell is a cell's text. What belongs to a figure stands next to it, and in the foot
// below it.
func (t *terminal) cell(c cell, foot bool) string {
	s := c.Main
	switch c.Verdict.Class() {
	case "pass":
		s = t.paint(s, ansiGreen)
	case "fail":
		s = t.paint(s, ansiRed)
	case "none":
		s = t.paint("–", ansiFaint)
	}
	if c.Best {
		if t.color {
			s = t.paint(s, ansiBold)
		} else {
			s = "* " + s
		}
	}
	switch {
	case c.Side == "":
	case foot:
		s += "\n" + c.Side
	default:
		s += " " + t.paint(c.Side, ansiFaint)
	}
	return s
}

func (t *terminal) table(g grid, p part) {
	to := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	style.Format = table.FormatOptions{}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	to.SetStyle(style)
	to.SuppressTrailingSpaces()

	head := table.Row{g.Corner}
	configs := []table.ColumnConfig{{Number: 1, WidthMax: t.nameWidth(g), WidthMaxEnforcer: text.WrapSoft}}
	same := sameGroup(g, p)
	for i, k := range p.columns {
		name := g.Columns[k].Name
		if !same && g.Columns[k].Group != "" {
			name = strings.ReplaceAll(g.Columns[k].Group, " · ", "\n") + "\n" + name
		}
		head = append(head, name)
		align := text.AlignRight
		if g.Verdicts() {
			align = text.AlignLeft
		}
		configs = append(configs, table.ColumnConfig{
			Number: i + 2, Align: align, AlignHeader: align, AlignFooter: align,
			VAlignHeader: text.VAlignBottom,
			WidthMax:     t.width - t.nameWidth(g) - gap, WidthMaxEnforcer: text.WrapSoft,
		})
	}
	to.AppendHeader(head)
	to.SetColumnConfigs(configs)
	for _, r := range g.Rows {
		if !r.Theirs || p.shows(r) {
			to.AppendRow(t.row(r, p, false))
		}
	}
	for _, r := range g.Foot {
		if p.shows(r) {
			to.AppendFooter(t.row(r, p, true))
		}
	}
	fmt.Fprintln(t.to, to.Render())
}

func (t *terminal) row(r row, p part, foot bool) table.Row {
	name := join([]string{r.Name, r.Tag}, ", ")
	if r.Theirs {
		name = t.paint(name, ansiFaint)
	}
	out := table.Row{name}
	for _, k := range p.columns {
		out = append(out, t.cell(r.Cells[k], foot))
	}
	return out
}
