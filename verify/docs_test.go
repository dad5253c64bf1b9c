package verify_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

// tests returns the names of all tests and fuzz targets of the tree.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir(plant.Root(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range declared.FindAllSubmatch(source, -1) {
			names[string(match[1])] = true
		}
		return nil
	})
	check.Must(t, err)
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
		text, err := os.ReadFile(filepath.Join(plant.Root(), "docs", page))
		check.Must(t, err)
		for _, match := range named.FindAllStringSubmatch(string(text), -1) {
			if match[2] == "" && !names[match[1]] || match[2] != "" && !anyHasPrefix(names, match[1]) {
				t.Errorf("%s names %s, which is no test", page, match[1])
			}
		}
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			exists(t, page, filepath.Join("docs", match[1]))
		}
		for _, match := range folder.FindAllStringSubmatch(string(text), -1) {
			exists(t, page, match[1])
		}
	}
}

func anyHasPrefix(names map[string]bool, prefix string) bool {
	for name := range names {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func exists(t *testing.T, page, path string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(plant.Root(), path)); err != nil {
		t.Errorf("%s names a file that does not exist: %v", page, err)
	}
}

func TestEachPromiseHasASectionWithItsReasonAndItsChecks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(plant.Root(), "docs", "promises.md"))
	check.Must(t, err)
	promises, err := os.ReadFile(filepath.Join(plant.Root(), "doc.go"))
	check.Must(t, err)
	sections := regexp.MustCompile(`(?m)^## (\d+)\. `).Split(string(text), -1)[1:]
	if want := len(regexp.MustCompile(`(?m)^//  +\d+\. `).FindAll(promises, -1)); len(sections) != want || want == 0 {
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
