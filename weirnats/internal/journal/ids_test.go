package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/journal"
)

const window = time.Minute

func openIDs(t *testing.T, name string) *journal.IDs {
	t.Helper()
	i, err := journal.OpenIDs(name, window)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func sizes(t *testing.T, name string) (all int64) {
	t.Helper()
	for _, name := range []string{name, name + ".older", name + ".older.tmp"} {
		if info, err := os.Stat(name); err == nil {
			all += info.Size()
			if mode := info.Mode().Perm(); mode != 0o600 && os.PathSeparator == '/' {
				t.Errorf("mode of %s is %v", name, mode)
			}
		}
	}
	return all
}

func TestTheNextProcessKnowsWhatIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "ids")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		is := func(i *journal.IDs, id string, want bool) {
			t.Helper()
			if got := i.Known(id); got != want {
				t.Errorf("%s is known: %v, want %v", id, got, want)
			}
		}
		i := openIDs(t, name)
		must(i.Remember("a", time.Now()))
		must(i.Remember("b", time.Now().Add(-window/2)))
		must(i.Remember("c", time.Now().Add(-window)))
		is(i, "a", false) // the server knows
		must(i.Close())

		text, err := os.ReadFile(name)
		must(err)
		must(os.WriteFile(name, append(text, 1, 2, 3), 0o600)) // the process has ended within an entry
		for range 2 {
			i = openIDs(t, name)
			is(i, "a", true)
			is(i, "b", true)
			is(i, "c", false)
			must(i.Close())
		}
		i = openIDs(t, name)
		must(i.Remember("d", time.Now()))
		time.Sleep(window / 2)
		is(i, "a", true)
		is(i, "b", false)
		must(i.Close())
		i = openIDs(t, name)
		is(i, "a", true)
		is(i, "b", false)
		is(i, "d", true)
		time.Sleep(window / 2)
		is(i, "a", false)
		is(i, "d", false)
		must(i.Close())
	})
}

// What is done within the window is known, whenever the files change; and they hold two windows at most, however long it goes on.
func TestFilesOfIDsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "ids")
		i := openIDs(t, name)
		const each = 7 * time.Second
		last := int(window / each) // that is known still
		for n := range 200 {
			if n%50 == 49 { // a process ends, and the next one goes on
				if err := i.Close(); err != nil {
					t.Fatal(err)
				}
				i = openIDs(t, name)
				for back := 1; back < 2*last; back++ {
					if id := fmt.Sprint(n - back); i.Known(id) != (back <= last) {
						t.Errorf("%d: %s is known: %v", n, id, i.Known(id))
					}
				}
			}
			if err := i.Remember(fmt.Sprint(n), time.Now()); err != nil {
				t.Fatal(err)
			}
			if size := sizes(t, name); size > 24*int64(2*last+4) {
				t.Fatalf("files have %d bytes after %d entries", size, n)
			}
			time.Sleep(each)
		}
		if err := i.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// What cannot be written, as the disk is full, is known to the next server of this process.
func TestWhatCannotBeWrittenIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := openIDs(t, filepath.Join(t.TempDir(), "ids"))
		if err := i.Close(); err != nil {
			t.Fatal(err)
		}
		if i.Remember("a", time.Now()) == nil {
			t.Fatal("a closed file was written")
		}
		if err := i.Reload(); err != nil || !i.Known("a") {
			t.Errorf("error is %v, a is known: %v", err, i.Known("a"))
		}
		time.Sleep(window)
		if err := i.Reload(); err != nil || i.Known("a") {
			t.Errorf("error is %v, a is known: %v", err, i.Known("a"))
		}
	})
}

// What could not be written, as the disk was full for a while, is known to the next process: it is written with the next ID, or at the end.
func TestWhatCouldNotBeWrittenIsKnownToTheNextProcess(t *testing.T) {
	for _, more := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "ids")
		i := openIDs(t, name)
		unblock, err := i.Block()
		if err != nil {
			t.Fatal(err)
		}
		if i.Remember("a", time.Now()) == nil {
			t.Error("it was written")
		}
		if err := unblock(); err != nil {
			t.Fatal(err)
		}
		if more {
			if err := i.Remember("b", time.Now()); err != nil {
				t.Error(err)
			}
		} else if err := i.Close(); err != nil {
			t.Error(err)
		}
		next := openIDs(t, name) // also of a process that was killed
		if !next.Known("a") || next.Known("b") != more {
			t.Errorf("with another ID: %v; a is known: %v, b is known: %v", more, next.Known("a"), next.Known("b"))
		}
		for _, of := range []*journal.IDs{i, next} {
			if err := of.Close(); err != nil && (more || of == next) {
				t.Error(err)
			}
		}
	}
}

// The new file cannot be made for a while, as if the process had no descriptor left. What could not be written is written then, and is known to the next process.
func TestTheFileIsMadeWhenThatIsPossible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "ids")
		i := openIDs(t, name)
		remember := func(id string, works bool) {
			t.Helper()
			if err := i.Remember(id, time.Now()); (err == nil) != works {
				t.Errorf("%s: %v", id, err)
			}
		}
		remember("a", true)
		time.Sleep(window + time.Second) // the next one begins a new file
		for _, f := range []func() error{func() error { return os.Remove(name) }, func() error { return os.Mkdir(name, 0o700) }, func() error { return os.WriteFile(name+".older", nil, 0o600) }} {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
		remember("b", false)
		remember("c", false)
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(name + ".older"); err != nil { // the folder may have become the older one
			t.Fatal(err)
		}
		remember("d", true)
		if err := i.Close(); err != nil {
			t.Error(err)
		}
		i = openIDs(t, name)
		for _, id := range []string{"b", "c", "d"} {
			if !i.Known(id) {
				t.Errorf("%s is not known", id)
			}
		}
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A close that fails closes the file nevertheless. The next file takes what comes.
func TestAFileThatCannotBeClosedIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "ids")
		i := openIDs(t, name)
		if err := i.Remember("a", time.Now()); err != nil {
			t.Error(err)
		}
		time.Sleep(window + time.Second) // the next one begins a new file
		if err := i.FailToClose(); err != nil {
			t.Fatal(err)
		}
		if i.Remember("b", time.Now()) == nil {
			t.Error("the failure is not reported")
		}
		if err := i.Remember("c", time.Now()); err != nil {
			t.Error(err)
		}
		next := openIDs(t, name) // also of a process that was killed
		if !next.Known("b") || !next.Known("c") {
			t.Errorf("b is known: %v, c is known: %v", next.Known("b"), next.Known("c"))
		}
		for _, of := range []*journal.IDs{i, next} {
			if err := of.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
