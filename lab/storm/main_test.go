package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

func TestNotesBecomeAPicture(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "picture.svg")
	write := func(text string) {
		t.Helper()
		check.OK(t, os.WriteFile(from, []byte(text), 0o600))
	}
	write("# what the columns are\n1.00 100 50 1 50 0\n2.00 300 200 2 100 1\n3.00 300 300 3 0 2\n")
	check.OK(t, run([]string{from, to}))
	svg, err := os.ReadFile(to)
	check.OK(t, err)
	for _, want := range []string{"killed or stopped 2 times in 3 s: 300 messages put, 0 lost, 3 done again", "put per second", "done per second"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
	for _, text := range []string{"", "1 2 3\n", "1 2 3 4 5 6\n", "a b c d e f\n1 2 3 4 5 6\n"} {
		write(text)
		if err := run([]string{from, to}); err == nil {
			t.Errorf("notes %q are accepted", text)
		}
	}
	if err := run(nil); err == nil {
		t.Error("no arguments are accepted")
	}
}
