package top

import "github.com/charmbracelet/x/ansi"

// The styles use no colour of their own but red, so that they are readable on light and dark terminals.
// Bubble Tea omits what the terminal can't show, and all colours if NO_COLOR is set.
var (
	bold   = ansi.NewStyle(ansi.AttrBold)
	faint  = ansi.NewStyle(ansi.AttrFaint)
	titles = ansi.NewStyle(ansi.AttrBold, ansi.AttrUnderline)
	chosen = ansi.NewStyle(ansi.AttrReverse)
	alarm  = ansi.NewStyle(ansi.AttrBold, ansi.AttrRedForegroundColor)
)

// plain removes the styles from a line.
func plain(line string) string { return ansi.Strip(line) }
