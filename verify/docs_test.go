package verify_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
	"github.com/64ed045f/weir/verify/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tests returns the names of all tests and fuzz targets of the tree.
func tests(t *testing.T) []string {
	t.Helper()
	names, err := peers.Names(plant.Root())
	check.Must(t, err)
	for i, name := range names {
		_, name, _ = strings.Cut(name, ".") // behind the package
		names[i], _, _ = strings.Cut(name, "/")
	}
	return names
}

func TestThePagesNameOnlyTestsAndFilesThatExist(t *testing.T) {
	names := tests(t)
	if len(names) < 500 {
		t.Fatalf("only %d tests are found in the whole tree", len(names))
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)(…?)`")
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	folder := regexp.MustCompile("`((?:verify|internal|docs|par|reuse|weirhttp|cmd|lab)/[\\w/.]*)`")
	for _, page := range []string{"promises.md", "testing.md"} {
		text := plant.Text(t, "docs/"+page)
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(names, func(name string) bool {
				return name == match[1] || match[2] != "" && strings.HasPrefix(name, match[1])
			}) {
				t.Errorf("%s names %s, which is no test", page, match[1])
			}
		}
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			exists(t, page, filepath.Join("docs", match[1]))
		}
		for _, match := range folder.FindAllStringSubmatch(text, -1) {
			exists(t, page, match[1])
		}
	}
}

func exists(t *testing.T, page, path string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(plant.Root(), path)); err != nil {
		t.Errorf("%s names a file that does not exist: %v", page, err)
	}
}

func TestEachPromiseHasASectionWithItsReasonAndItsChecks(t *testing.T) {
	sections := regexp.MustCompile(`(?m)^## (\d+)\. `).Split(plant.Text(t, "docs/promises.md"), -1)[1:]
	if want := len(regexp.MustCompile(`(?m)^//  +\d+\. `).FindAllString(plant.Text(t, "doc.go"), -1)); len(sections) != want || want == 0 {
		t.Errorf("%d sections for %d promises", len(sections), want)
	}
	for i, section := range sections {
		for _, part := range []string{"**Why.**", "**Checked by**"} {
			if !strings.Contains(section, part) {
				t.Errorf("section %d lacks %s", i+1, part)
			}
		}
	}
}
