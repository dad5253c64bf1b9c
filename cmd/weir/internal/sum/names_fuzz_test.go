package sum_test

import (
	"bytes"
	"crypto/md5" //nolint:gosec // As weir sum.
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
)

// hostileNames are names that make trouble for programs that handle names carelessly.
var hostileNames = []string{
	"", "-", "--check", "-c", " ", "  x", "*x", " *x", "x ", "\\", "\\n", "a\\", "\n", "a\nb", "\r", "a\r", "a\r\n", "\t", "..", "../../x",
	"/etc/passwd", "#x", "MD5 (x) = d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e  x", "x: OK",
	"x\x1b[31mred\x1b[0m", "\x1b]0;title\a", "\x1b[2J\x1b[H", "\x9b31m", "\u009b31m", "a\x08b", "\x7f", "\x00", "a\x00b", "\xff\xfe", "\xc3", "é\xcc",
	"\u202egnp.exe", "\u2028", "\u200b", "'", "\"", "'\"", "$(rm -rf x)", "`x`", "a'b$c", "!x", "~", "~'x", "x~'y", "x#'y", "é'x", "{'", "a]'", "{", "}", strings.Repeat("x", 5000), strings.Repeat("\n", 300),
}

func FuzzAQuotedNameIsOneLineWithoutControlCharacters(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		quoted := sum.Quote(name)
		for _, r := range quoted {
			if unicode.IsControl(r) || r == unicode.ReplacementChar && !strings.ContainsRune(name, unicode.ReplacementChar) || !unicode.IsGraphic(r) {
				t.Fatalf("%q is shown as %q, with %q in it", name, quoted, r)
			}
		}
		if strings.ContainsRune(name, 0) {
			return // which no shell can say
		}
		if got, ok := unquote(quoted); !ok || got != name {
			t.Fatalf("%q is shown as %s, which a shell takes for %q", name, quoted, got)
		}
	})
}

// unquote reads a word as a shell does. It fails at what a shell would not take for part of a single word, or would expand.
func unquote(word string) (name string, ok bool) {
	var b strings.Builder
	if word == "{" || word == "}" || strings.HasPrefix(word, "~") || strings.HasPrefix(word, "#") {
		return "", false
	}
	for word != "" {
		switch {
		case strings.HasPrefix(word, "$'"):
			rest, found := "", false
			for word = word[2:]; word != ""; word = rest {
				if word[0] == '\'' {
					word, found = word[1:], true
					break
				}
				if word[0] != '\\' || len(word) < 2 {
					return "", false // nothing but escapes stands there
				}
				if i := strings.IndexByte("abfnrtv", word[1]); i >= 0 {
					b.WriteByte("\a\b\f\n\r\t\v"[i])
					rest = word[2:]
					continue
				}
				if len(word) < 4 {
					return "", false
				}
				n := 0
				for _, c := range []byte(word[1:4]) {
					if c < '0' || c > '7' {
						return "", false
					}
					n = 8*n + int(c-'0')
				}
				b.WriteByte(byte(n))
				rest = word[4:]
			}
			if !found {
				return "", false
			}
		case word[0] == '\'':
			text, rest, found := strings.Cut(word[1:], "'")
			if !found {
				return "", false
			}
			b.WriteString(text)
			word = rest
		case word[0] == '"':
			text, rest, found := strings.Cut(word[1:], `"`)
			if !found || strings.ContainsAny(text, "$`\\!") {
				return "", false
			}
			b.WriteString(text)
			word = rest
		case word[0] == '\\':
			if len(word) < 2 {
				return "", false
			}
			b.WriteByte(word[1])
			word = word[2:]
		case strings.IndexByte(" \t\n$`\"&|;<>()*?[!=^", word[0]) >= 0:
			return "", false
		default:
			b.WriteByte(word[0])
			word = word[1:]
		}
	}
	return b.String(), true
}

func FuzzALineIsReadBackAsItWasWritten(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name, []byte(name))
	}
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		digest := md5.Sum(content) //nolint:gosec // As weir sum.
		line := sum.AppendLine(nil, digest[:], name)
		text, found := bytes.CutSuffix(line, []byte("\n"))
		if !found || bytes.ContainsAny(text, "\n\r") {
			t.Fatalf("%q is written as %q", name, line)
		}
		got, sums, ok := sum.ParseLines("md5")(text)
		if strings.ContainsRune(name, 0) || name == "" {
			return // which no file has
		}
		if !ok || got != name || !bytes.Equal(sums, digest[:]) {
			t.Fatalf("%q is written as %q, and read as %q, %x, %v", name, line, got, sums, ok)
		}
	})
}

// FuzzAnyListIsJudged has lists say anything. Each file that is opened is in the list, each verdict is right, and
// messages report what is wrong with the list in lines that are safe for a terminal.
func FuzzAnyListIsJudged(f *testing.F) {
	const x = "9dd4e461268c8034f5c8564e155c67a6"
	for _, name := range hostileNames {
		f.Add([]byte(x+"  "+name+"\n"), byte(0))
		f.Add([]byte("\\"+x+"  "+name+"\nMD5 ("+name+") = "+x), byte(7))
	}
	f.Add([]byte(x+"0000  x\n"+x[1:]+"  y\nSHA256 (z) = "+x+x+"\n"+x+" z"), byte(3))
	f.Fuzz(func(t *testing.T, list []byte, flags byte) {
		opts := sum.Options{
			Algorithm: sum.Algorithm(sum.Algorithms()[flags>>6]), Workers: 2,
			Quiet: flags&1 > 0, Strict: flags&2 > 0, Warn: flags&4 > 0, JSON: flags&8 > 0, FailFast: flags&16 > 0,
		}.WithOpen(func(path string) (io.ReadCloser, error) {
			if strings.ContainsRune(path, 0) {
				t.Errorf("%q was opened", path)
			}
			return io.NopCloser(strings.NewReader("x")), nil
		})
		var out, errs bytes.Buffer
		err := sum.Check(t.Context(), opts, sum.Streams{In: bytes.NewReader(list), Out: &out, Err: &errs}, "-")
		for line := range strings.Lines(errs.String()) {
			if !strings.HasPrefix(line, "weir: ") || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl) {
				t.Errorf("on standard error: %q", line)
			}
		}
		if err == nil && (strings.Contains(out.String(), "FAILED") && !bytes.Contains(list, []byte("FAILED"))) {
			t.Errorf("a failure went unnoticed: %q", out.String())
		}
		if n, most := bytes.Count(out.Bytes(), []byte("\n")), bytes.Count(list, []byte("\n"))+1; n > most {
			t.Errorf("%d verdicts on %d lines", n, most)
		}
	})
}
