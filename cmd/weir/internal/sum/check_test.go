package sum_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

func checked(t *testing.T, opts sum.Options, stdin, list string) result {
	t.Helper()
	var out, errs bytes.Buffer
	err := sum.Check(t.Context(), opts, sum.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs}, list)
	return result{out.String(), errs.String(), err}
}

func TestCheckJudgesAsMD5SumDoes(t *testing.T) {
	const (
		x      = "9dd4e461268c8034f5c8564e155c67a6"
		none   = "weir: list: no properly formatted checksum lines found\n"
		oneBad = "weir: WARNING: 1 line is improperly formatted\n"
	)
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"f": "x", "g": "x", " f": "x", "*f": "x", "a)b": "x", "new\nline": "x", "back\\slash": "x", "cr\r": "x", "other": "hello", "dir/f": "x", //nolint:gocritic // Names with blanks are what this is about.
	})
	for _, c := range []struct {
		name  string
		list  string
		flags string
		out   string
		errs  string
		fails bool
	}{
		{"good", x + "  f\n" + x + "  g\n", "", "f: OK\ng: OK\n", "", false},
		{"bad", x + "  other\n" + x + "  f\n", "", "other: FAILED\nf: OK\n", "weir: WARNING: 1 computed checksum did NOT match\n", true},
		{"two bad", x + "  other\n" + x + " *other\n", "", "other: FAILED\nother: FAILED\n", "weir: WARNING: 2 computed checksums did NOT match\n", true},
		{"missing", x + "  none\n" + x + "  f\n", "", "none: FAILED open or read\nf: OK\n",
			"weir: none: No such file or directory\nweir: WARNING: 1 listed file could not be read\n", true},
		{"two missing", x + "  none\n" + x + "  no\nx\n", "", "none: FAILED open or read\nno: FAILED open or read\n",
			"weir: none: No such file or directory\nweir: no: No such file or directory\n" + oneBad + "weir: WARNING: 2 listed files could not be read\n", true},
		{"directory", x + "  dir\n", "", "dir: FAILED open or read\n", "weir: dir: Is a directory\nweir: WARNING: 1 listed file could not be read\n", true},
		{"escaped", `\` + x + `  new\nline` + "\n" + `\` + x + `  back\\slash` + "\n" + `\` + x + `  cr\r` + "\n", "",
			"\\new\\nline: OK\nback\\slash: OK\ncr\r: OK\n", "", false},
		{"escaped for nothing", `\` + x + "  f\n", "", "f: OK\n", "", false},
		{"escaped and missing", `\` + x + `  no\nne` + "\n", "", "\\no\\nne: FAILED open or read\n",
			"weir: 'no'$'\\n''ne': No such file or directory\nweir: WARNING: 1 listed file could not be read\n", true},
		{"unknown escape", `\` + x + `  f\x` + "\n", "", "", none, true},
		{"unfinished escape", `\` + x + `  f\` + "\n", "", "", none, true},
		{"binary", x + " *f\n", "", "f: OK\n", "", false},
		{"upper case", strings.ToUpper(x) + "  f\n", "", "f: OK\n", "", false},
		{"leading blanks", " \t" + x + "  f\n", "", "f: OK\n", "", false},
		{"tab", x + "\tf\n", "", "f: OK\n", "", false},
		{"carriage return", x + "  f\r\n", "", "f: OK\n", "", false},
		{"no newline at the end", x + "  f", "", "f: OK\n", "", false},
		{"comments and empty lines", "# " + x + "  none\n\n\r\n" + x + "  f\n", "", "f: OK\n", "", false},
		{"BSD", "MD5 (f) = " + x + "\n", "", "f: OK\n", "", false},
		{"BSD, odd blanks", " MD5(f)=\t" + x + "\n", "", "f: OK\n", "", false},
		{"BSD, parenthesis", "MD5 (a)b) = " + x + "\n", "", "a)b: OK\n", "", false},
		{"BSD, escaped", `\MD5 (new\nline) = ` + x + "\n", "", "\\new\\nline: OK\n", "", false},
		{"BSD, empty name", "MD5 () = " + x + "\n", "", ": FAILED open or read\n",
			"weir: '': No such file or directory\nweir: WARNING: 1 listed file could not be read\n", true},
		{"BSD, other algorithm", "SHA1 (f) = " + x + "\n", "", "", none, true},
		{"BSD, text behind it", "MD5 (f) = " + x + " \n", "", "", none, true},
		{"BSD, no parenthesis", "MD5 f = " + x + "\n", "", "", none, true},
		{"BSD, no end", "MD5 (f = " + x + "\n", "", "", none, true},
		{"BSD, no equals sign", "MD5 (f) " + x + "\n", "", "", none, true},
		{"BSD, too long", "MD5 (f) = 0" + x + "\n", "", "", none, true},
		{"one blank", x + " f\n", "", "f: OK\n", "", false},
		{"one blank settles the style", x + " f\n" + x + "  f\n" + x + " *f\n", "", "f: OK\n f: OK\n*f: OK\n", "", false},
		{"two blanks settle the style", x + "  f\n" + x + " f\n", "", "f: OK\n", oneBad, false},
		{"not hex", strings.Replace(x, "9", "g", 1) + "  f\n", "", "", none, true},
		{"too short", x[1:] + "  f\n", "", "", none, true},
		{"too long", "0" + x + "  f\n", "", "", none, true},
		{"no name", x + "  \n" + x + "\n" + x + " \n", "", " : FAILED open or read\n",
			"weir: ' ': No such file or directory\nweir: WARNING: 2 lines are improperly formatted\nweir: WARNING: 1 listed file could not be read\n", true},
		{"empty list", "", "", "", none, true},
		{"nothing but text", "some\ntext\n", "", "", none, true},
		{"warn", "some\n" + x + "  f\nMD5\n", "--warn", "f: OK\n",
			"weir: list: 1: improperly formatted MD5 checksum line\nweir: list: 3: improperly formatted MD5 checksum line\nweir: WARNING: 2 lines are improperly formatted\n", false},
		{"strict", "some\n" + x + "  f\n", "--strict", "f: OK\n", oneBad, true},
		{"quiet", x + "  f\n" + x + "  other\n" + x + "  none\n", "--quiet", "other: FAILED\nnone: FAILED open or read\n",
			"weir: none: No such file or directory\nweir: WARNING: 1 listed file could not be read\nweir: WARNING: 1 computed checksum did NOT match\n", true},
		{"status", x + "  f\n" + x + "  other\n" + x + "  none\nsome\n", "--status", "", "weir: none: No such file or directory\n", true},
		{"status, good", x + "  f\n", "--status", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, map[string]string{"list": c.list})
			opts := defaults
			var err error
			if c.fails {
				err = sum.ErrFailed
			}
			for flag := range strings.FieldsSeq(c.flags) {
				switch flag {
				case "--warn":
					opts.Warn = true
				case "--strict":
					opts.Strict = true
				case "--quiet":
					opts.Quiet = true
				case "--status":
					opts.Status = true
				}
			}
			checked(t, opts, "", "list").expect(t, c.out, c.errs, err)

			// The rules above are taken from this program.
			if reference, ok := shell(t, []string{"md5sum"}, "md5sum -c $1 list", c.flags); ok && isCoreutils9(t) {
				errs := strings.ReplaceAll(reference.errs, "md5sum: ", "weir: ")
				if reference.out != c.out || errs != c.errs || (reference.err != nil) != c.fails {
					t.Errorf("md5sum judges otherwise: %+v", reference)
				}
			}
		})
	}
}

func TestCheckReadsWhatDigestWrites(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"t/a": "x", "t/b\nc\\d\re": "hello", "t/ ": "", "t/MD5 (x) = ": "x"})
	for _, algorithm := range sum.Algorithms() {
		opts := sum.Options{Algorithm: sum.Algorithm(algorithm), Workers: 2, Quiet: true}
		list := digest(t, opts, "", "t").out
		checked(t, opts, list, "-").expect(t, "", "", nil)
	}
}

func TestCheckReadsStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"f": "x", "list": md5s["hello"] + "  -\n"})
	checked(t, defaults, "hello", "list").expect(t, "-: OK\n", "", nil)

	opts := defaults
	opts.Warn = true
	checked(t, opts, md5s["x"]+"  f\n"+md5s["x"]+"  -\n", "-").expect(t, "f: OK\n", ""+
		"weir: 'standard input': 2: improperly formatted MD5 checksum line\n"+
		"weir: WARNING: 1 line is improperly formatted\n", nil)
}

func TestCheckFailsIfItCannotReadItsList(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"d/f": "x"})
	checked(t, defaults, "", "none").expect(t, "", "weir: none: No such file or directory\n", sum.ErrFailed)
	checked(t, defaults, "", "d").expect(t, "", "weir: d: Is a directory\n", sum.ErrFailed)

	streams := sum.Streams{In: io.MultiReader(strings.NewReader(md5s["x"]+"  d/f\n"), rotten{}), Out: io.Discard, Err: io.Discard}
	if err := sum.Check(t.Context(), defaults, streams, "-"); !errors.Is(err, sum.ErrFailed) {
		t.Errorf("a list that breaks off was judged as if it were whole: %v", err)
	}
}

func TestCheckSkipsALineThatNeverEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"f": "x"})
	long := md5s["x"] + "  " + strings.Repeat("f", 3*sum.MaxLine)
	checked(t, defaults, long+"\n"+md5s["x"]+"  f\n#"+long, "-").expect(t, "f: OK\n", "weir: WARNING: 1 line is improperly formatted\n", nil)
}

func TestCheckFailFastPrintsAllUpToTheFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"endless": "", "f": "x", "other": "hello"})
	const warning = "weir: WARNING: 1 "
	for _, c := range []struct{ line, out, json, errs string }{
		{md5s["x"] + "  other", "other: FAILED\n",
			`{"path":"other","algorithm":"md5","digest":"` + md5s["hello"] + `","size":5,"result":"FAILED"}` + "\n",
			warning + "computed checksum did NOT match\n"},
		{md5s["x"] + "  none", "none: FAILED open or read\n",
			`{"path":"none","algorithm":"md5","result":"FAILED open or read"}` + "\n",
			"weir: none: " + message(syscall.ENOENT) + "\n" + warning + "listed file could not be read\n"},
		{"text", "", "", "weir: 'standard input': 2: improperly formatted MD5 checksum line\n" + warning + "line is improperly formatted\n"},
	} {
		opts := defaults.WithOpen(broken)
		opts.FailFast, opts.Strict = true, true
		list := md5s["x"] + "  f\n" + c.line + "\n" + md5s["x"] + "  endless\n"
		checked(t, opts, list, "-").expect(t, "f: OK\n"+c.out, c.errs, sum.ErrFailed)
		opts.Quiet = true
		checked(t, opts, list, "-").expect(t, c.out, c.errs, sum.ErrFailed)
		opts.JSON = true
		checked(t, opts, list, "-").expect(t, c.json, c.errs, sum.ErrFailed)
	}

	opts := defaults.WithOpen(broken)
	opts.FailFast = true
	checked(t, opts, "text\n"+md5s["x"]+"  f\n", "-").expect(t, "f: OK\n", warning+"line is improperly formatted\n", nil)
	opts.Strict = true
	checked(t, opts, "text\n"+md5s["x"]+"  f\n", "-").expect(t, "", // and nothing of proper lines: it has not looked for more
		"weir: 'standard input': 1: improperly formatted MD5 checksum line\n"+warning+"line is improperly formatted\n", sum.ErrFailed)
	opts.Status = true
	checked(t, opts, md5s["x"]+"  other\n"+md5s["x"]+"  endless\n", "-").expect(t, "", "", sum.ErrFailed)
}

func message(errno syscall.Errno) string {
	text := errno.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
