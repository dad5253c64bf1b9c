// Package plant builds programs into which mistakes have been put on purpose. A method
// that looks for mistakes must first show that it finds those.
//
// A mistake is a change of the library's text, behind a switch. All of them go
// into one build, by way of -overlay, so that the tree itself stays as it is;
// the environment of a process says which one is in force there, if any.
package plant

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"

	// The text of these is read from the tree, by compilers started here, so that the go
	// command does not know that a test depends on it. It would take results for valid that
	// are older than a change.
	_ "github.com/64ed045f/weir"
	_ "github.com/64ed045f/weir/errgroup"
	_ "github.com/64ed045f/weir/par"
	_ "github.com/64ed045f/weir/reuse"
	_ "github.com/64ed045f/weir/verify/places"
	_ "github.com/64ed045f/weir/weirhttp"
)

// Env is the environment variable that names the mistake in force.
const Env = "WEIR_PLANTED"

// Bug is a mistake.
type Bug struct {
	Name   string // of small letters and hyphens
	Breaks string // what goes wrong, as the end of the sentence "with it, …"
	Edits  []Edit

	// Of those for the explorer.
	Scene  string // the one that shows it soonest
	Rare   bool   // in more than 20 000 executions, if these are random
	Beyond string // why there is no such scene, or none that the quick search would look at
}

// Edit replaces a text of one file.
type Edit struct {
	File string // with slashes, from the root of the repository
	Old  string // whole lines, which stand in it exactly once
	New  string // the lines in their place
}

// switchFile is the package that the changed files ask, which no tree has.
const (
	switchFile   = "internal/planted/planted.go"
	switchImport = `import "github.com/64ed045f/weir/internal/planted"`
	switchSource = `// Package planted tells which mistake is in force.
package planted

import "os"

var name = os.Getenv("` + Env + `")

// On reports whether the mistake of this name is.
func On(n string) bool { return n == name }
`
)

// Root is the folder of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Text returns the text of a file of the repository, by its name from the root, with slashes.
func Text(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), filepath.FromSlash(name)))
	check.Must(tb, err)
	return string(text)
}

// Sources returns the text of every file that differs from the tree when bugs are
// planted, by its name from the root. No two edits may touch each other.
func Sources(bugs []Bug) (map[string]string, error) {
	type span struct {
		from, to int
		text     string
	}
	spans := map[string][]span{}
	originals := map[string]string{}
	seen := map[string]bool{}
	var unfit []error
	for _, bug := range bugs {
		if seen[bug.Name] {
			return nil, fmt.Errorf("two bugs have the name %q", bug.Name)
		}
		seen[bug.Name] = true
		for _, edit := range bug.Edits {
			if _, ok := originals[edit.File]; !ok {
				text, err := os.ReadFile(filepath.Join(Root(), filepath.FromSlash(edit.File)))
				if err != nil {
					return nil, fmt.Errorf("bug %s: %w", bug.Name, err)
				}
				originals[edit.File] = string(text)
			}
			text := originals[edit.File]
			edit.New = strings.ReplaceAll(edit.New, "PLANTED", fmt.Sprintf("planted.On(%q)", bug.Name))
			if n := strings.Count(text, "\n"+edit.Old); n != 1 {
				unfit = append(unfit, fmt.Errorf("bug %s: its old lines stand %d times in %s, not once:\n%s", bug.Name, n, edit.File, edit.Old))
				continue
			}
			from, to, with := edit.narrow(strings.Index(text, "\n"+edit.Old) + 1)
			spans[edit.File] = append(spans[edit.File], span{from, to, with})
		}
	}
	if len(unfit) > 0 {
		return nil, errors.Join(unfit...)
	}
	changed := map[string]string{switchFile: switchSource}
	for file, edits := range spans {
		slices.SortStableFunc(edits, func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to) })
		var out strings.Builder
		text, at := originals[file], 0
		for _, edit := range edits {
			if edit.from < at {
				return nil, fmt.Errorf("two edits of %s overlap at %q", file, text[edit.from:edit.to])
			}
			out.WriteString(text[at:edit.from])
			out.WriteString(edit.text)
			at = edit.to
		}
		out.WriteString(text[at:])
		source, err := addImport(out.String())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		changed[file] = source
	}
	return changed, nil
}

// addImport imports the switch on the line of the package clause, so that all others keep their number.
func addImport(source string) (string, error) {
	at := 0
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "package ") {
			end := at + len(strings.TrimRight(line, "\r\n"))
			return source[:end] + "; " + switchImport + source[end:], nil
		}
		at += len(line)
	}
	return "", errors.New("no package clause")
}
