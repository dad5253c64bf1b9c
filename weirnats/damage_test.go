package weirnats_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

var allDamage = flag.Bool("damage", false, "damage files at each place, which takes a minute")

// few reports whether to leave a place out.
func few(i, of int) bool { return !*allDamage && i%of != 0 }

// filledOptions are those of the queue of filled. So few bytes make the server begin a new file every 32 kB.
var filledOptions = []weirnats.Option{
	quiet, weirnats.MaxBytes(120_000), weirnats.Lease(5 * time.Second),
	weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 3, Wait: time.Hour, MostWait: time.Hour})),
}

func openFilled(t *testing.T, dir string) *weirnats.Queue[string] {
	t.Helper()
	q, err := weirnats.Open[string](t.Context(), "q", append(slices.Clip(filledOptions), weirnats.Dir(dir))...)
	noError(t, err)
	return q
}

// filled returns a folder with a queue, in which some messages are done, one has failed, and one is a dead letter.
func filled(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	q := openFilled(t, dir)
	for i := range 100 {
		noError(t, q.Put(t.Context(), fmt.Sprintf("%03d %s", i, strings.Repeat("x", 900))))
	}
	p := newPool(t, 1, weir.OnError(func(error) {}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	noError(t, q.Serve(ctx, p, func(_ context.Context, v string) error {
		calls++
		switch v[:3] {
		case "005":
			return weir.Permanent(errors.New("bad"))
		case "007":
			return errors.New("not now")
		case "012":
			cancel()
		}
		return nil
	}))
	noError(t, q.Put(t.Context(), "100 "+strings.Repeat("x", 900)))
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages, of which each call has removed one, and that of 007 has not", s.Messages, 101-(calls-1))
	noError(t, q.Close())
	return dir
}

// inventory returns what there is in the folder of filled.
func inventory(t *testing.T, dir string) string {
	t.Helper()
	q := openFilled(t, dir)
	defer func() { noError(t, q.Close()) }()
	a := admin(t, dir)
	v, err := a.Queue(t.Context(), "q")
	noError(t, err)
	var all []string
	for m, err := range v.Peek(t.Context()) {
		noError(t, err)
		all = append(all, string(m.Data[1:4]))
	}
	for l, err := range v.Dead(t.Context()) {
		noError(t, err)
		all = append(all, "dead "+string(l.Data[1:4]))
	}
	noError(t, a.Close())
	return strings.Join(all, " ")
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	noError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// streamOf returns the folder of a stream.
func streamOf(dir, name string) string {
	return filepath.Join(dir, "store", "jetstream", "$G", "streams", name)
}

func blocksOf(t *testing.T, dir, stream string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(strings.ReplaceAll(streamOf(dir, stream), `\`, `\\`), "msgs", "*.blk"))
	noError(t, err)
	return all
}

// field is a part of a record.
type field struct {
	name     string
	from, to int
}

// records returns the fields of all records in a file.
func records(text []byte) (all [][]field) {
	for at := 0; at < len(text); {
		length := binary.LittleEndian.Uint32(text[at:])
		end := at + int(length&^(1<<31))
		r := []field{{"length", at, at + 4}, {"sequence", at + 4, at + 12}, {"time", at + 12, at + 20}, {"length of the subject", at + 20, at + 22}}
		data := at + 22 + int(binary.LittleEndian.Uint16(text[at+20:]))
		r = append(r, field{"subject", at + 22, data})
		if length&(1<<31) != 0 {
			headers := data + 4
			r = append(r, field{"length of the headers", data, headers})
			data = headers + int(binary.LittleEndian.Uint32(text[headers-4:]))
			r = append(r, field{"headers", headers, data})
		}
		all = append(all, append(r, field{"data", data, end - 8}, field{"checksum", end - 8, end}))
		at = end
	}
	return all
}

// files returns what is in all files of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	noError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	}))
	return all
}

func damaged(t *testing.T, what, dir, file string) {
	t.Helper()
	before := files(t, dir)
	_, err := weirnats.Open[string](t.Context(), "q", append(slices.Clip(filledOptions), weirnats.Dir(dir))...)
	d, ok := errors.AsType[*weirnats.DamagedError](err)
	resolved, evalErr := filepath.EvalSymlinks(file)
	noError(t, evalErr)
	if !ok || d.File != resolved || d.Err == nil || !strings.Contains(err.Error(), d.File) {
		t.Errorf("%s: error is %v, want one of %s", what, err, file)
		return
	}
	if few(len(what), 4) {
		return
	}
	_, err = weirnats.OpenAdmin(t.Context(), weirnats.Dir(dir), quiet)
	if _, ok := errors.AsType[*weirnats.DamagedError](err); !ok {
		t.Errorf("%s: error of OpenAdmin is %v", what, err)
	}
	after := files(t, dir)
	for name, text := range before {
		if after[name] != text && filepath.Base(name) != "weir.lock" {
			t.Errorf("%s: %s has changed", what, name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%s: %d files have become %d", what, len(before), len(after))
	}
}

// One byte is changed in each kind of place of each kind of file.
func TestADamagedFileIsNamedAndNothingIsLost(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	all := inventory(t, dir)
	if !strings.HasPrefix(all, "007 01") || !strings.HasSuffix(all, " 099 100 dead 005") { // the first that waits is 013, or 014: Serve ends a moment after its context
		t.Fatalf("there is %s", all)
	}
	blocks := blocksOf(t, dir, "weir_q_q")
	if len(blocks) < 3 {
		t.Fatalf("there are %d files", len(blocks))
	}
	blocks = append(blocks, blocksOf(t, dir, "weir_dead_q")...)
	blocks = append(blocks, blocksOf(t, dir, "weir_tries_q")...)
	flips := 0
	for _, file := range blocks {
		text, err := os.ReadFile(file)
		noError(t, err)
		rs := records(text)
		for _, i := range slices.Compact([]int{0, len(rs) / 2, len(rs) - 1}) {
			for _, f := range rs[i] {
				if f.from == f.to {
					continue
				}
				for i, at := range []int{(f.from + f.to) / 2, f.from, f.to - 1} {
					if few(i, 3) {
						continue
					}
					flips++
					text[at] ^= 0x11
					noError(t, os.WriteFile(file, text, 0o600))
					damaged(t, fmt.Sprintf("%s of record %d of %d", f.name, i, len(rs)), dir, file)
					text[at] ^= 0x11
				}
			}
		}
		noError(t, os.WriteFile(file, text, 0o600))
	}
	metas := []string{"meta.inf", "meta.sum", filepath.Join("obs", "work", "meta.inf"), filepath.Join("obs", "work", "meta.sum")}
	for _, name := range metas {
		file := filepath.Join(streamOf(dir, "weir_q_q"), name)
		text, err := os.ReadFile(file)
		noError(t, err)
		for _, at := range []int{0, len(text) / 2, len(text) - 1} {
			flips++
			text[at] ^= 0x41 // of a checksum in hexadecimal it makes none
			noError(t, os.WriteFile(file, text, 0o600))
			damaged(t, name, dir, file)
			text[at] ^= 0x41
		}
		noError(t, os.WriteFile(file, text, 0o600))
	}
	t.Logf("%d flips", flips)
	equal(t, "at the end", inventory(t, dir), all)
}

// The power fails while the last record is written: it is not there then, or in part, or there are zeros in its place. All others are there.
func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	all := inventory(t, dir)
	blocks := blocksOf(t, dir, "weir_q_q")
	last := blocks[len(blocks)-1]
	text, err := os.ReadFile(last)
	noError(t, err)
	rs := records(text)
	from := rs[len(rs)-1][0].from // no tombstone is behind the last message
	without := strings.ReplaceAll(all, " 100", "")
	for end := from; end < len(text); end++ {
		if end != from && end != len(text)-1 && few(end, 701) {
			continue
		}
		for what, torn := range map[string][]byte{
			"cut":        text[:end],
			"with zeros": append(slices.Clone(text[:min(end, len(text)-8)]), make([]byte, 20_000)...),
		} {
			other := copied(t, dir)
			noError(t, os.WriteFile(filepath.Join(streamOf(other, "weir_q_q"), "msgs", filepath.Base(last)), torn, 0o600))
			if got := inventory(t, other); got != without {
				t.Errorf("%s at %d of %d to %d: there is %s", what, end, from, len(text), got)
			}
		}
	}
}

// What an operator can do about a damaged file without a copy of it.
func TestADamagedFileThatIsMovedAway(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	all := inventory(t, dir)
	stream := streamOf(dir, "weir_q_q")
	for _, name := range []string{
		filepath.Join(stream, "meta.inf"), filepath.Join(stream, "meta.sum"), filepath.Join(streamOf(dir, "weir_dead_q"), "meta.inf"),
		filepath.Join(stream, "obs", "work", "meta.inf"), filepath.Join(stream, "obs", "work", "meta.sum"),
	} {
		noError(t, os.Rename(name, name+".away"))
		equal(t, "without "+name, inventory(t, dir), all)
		noError(t, os.WriteFile(name, nil, 0o600))
		equal(t, "with nothing in "+name, inventory(t, dir), all)
		equal(t, "the second time", inventory(t, dir), all)
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s was not made again: %v", name, err)
		}
	}
	block := blocksOf(t, dir, "weir_q_q")[1]
	text, err := os.ReadFile(block)
	noError(t, err)
	rs := records(text)
	without := func(lost [][]field) string {
		left := all
		for _, r := range lost {
			for _, f := range r {
				if f.name == "data" && f.from < f.to {
					left = strings.ReplaceAll(left, " "+string(text[f.from+1:f.from+4]), "")
				}
			}
		}
		return left
	}
	at := rs[len(rs)/2][4].from
	text[at] ^= 1
	noError(t, os.WriteFile(block, text, 0o600))
	text[at] ^= 1
	_, err = weirnats.OpenAdmin(t.Context(), weirnats.Dir(dir), quiet)
	d, ok := errors.AsType[*weirnats.DamagedError](err)
	if !ok || d.Offset != int64(rs[len(rs)/2][0].from) {
		t.Fatalf("error is %v", err)
	}
	noError(t, os.Truncate(block, d.Offset))
	equal(t, "with a file that is cut off", inventory(t, dir), without(rs[len(rs)/2:]))
	noError(t, os.Remove(block))
	equal(t, "without a file", inventory(t, dir), without(rs))
	noError(t, os.WriteFile(block, text, 0o600))
	noError(t, os.Remove(filepath.Join(filepath.Dir(block), "index.db")))
	equal(t, "with it again", inventory(t, dir), all)
}

// What a consumer has delivered has no checksum. Whatever is in the file, each message comes.
func TestWithDamageInWhatWasDeliveredEachMessageComes(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	waiting, _, _ := strings.Cut(inventory(t, dir), " dead")
	file := filepath.Join(streamOf(dir, "weir_q_q"), "obs", "work", "o.dat")
	text, err := os.ReadFile(file)
	noError(t, err)
	damages := map[string][]byte{"zeros": make([]byte, len(text)), "cut": text[:len(text)-1], "nothing": nil, "longer": append(slices.Clone(text), 1),
		"all done": {22, 2, 101, 101, 101, 101, 0, 0}, "all delivered": {22, 2, 0, 0, 101, 101, 0, 0}, "more delivered than there is": {22, 2, 0, 0, 127, 127, 0, 0}}
	for at := range text {
		if few(at, 6) {
			continue
		}
		flipped := slices.Clone(text)
		flipped[at] ^= 1 << (at % 8)
		damages[fmt.Sprint("byte ", at)] = flipped
	}
	for what, damage := range damages {
		noError(t, os.WriteFile(file, damage, 0o600))
		other := copied(t, dir)
		q := openFilled(t, other)
		p := weir.New(8, weir.OnError(func(error) {}))
		var came list[string]
		var again sync.Map
		stop := serve(t, q, p, func(_ context.Context, v string) error {
			if _, second := again.LoadOrStore(v, true); !second && v[2] == '5' { // others that were delivered later are done when it comes again
				return weir.RetryAfter(errors.New("not now"), 20*time.Millisecond)
			}
			came.add(v[:3])
			return nil
		})
		left := strings.Fields(waiting)
		for end := time.Now().Add(limit); len(left) > 1 || len(left) == 1 && left[0] != "007"; time.Sleep(time.Millisecond) { // that waits for its next try, if this is known
			if time.Now().After(end) {
				t.Fatalf("%s: these do not come: %v", what, left)
			}
			for _, v := range came.take() {
				left = slices.DeleteFunc(left, func(w string) bool { return v == w })
			}
		}
		stop()
		noError(t, q.Close())
		p.Close()
	}
}
