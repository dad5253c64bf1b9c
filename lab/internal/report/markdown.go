package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
)

// Errors of [Insert].
var (
	ErrNoMarker     = errors.New("no marker for it")
	ErrDoubleMarker = errors.New("its marker stands there more than once")
)

// Performance returns the table of Weir's aims: a row for each
// aim of which the file has figures, whether Weir wins it or not. It is empty if
// there is none. The setting "file" names the raw results in the line below it.
func Performance(file record.File) string {
	tables := record.Tables(file.Results)
	rows := standings(tables)
	if len(rows) == 0 {
		return ""
	}
	return standingsMarkdown(rows) + "\nMedians with the interval of 95 % confidence; of several forms of a library its best." +
		fmt.Sprintf("%s %s.\n", question(rows), escapeMarkdown(origin(file, tables)))
}

// Summary returns the few rows of Performance that stand for the others, those that Weir loses by most among them.
func Summary(file record.File) string {
	tables := record.Tables(file.Results)
	var rows []standing
	for _, s := range standings(tables) {
		if s.summary != "" {
			s.Work = s.summary
			s.Weir.Interval, s.Go.Interval, s.Other.Interval = "", "", ""
			rows = append(rows, s)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return standingsMarkdown(rows)
}

func standingsMarkdown(rows []standing) string {
	var b strings.Builder
	b.WriteString("| work | Weir | `go` | best other library | Weir against it | Weir against `go` |\n|---|--:|--:|--:|--:|--:|\n")
	for _, s := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", s.Work,
			entryMarkdown(s.Weir, true), entryMarkdown(s.Go, false), entryMarkdown(s.Other, true),
			cmp.Or(s.OverOther, "–"), cmp.Or(s.OverGo, "–"))
	}
	return b.String()
}

// question explains the question marks, if there are any.
func question(rows []standing) string {
	if slices.ContainsFunc(rows, func(s standing) bool { return strings.HasSuffix(s.OverOther, "?") || strings.HasSuffix(s.OverGo, "?") }) {
		return " A question mark: too few rounds to be sure."
	}
	return ""
}

// origin says in one line where the figures come from.
func origin(file record.File, tables []record.Table) string {
	var parts []string
	add := func(format, key string) {
		if value := clean(file.Setting(key)); value != "" && value != "-" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("%s", "cpu")
	add("%s cores", "cores")
	add("%s", "go-version")
	for _, s := range file.Settings {
		if library, ok := strings.CutPrefix(s.Key, versionPrefix); ok {
			version := clean(s.Value)
			if k := strings.LastIndexByte(version, ' '); k >= 0 {
				version = version[k+1:]
			}
			parts = append(parts, clean(library)+" "+version)
		}
	}
	if len(tables) > 0 { // scenarios run once
		parts = append(parts, "rounds: "+rounds(tables))
	}
	add("%s", "date")
	add("raw results: %s", "file")
	return strings.Join(parts, ", ")
}

func entryMarkdown(e entry, named bool) string {
	if e.Figure == "" {
		return "–"
	}
	// A figure is not to be broken at its unit.
	text := strings.ReplaceAll(join([]string{e.Figure, e.Interval}, " "), " ", noBreak)
	if named {
		text += " (" + escapeMarkdown(e.Peer) + ")"
	}
	return text
}

// Behaviour returns the table of scenarios and what each library does in
// them. It is empty if the file has none.
func Behaviour(file record.File) string {
	tables := record.Tables(file.Results)
	var grids []grid
	for _, e := range experiments(tables) {
		if e.suite == suiteBehaviour {
			grids = addScenario(grids, e)
		}
	}
	if len(grids) == 0 {
		return ""
	}
	g := grids[0]
	var b strings.Builder
	b.WriteString(gridMarkdown(g, verdictText))
	fmt.Fprintf(&b, "\n✓ passes, – does not offer it. %s.\n", escapeMarkdown(origin(file, nil)))
	for _, d := range g.Details {
		if d.Verdict == unmeasured {
			fmt.Fprintf(&b, "\nNot measured: %s in %s: %s.\n",
				escapeMarkdown(d.Peer), escapeMarkdown(d.Row), escapeMarkdown(strings.TrimSuffix(d.Text, ".")))
		}
	}
	return b.String()
}

// Features returns the table of what each library has. It is empty if the file has none.
func Features(file record.File) string {
	for _, e := range experiments(record.Tables(file.Results)) {
		if e.is(suiteSurvey, "feature") {
			return gridMarkdown(featureGrid(e), verdict.Sign)
		}
	}
	return ""
}

func gridMarkdown(g grid, text func(verdict) string) string {
	var b strings.Builder
	b.WriteString("| " + g.Corner)
	for _, c := range g.Columns {
		b.WriteString(" | " + escapeMarkdown(c.Name))
	}
	b.WriteString(" |\n|---" + strings.Repeat("|---", len(g.Columns)) + "|\n")
	for _, r := range g.Rows {
		b.WriteString("| " + escapeMarkdown(strings.TrimSpace(r.Name+" "+r.Tag)))
		for _, c := range r.Cells {
			b.WriteString(" | " + escapeMarkdown(text(c.Verdict)))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// verdictText is a verdict as short as can be read without colour.
func verdictText(v verdict) string {
	switch v {
	case pass, notOffered, "":
		return v.Sign()
	}
	return v.Sign() + " " + string(v)
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
)

func escapeMarkdown(s string) string { return markdownEscapes.Replace(clean(s)) }

// Insert replaces what stands between the markers of that name, <!-- lab:name -->
// and <!-- /lab:name -->, by the text. Both must be there, and once: the errors
// are [ErrNoMarker] and [ErrDoubleMarker].
func Insert(readme []byte, name, text string) ([]byte, error) {
	open, end := []byte("<!-- lab:"+name+" -->"), []byte("<!-- /lab:"+name+" -->")
	for _, marker := range [][]byte{open, end} {
		switch bytes.Count(readme, marker) {
		case 0:
			return nil, fmt.Errorf("%s: %w", marker, ErrNoMarker)
		case 1:
		default:
			return nil, fmt.Errorf("%s: %w", marker, ErrDoubleMarker)
		}
		if strings.Contains(text, string(marker)) {
			return nil, fmt.Errorf("the text has a %s: %w", marker, ErrDoubleMarker)
		}
	}
	from, to := bytes.Index(readme, open)+len(open), bytes.Index(readme, end)
	if to < from {
		return nil, fmt.Errorf("%s stands before %s: %w", end, open, ErrNoMarker)
	}
	return fmt.Appendf(nil, "%s\n%s\n%s", readme[:from], strings.Trim(text, "\n"), readme[to:]), nil
}
