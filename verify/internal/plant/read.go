package plant

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// files has the mistakes, as changes of whole lines. A file begins with a line that says what its mistakes have
// in common. Each mistake then reads:
//
//	== name: what goes wrong, as the end of the sentence "with it, …"
//	scene: the explorer's scene that shows it soonest, for code without locks
//	--- the file, with slashes, from the root of the repository
//	 a line that stays
//	-a line that goes
//	+a line that comes
//	@@ before another change of the same file
//
// The lines that stay or go must stand in the file exactly once, one after the other. PLANTED in a line that comes is a bool
// expression: whether the mistake is in force. An empty line is one that stays, except in front of a mistake.
//
// In the place of a scene there may be a "rare scene", which needs more than 20 000 executions if they are random, or it says in a
// line "beyond" why the explorer does not look for the mistake.
//
//go:embed bugs/*.diff
var files embed.FS

// Read returns the mistakes of files, each named by a pattern of [path.Match], without folder and ending.
func Read(patterns ...string) []Bug {
	var bugs []Bug
	for _, pattern := range patterns {
		names, err := fs.Glob(files, "bugs/"+pattern+".diff")
		if err != nil || len(names) == 0 {
			panic(fmt.Sprint("no file is ", pattern, ".diff: ", err))
		}
		for _, name := range names {
			text, err := files.ReadFile(name)
			found, wrong := parse(string(text))
			if err != nil || wrong != nil {
				panic(fmt.Sprint(name, ": ", err, wrong))
			}
			bugs = append(bugs, found...)
		}
	}
	return bugs
}

// parse returns the mistakes that the text of a file lists.
func parse(text string) ([]Bug, error) {
	var bugs []Bug
	for _, section := range strings.Split(text, "\n\n== ")[1:] {
		lines := strings.Split(strings.TrimRight(section, "\n"), "\n")
		name, breaks, ok := strings.Cut(lines[0], ": ")
		if !ok {
			return nil, fmt.Errorf("%q does not say what it breaks", lines[0])
		}
		bug := Bug{Name: name, Breaks: breaks}
		var edit *Edit
		for _, line := range lines[1:] {
			file, isFile := strings.CutPrefix(line, "--- ")
			switch {
			case isFile:
				bug.Edits = append(bug.Edits, Edit{File: file})
				edit = &bug.Edits[len(bug.Edits)-1]
			case edit == nil && bug.note(line):
			case edit == nil:
				return nil, fmt.Errorf("%s: what does the line %q say?", name, line)
			case line == "@@":
				bug.Edits = append(bug.Edits, Edit{File: edit.File})
				edit = &bug.Edits[len(bug.Edits)-1]
			case line == "":
				edit.Old += "\n"
				edit.New += "\n"
			case line[0] == ' ':
				edit.Old += line[1:] + "\n"
				edit.New += line[1:] + "\n"
			case line[0] == '-':
				edit.Old += line[1:] + "\n"
			case line[0] == '+':
				edit.New += line[1:] + "\n"
			default:
				return nil, fmt.Errorf("%s: what is done with the line %q?", name, line)
			}
		}
		bugs = append(bugs, bug)
	}
	return bugs, nil
}

// note takes what the line above the changes says of the mistake, and reports whether it knows that.
func (b *Bug) note(line string) (known bool) {
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "scene", "rare scene":
		b.Scene, b.Rare = value, key != "scene"
	case "beyond":
		b.Beyond = value
	default:
		return false
	}
	return true
}

// narrow returns where an edit changes the text in which its old lines begin at from, and what comes there: without what
// the old and the new lines have in common at their start and end, so that two mistakes may change one line.
func (e Edit) narrow(from int) (start, end int, text string) {
	before, after := e.Old, e.New
	for before != "" && after != "" && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	start = from + len(e.Old) - len(before)
	for before != "" && after != "" && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return start, start + len(before), after
}
