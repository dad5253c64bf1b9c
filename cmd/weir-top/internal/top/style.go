package top

import "github.com/charmbracelet/x/ansi"

// The styles need no colours of their own but red, so that they can be read on light and dark terminals. Bubble Tea leaves
// out what the terminal can't show, and colours if NO_COLOR is set.
var (
	bold   = ansi.NewStyle(ansi.AttrBold)
	faint  = ansi.NewStyle(ansi.AttrFaint)
	titles = ansi.NewStyle(ansi.AttrBold, ansi.AttrUnderline)
	chosen = ansi.NewStyle(ansi.AttrReverse)
	alarm  = ansi.NewStyle(ansi.AttrBold, ansi.AttrRedForegroundColor)
)

// plain takes the styles out of a line.
func plain(line string) string { return ansi.Strip(line) }
