package report

import (
	"bytes"
	_ "embed" // the head of the page
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// legend says once how to read the tables.
const legend = "★ marks the best of a column; in a table of servers, of a row. Figures are medians; ± is the interval in which the true " +
	"median lies with 95 % confidence, ± ? means too few rounds for one. “2.0× slower” in a column “against go” says that the peer of " +
	"this row takes twice the time of go; “about equal” that a Mann-Whitney U-test (alpha 0.05) does not tell the rounds of the two " +
	"apart, or that the medians differ by less than 0.5 %. A ratio with “?” comes from fewer rounds than the test needs, four on each " +
	"side, and is scored as nothing; figures that are the same in each of three rounds or more need no test. inplace is the work " +
	"without any concurrency: a bound, not a competitor. Compared are time and peak memory; both are those of the form of Weir that is " +
	"best on time. Not scored: what a task costs in addition to its work (cost), the scenarios (behaviour), the table of features, " +
	"allocations and percentiles. Whiskers in the plots are the intervals. Documents 000 to 004 are five published texts about " +
	"goroutine pools, listed in lab/METHOD.md; their figures come from other machines and are never part of a ratio. rill, tunny, " +
	"varmq and golang-queue are not measured."

// A document is a text in Markdown. Its methods escape what they are given: no name in a file of results can change the
// structure of the document.
type document struct {
	text     strings.Builder
	pictures []picture
}

func (d *document) heading(level int, text string) {
	d.paragraph(strings.Repeat("#", level) + " " + escapeMarkdown(text))
}

// say appends a paragraph; it ignores an empty one.
func (d *document) say(text string) { d.paragraph(escapeMarkdown(text)) }

// paragraph is like say, for a text that is Markdown.
func (d *document) paragraph(text string) {
	if text != "" {
		d.text.WriteString(text + "\n\n")
	}
}

func (d *document) list(items []string) {
	var lines []string
	for _, item := range items {
		lines = append(lines, "- "+escapeMarkdown(item))
	}
	d.paragraph(strings.Join(lines, "\n"))
}

// table appends a table, the first row of which is its head. Its columns are also aligned in the text.
func (d *document) table(rows [][]string) {
	if len(rows) < 2 || len(rows[0]) < 2 {
		return
	}
	rows = escaped(rows)
	for k := range rows[0] {
		width := 0
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[k]))
		}
		for _, row := range rows {
			row[k] += strings.Repeat(" ", width-utf8.RuneCountInString(row[k]))
		}
	}
	d.paragraph(strings.TrimSuffix(tableMarkdown(rows[0], "---", rows[1:]), "\n"))
}

func (d *document) picture(p picture) {
	d.pictures = append(d.pictures, p)
	d.paragraph("![" + escapeMarkdown(p.title) + "](" + p.name + ".svg)")
}

//go:embed page.html
var pageHead string

var chapterHead = regexp.MustCompile(`<h2 id="(.+?)">(.+?)</h2>`)

// HTML returns one page with all reports. The page needs no other file, and has no script.
func HTML(reports []Report) (string, error) {
	var body bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	text := ""
	var pictures []string
	for _, r := range reports {
		text += r.Markdown
		for _, p := range r.pictures {
			pictures = append(pictures, `src="`+p.name+`.svg"`, `src="data:image/svg+xml;base64,`+base64.StdEncoding.EncodeToString(p.svg)+`"`)
		}
	}
	if text == "" {
		text = nothing
	}
	if err := markdown.Convert([]byte(text), &body); err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString(pageHead)
	for _, found := range chapterHead.FindAllStringSubmatch(body.String(), -1) {
		fmt.Fprintf(&page, "<a href=\"#%s\">%s</a>\n", found[1], found[2])
	}
	page.WriteString("</nav>\n" + strings.NewReplacer(pictures...).Replace(body.String()) + "</main>\n")
	return page.String(), nil
}

// Write writes the page and the plots of all reports into a folder. It first removes the plots of earlier runs, which a reader would
// take for plots of these.
func Write(folder string, reports []Report) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	page, failed := HTML(reports)
	err = errors.Join(err, failed, os.WriteFile(filepath.Join(folder, "report.html"), []byte(page), 0o644))
	for _, r := range reports {
		for _, p := range r.pictures {
			err = errors.Join(err, os.WriteFile(filepath.Join(folder, p.name+".svg"), p.svg, 0o644))
		}
	}
	return err
}
