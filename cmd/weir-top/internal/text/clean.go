package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	ellipsis = "…"
	// maxMarks is how many combining marks a character keeps. More marks would overlap the lines above.
	maxMarks = 2
)

// Clean returns s as one line of at most width cells. It escapes what is unsafe for a terminal as Go does in
// strings: \x1b, \n, \u202e.
func Clean(s string, width int) string {
	line, _ := clean(s, width)
	return line
}

// Fit returns s as Clean does, padded with spaces to exactly width cells.
func Fit(s string, width int) string {
	line, used := clean(s, width)
	return line + strings.Repeat(" ", max(0, width-used))
}

// Right is Fit with the spaces on the left, for numbers.
func Right(s string, width int) string {
	line, used := clean(s, width)
	return strings.Repeat(" ", max(0, width-used)) + line
}

// clean does what Clean does, and also returns the width of the line.
func clean(s string, width int) (line string, used int) {
	var b strings.Builder
	end := 0          // of the part of b that leaves room for an ellipsis
	endUsed := 0      // cells of that part
	last := cluster{} // the character that a mark would join
	for s != "" {
		_, size := utf8.DecodeRuneInString(s)
		piece, joined, ok := last.join(s[:size])
		if !ok {
			piece = escape(s[:size])
			joined = cluster{text: piece[len(piece)-1:]}
		}
		added := ansi.StringWidthWc(piece) // by runes, as piece may be a mark alone
		if used+added > width {
			if width < 1 {
				return "", 0
			}
			return b.String()[:end] + ellipsis, endUsed + 1
		}
		b.WriteString(piece)
		used += added
		last = joined
		s = s[size:]
		if used < width {
			end, endUsed = b.Len(), used
		}
	}
	return b.String(), used
}

// cluster is a character with its combining marks.
type cluster struct {
	text  string
	marks int
}

// join returns what to print for the next rune, and the character that the rune belongs to. It returns false
// if the rune must be escaped: the rune is not printable, or terminals that count runes and terminals that
// count characters would disagree on the width.
func (c cluster) join(next string) (string, cluster, bool) {
	r, size := utf8.DecodeRuneInString(next)
	if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
		return "", cluster{}, false
	}
	both := c.text + next
	whole, parts := ansi.StringWidth(both), ansi.StringWidthWc(c.text)+ansi.StringWidthWc(next)
	if whole != parts || whole != ansi.StringWidthWc(both) {
		return "", cluster{}, false
	}
	if ansi.StringWidthWc(next) > 0 {
		return next, cluster{text: next}, true
	}
	if c.text == "" || c.marks == maxMarks {
		return "", cluster{}, false
	}
	return next, cluster{both, c.marks + 1}, true
}

func escape(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf(`\x%02x`, s[0])
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Width returns the width in cells of a line that Clean has returned.
func Width(line string) int { return ansi.StringWidth(line) }
