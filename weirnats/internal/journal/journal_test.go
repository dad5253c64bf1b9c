package journal_test

import (
	"errors"
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
	j.Done(2000)
	must(j.Begin(99, 2))
	must(j.Begin(1<<40, 7))
	must(j.Close()) // as when the process ends: nothing is written then
	j = open(t, name)
	is(98, 0)
	is(99, 2)
	is(100, 1)
	is(1<<40, 7)
	for number := range uint64(1000) {
		must(j.Begin(10_000+number, 1))
		switch number % 3 {
		case 0:
			must(j.End(10_000 + number))
		case 1:
			j.Done(10_000 + number)
		default:
			j.Done(10_000 + number)
			must(j.Settle())
		}
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

// A process that is killed leaves what was done since the last Settle, and nothing else: the slots are used again.
func TestWhatIsDoneIsWrittenLater(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j := open(t, name)
	defer j.Close()
	begun := func(number uint64) int {
		t.Helper()
		next := open(t, name) // after the process is killed
		defer next.Close()
		return next.Begun(number)
	}
	for step, c := range []struct {
		do   func() error
		want [3]int // of messages 1 to 3
	}{
		{func() error { return errors.Join(j.Begin(1, 1), j.Begin(2, 1)) }, [3]int{1, 1, 0}},
		{func() error { j.Done(1); return nil }, [3]int{1, 1, 0}},
		{func() error { return j.Begin(3, 2) }, [3]int{0, 1, 2}}, // in its slot
		{func() error { j.Done(3); return nil }, [3]int{0, 1, 2}},
		{j.Settle, [3]int{0, 1, 0}},
		{func() error { return j.End(2) }, [3]int{0, 0, 0}},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if got := begun(uint64(i + 1)); got != want {
				t.Errorf("step %d, message %d: got %d, want %d", step, i+1, got, want)
			}
		}
	}
	if info, err := os.Stat(name); err != nil || info.Size() != 32 {
		t.Errorf("file: %v, %v", info, err)
	}
}
