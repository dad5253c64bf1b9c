package peers

import (
	"fmt"
	"regexp"
	"strings"
)

// Section is what docs/peers.md has of a peer: a library whose public tests are answered there.
type Section struct {
	Name     string // that of its section, and in the names of subtests
	Module   string // its path
	Version  string // whose tests are answered
	Overview string // its row in the table of all peers
	Cases    []Case
	Apart    []string // tests that pin nothing of their own that a user could rely on
}

// Case is a row: one behaviour that tests of a peer pin.
type Case struct {
	// Behaviour says in one sentence what is promised: by both, or, if Different is set, by the peer.
	Behaviour string
	// Theirs are the peer's tests which pin the behaviour, as they stand in testdata: the package, the test, and the path of the subtest.
	Theirs []string
	// Ours show what Weir does: tests and examples of the library, such as par.TestLoopsDoWhatALoopDoes/Each, and subtests of TestCases.
	Ours []string
	// Different says in one sentence what Weir does instead, and why. It is empty if Weir behaves in the same way.
	Different string
}

// Read reads the page.
func Read(page string) ([]Section, error) {
	head, rest, _ := strings.Cut(page, "\n## ")
	var sections []Section
	for _, row := range regexp.MustCompile(`(?m)^\| \[(\w+)\]\(#\w+\) \| (\S+) (\S+) \| .*$`).FindAllStringSubmatch(head, -1) {
		sections = append(sections, Section{Overview: row[0], Name: row[1], Module: row[2], Version: row[3]})
	}
	texts := strings.Split(rest, "\n## ")
	if len(texts) != len(sections) {
		return nil, fmt.Errorf("the table of all has %d peers, and there are %d sections", len(sections), len(texts))
	}
	for i, text := range texts {
		if err := sections[i].read(text); err != nil {
			return nil, fmt.Errorf("%s: %w", sections[i].Name, err)
		}
	}
	return sections, nil
}

// read reads a section, from its title on.
func (s *Section) read(text string) error {
	title, text, _ := strings.Cut(text, "\n")
	if title != s.Name {
		return fmt.Errorf("its section has the title %s", title)
	}
	const rule = "|---|---|---|"
	_, text, found := strings.Cut(text, rule+"\n")
	if !found {
		return fmt.Errorf("no line %s", rule)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if len(cells) != 3 {
				return fmt.Errorf("%d cells: %s", len(cells), line)
			}
			ours, different, _ := strings.Cut(cells[2], "<br>differs: ")
			s.Cases = append(s.Cases, Case{cells[0], names(cells[1]), names(ours), different})
		case strings.HasPrefix(line, "- "):
			tests, _, _ := strings.Cut(line, ", since ")
			s.Apart = append(s.Apart, names(tests)...)
		}
	}
	return nil
}

// names returns what is set as code.
func names(text string) (all []string) {
	for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		all = append(all, code[1])
	}
	return all
}
