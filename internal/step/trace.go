package step

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// trace holds what an execution did, line by line.
type trace struct{ lines []string }

func (t *trace) note(e *execution, g *goroutine, doing string) {
	g.place = t.caller()
	t.lines = append(t.lines, fmt.Sprintf("%5d  %-14s %-24s %s", e.moment, g.title(), doing, g.place))
}

// caller returns the file and line that makes the step: the first frame outside this package.
func (*trace) caller() string {
	var calls [24]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(3, calls[:])])
	for {
		frame, more := frames.Next()
		if !strings.Contains(frame.Function, "/internal/step.") || strings.HasSuffix(frame.File, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

func (g *goroutine) title() string {
	if g.name == "" {
		return fmt.Sprintf("%d", g.id)
	}
	return fmt.Sprintf("%d %s", g.id, g.name)
}

// deadlock returns a text that says which goroutine waits for what.
func (e *execution) deadlock() string {
	var text strings.Builder
	text.WriteString("deadlock: no goroutine can go on")
	for _, g := range e.all {
		if g.state != ended && g.state != due {
			fmt.Fprintf(&text, "\n\tgoroutine %s: %s %s", g.title(), g.doing, g.place)
		}
	}
	return text.String()
}
