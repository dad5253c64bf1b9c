package machine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/noleak"
)

// hotFiles returns a hot path without a gap.
func hotFiles() (files []string) {
	for _, pattern := range machine.HotFiles {
		files = append(files, strings.Replace(pattern, "*", "some", 1))
	}
	return files
}

func TestTheHotPathIsAllThatMeasuredPackagesAreMadeOf(t *testing.T) {
	root, err := machine.Root()
	check.OK(t, err)
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}", ".", "./par", "./reuse", "./weirhttp", "./errgroup")
	list.Dir = root
	packages, err := list.Output()
	check.OK(t, err)
	var want []string
	for path := range strings.FieldsSeq(string(packages)) {
		folder := strings.TrimPrefix(strings.TrimPrefix(path, "github.com/64ed045f/weir"), "/")
		want = append(want, filepath.ToSlash(filepath.Join(folder, "*.go")))
	}
	slices.Sort(want)
	check.Equal(t, "the hot path", strings.Join(machine.HotFiles, " "), strings.Join(want, " "))
}

// usual is the text of a file.
const usual = "package weir\n\nfunc f() int { return 1 }\n"

// tree makes a root with a hot path, and write a file there.
func tree(t *testing.T) (root string, write func(file, text string)) {
	t.Helper()
	root = t.TempDir()
	write = func(file, text string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(file))
		check.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
	}
	for _, file := range hotFiles() {
		write(file, usual)
	}
	return root, write
}

func TestMain(m *testing.M) { noleak.Main(m) }

func TestTheHotPathIsItsCodeAndNotItsComments(t *testing.T) {
	const name = "internal/engine/ring.go"
	root, write := tree(t)
	digest := func(file, text string) string { // where a file has another text, or is there besides
		t.Helper()
		write(file, text)
		hash, err := machine.HotPath(root)
		check.OK(t, errors.Join(err, os.Remove(filepath.Join(root, filepath.FromSlash(file)))))
		if slices.Contains(hotFiles(), file) {
			write(file, usual)
		}
		return hash
	}
	base := digest(name, "package engine\n\nfunc f(a int) int { return a + 1 }\n")
	for text, same := range map[string]bool{
		"package engine\n\n// f adds.\nfunc f(a int) int { return a + 1 }\n":    true,
		"package engine\nfunc f(a int) int {\n\treturn a + 1 // one\n}\n":       true,
		"package engine\n\nfunc f(a int) int { return a + 2 }\n":                false,
		"package engine\n\nfunc g(a int) int { return a + 1 }\n":                false,
		"package engine\n\nfunc f(a int) int { return a - 1 }\n":                false,
		"package engine\n\n//go:noinline\nfunc f(a int) int { return a + 1 }\n": false,
	} {
		check.Equal(t, "the same digest of "+text, digest(name, text) == base, same)
	}
	without := digest("README.md", "# Weir\n")
	for _, name := range []string{"internal/engine/ring_test.go", "par/each_test.go", "reuse/pool_test.go", "group_test.go", "exporter/pools.go"} {
		if digest(name, "package x\n") != without {
			t.Errorf("%s, which is a test or off the hot path, changes the digest", name)
		}
	}
	for _, name := range append(hotFiles(), "internal/engine/ring.go", "par/range.go", "reuse/keeper.go") {
		if digest(name, "package x\n") == without {
			t.Errorf("%s does not change the digest", name)
		}
	}
}

func TestAMissingPartOfTheHotPathIsAnError(t *testing.T) {
	root, write := tree(t)
	for _, missing := range hotFiles() {
		check.OK(t, os.Remove(filepath.Join(root, filepath.FromSlash(missing))))
		if hash, err := machine.HotPath(root); err == nil {
			t.Errorf("no error without %s, but %s", missing, hash)
		}
		write(missing, usual)
	}
}

func TestSettingsNameTheMachineTheVersionsAndTheCode(t *testing.T) {
	text := ""
	for _, s := range machine.Settings("go run ./lab -x", nil) {
		text += s.Key + ": " + s.Value + "\n"
	}
	for _, want := range []string{"command: go run ./lab -x\n", "date: 20", "cpu: ", "cores: ", "go-version: go1.", machine.HotPathKey + ": "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
