package peers

import (
	"fmt"
	"slices"
	"strings"
)

// Section is what the page has of a peer.
type Section struct {
	Peer
	Version string // whose tests are answered
	Tests   int    // how many it has, examples included
}

// Page returns docs/peers.md.
func Page(sections []Section) string {
	var page strings.Builder
	page.WriteString(pageHead)
	for _, s := range sections {
		apart, different := 0, 0
		for _, a := range s.Apart {
			apart += len(a.Theirs)
		}
		for _, c := range s.Cases {
			different += min(1, len(c.Different))
		}
		fmt.Fprintf(&page, "| [%s](#%s) | %s %s | %d | %d | %d | %d |\n", s.Name, s.Name, s.Module, s.Version,
			s.Tests, apart, len(s.Cases), different)
	}
	for _, s := range sections {
		s.write(&page)
	}
	return page.String()
}

const pageHead = `# What the tests of other pools pin

Other libraries of this field have public tests, and each of those pins something that users may rely on. Here is what that is,
in our words, with tests of ours for each: they show that Weir behaves in the same way, or, where that differs on purpose, what it
does instead. Most are tests of the library, named by their package; ` + "`TestCases`" + ` is in [verify/peers](../verify/peers). This page
is written from the cases there, in ` + "`verify/`" + `, by ` + "`go test ./peers -update`" + `, and a test fails when it is stale, when a test of a peer
is missing, or when one of ours does not exist. To run one:

` + "```" + `
go test -run '^TestSeveralMayWaitForAGroup$' .
cd verify && go test ./peers -run '^TestCases$/^errgroup$/^GroupZeroValue$'
` + "```" + `

[migrating.md](migrating.md) says how the calls of those libraries are written here. A test with subtests counts as these; one test of
ours may answer several of theirs, and several of ours one of theirs. Some pin nothing that a user could rely on; the text below each table says why.

| library | version | their tests | pin nothing of their own | behaviours | differ on purpose |
|---|---|--:|--:|--:|--:|
`

// write adds the section of a peer.
func (s Section) write(page *strings.Builder) {
	fmt.Fprintf(page, "\n## %s\n\n| behaviour | whose | ours |\n|---|---|---|\n", s.Name)
	for _, c := range s.Cases {
		tests := slices.Clone(c.Ours)
		if c.Run != nil {
			tests = append(tests, "TestCases/"+s.Name+"/"+c.Name)
		}
		ours := codes(tests)
		if c.Different != "" {
			ours += "<br>differs: " + c.Different
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", c.Behaviour, codes(c.Theirs), ours)
	}
	if len(s.Apart) > 0 {
		page.WriteString("\nThese have no case of their own:\n\n")
	}
	for _, apart := range s.Apart {
		fmt.Fprintf(page, "- %s, since %s.\n", codes(apart.Theirs), apart.Reason)
	}
}

// codes sets names as code, in a cell of a table.
func codes(names []string) string {
	var set []string
	for _, name := range names {
		set = append(set, code(name))
	}
	return strings.Join(set, ", ")
}

// code sets a name as code, in a cell of a table.
func code(name string) string { return "`" + strings.ReplaceAll(name, "|", `\|`) + "`" }
