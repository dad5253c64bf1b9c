package check_test

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/internal/check"
)

// small returns the store of a server with a few messages.
func small(t *testing.T) (store string) {
	t.Helper()
	dir := t.TempDir()
	q, err := weirnats.Open[string](t.Context(), "q", weirnats.Dir(dir), weirnats.Partitions(1), weirnats.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"one", "two", "three"} {
		if err := q.Put(t.Context(), v, weirnats.ID(v)); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Put(t.Context(), "without a header"); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "store")
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// each calls f for each file of a store that the server needs: it makes the others anew.
func each(t *testing.T, store string, f func(file string, text []byte)) {
	t.Helper()
	if err := filepath.WalkDir(store, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(file) == ".db" {
			return err
		}
		text, err := os.ReadFile(file)
		if err == nil {
			f(file, text)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

var allBits = flag.Bool("all", false, "change all bits of all files, which takes half a minute")

// Bits of each file are changed, one by one.
func TestNoBitCanChange(t *testing.T) {
	store := small(t)
	if mends, err := check.Store(store); err != nil || len(mends) > 0 {
		t.Fatalf("of a whole store: %v, %v", mends, err)
	}
	bits := map[string]int{}
	each(t, store, func(file string, text []byte) {
		if strings.HasSuffix(file, "o.dat") { // that has no checksum
			return
		}
		for at := range text {
			for bit := range 8 {
				if known := !strings.HasSuffix(file, ".blk") && at%16 > 0; !*allBits && (known || bit != at%8) {
					continue
				}
				text[at] ^= 1 << bit
				write(t, file, text)
				_, err := check.Store(store)
				if d, ok := errors.AsType[*check.DamagedError](err); !ok || d.File != file && d.File != strings.Replace(file, "meta.sum", "meta.inf", 1) {
					t.Errorf("bit %d of byte %d of %s: %v", bit, at, file, err)
				}
				text[at] ^= 1 << bit
				bits[filepath.Ext(file)]++
			}
		}
		write(t, file, text)
	})
	t.Logf("bits: %v", bits)
	if bits[".blk"] < 300 || bits[".inf"] < 50 || bits[".sum"] < 4 {
		t.Error("there are fewer than there should be")
	}
}

// A file may end at any place.
func TestATornEndIsNoDamage(t *testing.T) {
	store := small(t)
	ends := 0
	each(t, store, func(file string, text []byte) {
		if !strings.HasSuffix(file, ".blk") {
			return
		}
		for end := range text {
			ends++
			write(t, file, text[:end])
			if mends, err := check.Store(store); err != nil {
				t.Errorf("%s ends at %d of %d: %v, %v", file, end, len(text), mends, err)
			}
		}
		write(t, file, text)
	})
	if ends < 300 {
		t.Errorf("%d ends", ends)
	}
}

// The server is killed while it writes what describes a stream that gets the subjects of messages with keys. Power may be lost so that the later one of its two files is there.
func TestAChangeOfSubjectsMayBeHalfWritten(t *testing.T) {
	store := small(t)
	open := func() *weirnats.Queue[string] {
		q, err := weirnats.Open[string](t.Context(), "q", weirnats.Dir(filepath.Dir(store)), weirnats.Partitions(1), weirnats.Logger(slog.New(slog.DiscardHandler)))
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	files := []string{"meta.inf", "meta.sum"}
	read := func() (texts [][]byte) {
		for i := range files {
			text, err := os.ReadFile(files[i])
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		return texts
	}
	for i := range files {
		files[i] = filepath.Join(store, "jetstream", "$G", "streams", "weir_q_q", files[i])
	}
	old := read()
	q := open()
	if err := errors.Join(q.Put(t.Context(), "four", weirnats.Key("k")), q.Close()); err != nil {
		t.Fatal(err)
	}
	whole := read()
	for i := range files {
		write(t, files[0], whole[0])
		write(t, files[1], whole[1])
		write(t, files[i], old[i])
		if mends, err := check.Store(store); err != nil || len(mends) != 1 || mends[0].File != files[1] {
			t.Errorf("with the %s of before: %v, %v", filepath.Base(files[i]), mends, err)
		}
		q := open()
		s, err := q.Stats(t.Context())
		if err := errors.Join(err, q.Put(t.Context(), "five", weirnats.Key("k")), q.Close()); err != nil || s.Messages != 5+i {
			t.Errorf("with the %s of before: %d messages, %v", filepath.Base(files[i]), s.Messages, err)
		}
	}
}

// Data may look like the begins of records; the search for whole ones must end.
func TestASearchThatFindsNothingEnds(t *testing.T) {
	store := small(t)
	file := filepath.Join(store, "jetstream", "$G", "streams", "weir_q_q", "msgs", "1.blk")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head := []byte{0, 0, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32}
	text = append(text, 0, 0, 128, 0)
	for range 7 << 20 / len(head) {
		text = append(text, head...)
	}
	write(t, file, text)
	if _, err := check.Store(store); err == nil || !strings.Contains(err.Error(), "not certain") {
		t.Errorf("error is %v", err)
	}
}
