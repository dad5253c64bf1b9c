package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/record"
)

// Performance returns the table of Weir's goals: a row for each goal of which the file has figures, whether
// Weir reaches it or not. It is empty if there is no such goal. The line below the table names the raw
// results, from the setting "file".
func Performance(file record.File) string {
	tables := record.Tables(file.Results)
	rows := standings(tables, false)
	if len(rows) == 0 {
		return ""
	}
	return standingsMarkdown(rows) + "\nMedians with the interval of 95 % confidence; of several forms of a library its best." +
		fmt.Sprintf("%s %s.\n", question(rows), escapeMarkdown(origin(file, tables)))
}

// Summary returns the most important rows of Performance, including those where Weir loses by most.
func Summary(file record.File) string {
	return standingsMarkdown(standings(record.Tables(file.Results), true))
}

func standingsMarkdown(rows [][]string) string {
	return tableMarkdown([]string{"work", "Weir", "`go`", "best other library", "Weir against it", "Weir against `go`"}, "--:", rows)
}

// tableMarkdown returns a table. align is the alignment of all columns but the first. The table is empty if
// it has no rows.
func tableMarkdown(head []string, align string, rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	b.WriteString("|---" + strings.Repeat("|"+align, len(head)-1) + "|\n")
	for _, cells := range rows {
		line(cells)
	}
	return b.String()
}

// question explains the question marks of the rows, if there are any.
func question(rows [][]string) string {
	if slices.ContainsFunc(rows, func(row []string) bool { return strings.HasSuffix(row[4], "?") || strings.HasSuffix(row[5], "?") }) {
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
		if library, ok := strings.CutPrefix(s.Key, machine.VersionKey); ok {
			version := clean(s.Value)
			if k := strings.LastIndexByte(version, ' '); k >= 0 {
				version = version[k+1:]
			}
			parts = append(parts, clean(library)+" "+version)
		}
	}
	if len(tables) > 0 { // scenarios run only once
		parts = append(parts, "rounds: "+rounds(tables))
	}
	add("%s", "date")
	add("raw results: %s", "file")
	return strings.Join(parts, ", ")
}

// Behaviour returns the table of scenarios, and of what each library does in them. It is empty if the file
// has no scenarios.
func Behaviour(file record.File) string {
	tables := find(file, scenarios)
	if len(tables) == 0 {
		return ""
	}
	g := behaviourGrid(tables)
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n✓ passes, – does not offer it. %s.\n", g.markdown("scenario"), escapeMarkdown(origin(file, nil)))
	for _, r := range g.reasons {
		if r.verdict == unmeasured {
			fmt.Fprintf(&text, "\nNot measured: %s in %s: %s.\n",
				escapeMarkdown(r.column), escapeMarkdown(r.row), escapeMarkdown(strings.TrimSuffix(r.text, ".")))
		}
	}
	return text.String()
}

// Features returns the table of features by library. It is empty if the file has none.
func Features(file record.File) string {
	return featureGrid(find(file, features)).markdown("library")
}

// find returns the tables of an experiment.
func find(file record.File, experiment string) []record.Table {
	return slices.DeleteFunc(record.Tables(file.Results), func(t record.Table) bool { return experimentOf(t) != experiment })
}

// table returns the grid's head and rows; corner stands above the names.
func (g grid) table(corner string) [][]string {
	return slices.Concat([][]string{slices.Concat([]string{corner}, g.head)}, g.rows)
}

// markdown returns the table of the grid.
func (g grid) markdown(corner string) string {
	rows := escaped(g.table(corner))
	return tableMarkdown(rows[0], "---", rows[1:])
}

func escaped(rows [][]string) [][]string {
	var list [][]string
	for _, row := range rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, escapeMarkdown(cell))
		}
		list = append(list, cells)
	}
	return list
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
)

func escapeMarkdown(s string) string { return markdownEscapes.Replace(clean(s)) }

// Insert replaces the text between the markers <!-- lab:name --> and <!-- /lab:name -->. Each marker must
// occur exactly once, in this order.
func Insert(page []byte, name, text string) ([]byte, error) {
	open, end := "<!-- lab:"+name+" -->", "<!-- /lab:"+name+" -->"
	before, rest, _ := strings.Cut(string(page), open)
	_, after, ok := strings.Cut(rest, end)
	all := string(page) + text
	if !ok || strings.Count(all, open) != 1 || strings.Count(all, end) != 1 {
		return nil, fmt.Errorf("there must be one %s, and after it one %s", open, end)
	}
	return fmt.Appendf(nil, "%s%s\n%s\n%s%s", before, open, strings.Trim(text, "\n"), end, after), nil
}

func join(parts []string, between string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), between)
}
