package report

import (
	_ "embed" // the head of the page
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	raw "github.com/yuin/goldmark/renderer/html"

	"github.com/64ed045f/weir/lab/internal/record"
)

//go:embed page.html
var pageHead string

var chapterHead = regexp.MustCompile(`<h2 id="(.+?)">(.+?)</h2>`)

// Page returns one page of HTML with the reports of all files, and with plots. It needs no other file, and has no script.
func Page(files ...record.File) (string, error) {
	d := &document{withPlots: true}
	for _, file := range files {
		d.report(file)
	}
	// The only HTML in the text is that of the pictures, as a document escapes all else.
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(raw.WithUnsafe()))
	var page, body strings.Builder
	if err := markdown.Convert([]byte(d.String()), &body); err != nil {
		return "", err
	}
	page.WriteString(pageHead)
	for _, found := range chapterHead.FindAllStringSubmatch(body.String(), -1) {
		fmt.Fprintf(&page, "<a href=\"#%s\">%s</a>\n", found[1], found[2])
	}
	page.WriteString("</nav>\n" + body.String() + "</main>\n</html>\n")
	return page.String(), nil
}

// pictures appends plots of the tables of an experiment, side by side where there is room.
func (d *document) pictures(tables []record.Table) {
	for _, p := range pictures(tables) {
		d.WriteString("<figure><figcaption>" + html.EscapeString(p.title) + "</figcaption>" + p.svg() + "</figure>\n")
	}
	d.WriteString("\n")
}
