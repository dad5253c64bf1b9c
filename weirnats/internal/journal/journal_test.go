package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/64ed045f/weir/weirnats/internal/journal"
)

func open(t *testing.T, name string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestTheNextProcessKnowsWhatHasBegun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j := open(t, name)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(number uint64, want int) {
		t.Helper()
		if got := j.Begun(number); got != want {
			t.Errorf("message %d: got %d, want %d", number, got, want)
		}
	}
	for number := range uint64(100) {
		must(j.Begin(number+1, 1))
	}
	for number := range uint64(98) {
		must(j.End(number + 1))
	}
	must(j.End(1000))
	must(j.Begin(99, 2))
	must(j.Begin(1<<40, 7))
	must(j.Close()) // as when the process ends: nothing is written then
	j = open(t, name)
	is(98, 0)
	is(99, 2)
	is(100, 1)
	is(1<<40, 7)
	for range 1000 {
		must(j.Begin(5, 1))
		must(j.End(5))
	}
	must(j.Close())
	info, err := os.Stat(name)
	must(err)
	if info.Size() != 1600 || info.Mode().Perm() != 0o600 {
		t.Errorf("file has %d bytes, and mode %v", info.Size(), info.Mode())
	}

	text, err := os.ReadFile(name)
	must(err)
	copy(text, "no entry is this") // one that is broken is as none
	must(os.WriteFile(name, append(text, 1, 2, 3), 0o600))
	j = open(t, name)
	is(99, 2)
	is(100, 1)
	must(j.Close())
}
