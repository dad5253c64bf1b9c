//go:build unix

package sum_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/check"
)

// hostileTree makes files whose names are as bad as a file system allows, and returns how many.
func hostileTree(t *testing.T, random *rand.Rand, n int) int {
	t.Helper()
	dirs := []string{"t"}
	made := 0
	for range n {
		name := hostileNames[random.IntN(len(hostileNames))]
		if random.IntN(2) == 0 {
			b := make([]byte, 1+random.IntN(12))
			for i := range b {
				b[i] = byte(random.IntN(256))
				if random.IntN(2) == 0 {
					b[i] = "\\\n\r -*'\"#$\x1b\x7f\xffa()="[random.IntN(17)]
				}
			}
			name = string(b)
		}
		name = strings.Map(func(r rune) rune {
			if r == 0 || r == '/' {
				return '_'
			}
			return r
		}, name)
		if strings.ContainsRune(name, '\uFFFD') || name == "" || name == "." || name == ".." || len(name) > 200 {
			name = fmt.Sprintf("%.100x", name) // Map has made what is not UTF-8 longer
		}
		path := dirs[random.IntN(len(dirs))] + "/" + name
		if random.IntN(4) == 0 {
			if os.MkdirAll(path, 0o777) == nil {
				dirs = append(dirs, path)
			}
			continue
		}
		if os.MkdirAll(filepath.Dir(path), 0o777) == nil && os.WriteFile(path, []byte(name), 0o666) == nil {
			made++
		}
	}
	return made
}

func TestHostileNamesAreDigestedAndCheckedAsMD5SumDoes(t *testing.T) {
	needCoreutils9(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // Nothing here is secret.
	t.Chdir(t.TempDir())
	check.Must(t, os.Mkdir("t", 0o777))
	if hostileTree(t, random, 300) < 50 {
		t.Fatal("hardly any file could be made")
	}
	for _, algorithm := range []string{"md5", "sha256"} {
		opts := sum.Options{Algorithm: sum.Algorithm(algorithm), Workers: 3}
		const script = `find t -type f -print0 | LC_ALL=C sort -z | xargs -0 "$1"sum`
		reference, ok := shell(t, []string{"find", "sort", "xargs", algorithm + "sum"}, script, algorithm)
		if !ok {
			t.Fatal("a tool is missing, see above")
		}
		digest(t, opts, "", "t").expect(t, reference.out, "", nil)

		// Each is gone, or has changed, in every way in which the other may find it.
		list := reference.out
		judged, _ := shell(t, nil, `printf %s "$2" | "$1"sum -c`, algorithm, list)
		checked(t, opts, list, "-").expect(t, judged.out, "", nil)
		for path := range strings.SplitSeq(list, "\n") {
			if _, name, found := strings.Cut(path, "  "); found && random.IntN(3) == 0 && !strings.HasPrefix(path, "\\") {
				if random.IntN(2) == 0 {
					os.Remove(name) //nolint:errcheck // Then it is there, for both.
				} else {
					os.WriteFile(name, []byte("changed"), 0o666) //nolint:errcheck // Then it is as it was, for both.
				}
			}
		}
		judged, _ = shell(t, nil, `printf %s "$2" | "$1"sum -c`, algorithm, list)
		got := checked(t, opts, list, "-")
		got.expect(t, judged.out, got.errs, sum.ErrFailed)
		if got, want := plainly(got.errs), plainly(judged.errs); got != want {
			t.Errorf("standard error:\n%s\nwant\n%s", got, want)
		}
	}
}

// plainly takes the names of the programs, and the quotes around names, from what they write to standard error. There is
// more than one way to quote a name, and more than one view of which characters a terminal can bear.
func plainly(errs string) string {
	var b strings.Builder
	for line := range strings.Lines(errs) {
		_, text, _ := strings.Cut(line, ": ")
		if end := strings.LastIndex(text, ": "); end >= 0 {
			if name, ok := unquote(text[:end]); ok {
				text = name + text[end:]
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

// alike compares two lines of standard error. Coreutils 9 leaves out the first dollar sign of a name that begins and ends
// with bytes which it escapes, and has a quote between them; so its text is that of another name.
func alike(ours, theirs string) bool {
	line := plainly(ours)
	return line == plainly(theirs) || line == plainly(strings.Replace(theirs, `: '\`, `: ''$'\`, 1))
}

// FuzzAnyListIsJudgedAsMD5SumDoes compares what is printed, and the exit status.
func FuzzAnyListIsJudgedAsMD5SumDoes(f *testing.F) {
	const x = "9dd4e461268c8034f5c8564e155c67a6"
	for _, name := range hostileNames {
		f.Add(x + "  " + name + "\n\\" + x + "  " + name + "\n")
	}
	for _, list := range []string{
		x + "  x\n" + x + " x\n", x + " x\n" + x + "  x\n", x + " *x\r\n", "MD5 (x) = " + x, "MD5(x)= " + x + "\n", "\\MD5 (a\\nb) = " + x,
		strings.ToUpper(x) + "  x", x + "0  x", x[1:] + "  x", " \t" + x + "\tx", "#\n" + x + "  x\n\n", x + "  x\n" + x + "\n", x + x + "  x", "\\" + x + "  x\\x\n", "\\" + x + "  x\\\n",
		x + "  \x9b'\xa8", x + "  \x9b'\xa8\n" + x + "  \\233'\xa8",
	} {
		f.Add(list)
	}
	needCoreutils9(f)
	// A name with a NUL is cut off there by md5sum, and refused by us. What stands elsewhere is not to be read.
	clean := strings.NewReplacer("\x00", "", "/", "")
	f.Fuzz(func(t *testing.T, list string) {
		list = clean.Replace(list[:min(len(list), 4096)])
		t.Chdir(t.TempDir())
		write(t, map[string]string{"x": "x", " x": "x", "*x": "x", "a\nb": "x", "\\": "x", "list": list}) //nolint:gocritic // A blank is a part of a name.
		judged, _ := shell(t, nil, `exec md5sum --warn -c list </dev/null`)
		opts := defaults
		opts.Warn = true
		got := checked(t, opts, "", "list")
		if got.out != judged.out || !slices.EqualFunc(slices.Collect(strings.Lines(got.errs)), slices.Collect(strings.Lines(judged.errs)), alike) || (got.err != nil) != (judged.err != nil) {
			t.Errorf("of %q:\ngot  %+v\nwant %+v", list, got, judged)
		}
	})
}
