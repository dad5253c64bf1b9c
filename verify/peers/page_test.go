package peers_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/peers"
)

// page reads docs/peers.md.
func page(t *testing.T) []peers.Section {
	t.Helper()
	sections, err := peers.Read(plant.Text(t, "docs/peers.md"))
	check.Must(t, err)
	if len(sections) != len(casesOf) {
		t.Fatalf("the page has %d peers, and there are cases for %d", len(sections), len(casesOf))
	}
	return sections
}

func TestThePageCountsWhatItHas(t *testing.T) {
	for _, s := range page(t) {
		different := 0
		for _, c := range s.Cases {
			different += min(1, len(c.Different))
		}
		version, names := namesOf(t, s)
		want := fmt.Sprintf("| [%s](#%[1]s) | %s %s | %d | %d | %d | %d |", s.Name, s.Module, version, len(names), len(s.Apart), len(s.Cases), different)
		if s.Overview != want {
			t.Errorf("the first table has the row\n%s\nand must have\n%s", s.Overview, want)
		}
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	sentence := regexp.MustCompile(`^[A-Z][^|\n]*[^.|\n]\.$`)
	for _, s := range page(t) {
		for _, c := range s.Cases {
			if !sentence.MatchString(c.Behaviour) {
				t.Errorf("%s: it is not a sentence: %q", s.Name, c.Behaviour)
			}
			if c.Different != "" && !sentence.MatchString(c.Different) {
				t.Errorf("%s: why it differs is not a sentence: %q", s.Name, c.Different)
			}
			if len(c.Theirs) == 0 || len(c.Ours) == 0 {
				t.Errorf("%s: %q is the behaviour of no test of theirs, or of ours", s.Name, c.Behaviour)
			}
		}
	}
}

func TestEveryTestOfAPeerIsOnThePage(t *testing.T) {
	for _, s := range page(t) {
		answered := map[string]bool{}
		for _, c := range s.Cases {
			for _, name := range c.Theirs {
				answered[name] = true
			}
		}
		for _, name := range s.Apart {
			if answered[name] {
				t.Errorf("%s has a row, and a reason to have none", name)
			}
			answered[name] = true
		}
		_, names := namesOf(t, s)
		same(t, answered, names)
	}
}

// same fails the test unless the page names those tests and no others.
func same(t *testing.T, named map[string]bool, tests []string) {
	t.Helper()
	for _, name := range tests {
		if !named[name] {
			t.Errorf("the page does not name %s", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("the page names %s, and there is no such test", name)
	}
}

// TestOurTestsExist accepts the beginning of a subtest's name, up to a slash: the rest is often not a literal.
func TestOurTestsExist(t *testing.T) {
	tests := ourTests(t)
	for _, s := range page(t) {
		named := map[string]bool{}
		for _, c := range s.Cases {
			for _, name := range c.Ours {
				test, subtest, isSubtest := strings.Cut(name, "/")
				if test == "TestCases" {
					named[name] = true
					continue
				}
				source, exists := tests[test]
				if !exists {
					t.Errorf("%s: there is no test %s", s.Name, test)
				} else if isSubtest && !strings.Contains(source, `"`+subtest+`"`) && !strings.Contains(source, `"`+subtest+`/`) {
					t.Errorf("%s: the file of %s does not have the name of the subtest %q", s.Name, test, subtest)
				}
			}
		}
		var cases []string
		for name := range casesOf[s.Name] {
			cases = append(cases, "TestCases/"+s.Name+"/"+name)
		}
		same(t, named, cases)
	}
}
