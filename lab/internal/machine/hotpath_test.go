package machine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/noleak"
)

func TestMain(m *testing.M) { noleak.Main(m) }

func TestTheHotPathIsTheCodeOfAllThatIsMeasuredAndNotItsComments(t *testing.T) {
	const (
		ring = "internal/engine/ring.go"
		code = "package engine\n\nfunc F(a int) int { return a + 1 }\n"
	)
	files := map[string]string{
		"go.mod": "module example.org/weir\n", "weir.go": "package weir\n\nimport _ \"example.org/weir/internal/engine\"\n", ring: code,
		"par/par.go": "package par\n", "reuse/reuse.go": "package reuse\n", "weirhttp/http.go": "package weirhttp\n", "errgroup/group.go": "package errgroup\n",
	}
	root := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(file))
		check.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
	}
	for file, text := range files {
		write(file, text)
	}
	digest := func() string {
		t.Helper()
		hash, err := machine.HotPath(root)
		check.OK(t, err)
		return hash
	}
	base := digest()
	// with tells whether the digest is the same where a file has another text, or is there too.
	with := func(file, text string) bool {
		t.Helper()
		write(file, text)
		same := digest() == base
		if old, ok := files[file]; ok {
			write(file, old)
		} else {
			check.OK(t, os.Remove(filepath.Join(root, filepath.FromSlash(file))))
		}
		return same
	}
	for text, same := range map[string]bool{
		"// F adds.\n" + code: true,
		"package engine\nfunc F(a int) int {\n\treturn a + 1 // one\n}\n": true,
		strings.Replace(code, "1", "2", 1):                                false,
		strings.Replace(code, "F", "G", 1):                                false,
		strings.Replace(code, "+", "-", 1):                                false,
		strings.Replace(code, "func", "//go:noinline\nfunc", 1):           false,
	} {
		check.Equal(t, "the same digest of "+text, with(ring, text), same)
	}
	for file, same := range map[string]bool{
		"README.md": true, "internal/engine/ring_test.go": true, "par/each_test.go": true, "exporter/pools.go": true, "internal/check/check.go": true,
		"group.go": false, "internal/engine/worker.go": false, "par/range.go": false, "reuse/keeper.go": false, "weirhttp/queue.go": false, "errgroup/go.go": false,
	} {
		name := filepath.Base(filepath.Dir(file))
		if name == "." {
			name = "weir"
		}
		check.Equal(t, "the same digest with "+file, with(file, "package "+name+"\n"), same)
	}
	check.OK(t, os.RemoveAll(filepath.Join(root, "par")))
	if hash, err := machine.HotPath(root); err == nil {
		t.Errorf("no error without a package that is measured, but %s", hash)
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
