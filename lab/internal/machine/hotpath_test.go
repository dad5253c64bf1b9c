package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/lab/internal/machine"
)

// tree is a root with a hot path, in which one file has this text.
func tree(t *testing.T, name, text string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "internal", "engine"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"pool.go", "func.go", "group.go", "batch.go", "scope.go", "nested.go", "workers.go", "options.go", "internal/engine/engine.go", name} {
		content := "package weir\n\nfunc f() int { return 1 }\n"
		if file == name {
			content = text
		}
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestTheHotPathIsItsCodeAndNotItsComments(t *testing.T) {
	const name = "internal/engine/ring.go"
	digest := func(name, text string) string {
		t.Helper()
		hash, err := machine.HotPath(tree(t, name, text))
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	base := digest(name, "package engine\n\nfunc f(a int) int { return a + 1 }\n")
	for _, same := range []string{
		"package engine\n\n// f adds.\nfunc f(a int) int { return a + 1 }\n",
		"package engine\nfunc f(a int) int {\n\treturn a + 1 // one\n}\n",
	} {
		if digest(name, same) != base {
			t.Errorf("another digest for %q", same)
		}
	}
	for _, other := range []string{
		"package engine\n\nfunc f(a int) int { return a + 2 }\n",
		"package engine\n\nfunc g(a int) int { return a + 1 }\n",
		"package engine\n\nfunc f(a int) int { return a - 1 }\n",
		"package engine\n\n//go:noinline\nfunc f(a int) int { return a + 1 }\n",
	} {
		if digest(name, other) == base {
			t.Errorf("the same digest for %q", other)
		}
	}
	if digest("internal/engine/ring_test.go", "package engine\n") != digest("doc.go", "package weir\n") {
		t.Error("a test or a file off the hot path changes the digest")
	}
}

func TestAMissingPartOfTheHotPathIsAnError(t *testing.T) {
	root := tree(t, "doc.go", "package weir\n")
	if err := os.Remove(filepath.Join(root, "batch.go")); err != nil {
		t.Fatal(err)
	}
	if hash, err := machine.HotPath(root); err == nil {
		t.Errorf("no error, but %s", hash)
	}
}

func TestSettingsNameTheMachineTheVersionsAndTheCode(t *testing.T) {
	text := ""
	for _, s := range machine.Settings("go run ./lab -x") {
		text += s.Key + ": " + s.Value + "\n"
	}
	for _, want := range []string{"command: go run ./lab -x\n", "date: 20", "cpu: ", "cores: ", "go-version: go1.", machine.HotPathKey + ": "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
