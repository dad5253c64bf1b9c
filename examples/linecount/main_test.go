package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

func TestMain(m *testing.M) { check.Main(m, map[string]func(){"linecount": main}, nil) }

func TestTheProgramCountsLines(t *testing.T) {
	t.Chdir(t.TempDir())
	check.OK(t, os.WriteFile("a", []byte("one\ntwo\n"), 0o600))
	check.OK(t, os.WriteFile("b", []byte("one"), 0o600))
	run := func(names ...string) (string, error) {
		program, err := filepath.Abs(os.Args[0])
		check.OK(t, err)
		cmd := exec.Command(program, names...)
		cmd.Env = append(os.Environ(), "WEIR_TEST_CHILD=linecount")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("a", "b")
	check.OK(t, err)
	check.Equal(t, "output", out, "2 a\n0 b\n")
	out, err = run("a", "missing")
	if err == nil {
		t.Errorf("no error for a file that is missing: %s", out)
	}
}
