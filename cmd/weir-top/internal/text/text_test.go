package text_test

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
)

func TestCleanEscapesWhatNoTerminalShouldGet(t *testing.T) {
	for in, want := range map[string]string{
		"mail":                     "mail",
		"":                         "",
		"日本語 café":                 "日本語 café",
		"a\x1b[31mb\n\t\r\x00\x7f": `a\x1b[31mb\n\t\x0d\x00\x7f`,
		"\u009b31m":                `\u009b31m`,
		"\u202eabc\u2066":          `\u202eabc\u2066`,
		"a\u200db\ufeff":           `a\u200db\ufeff`,
		"bad\xff\xc3":              `bad\xff\xc3`,
		"e\u0301\u0301\u0301":      "e\u0301\u0301\\u0301",
		"\u0301":                   `\u0301`,
		"\U0010ffff":               `\U0010ffff`,
		"👍🏽":                       "👍\\U0001f3fd",
		"👨‍👩‍👧":                    `👨\u200d👩\u200d👧`,
	} {
		if got := text.Clean(in, 200); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTextIsCutAndPaddedToItsWidth(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		clean string
		fit   string
		right string
	}{
		{"mail", 4, "mail", "mail", "mail"},
		{"mail", 6, "mail", "mail  ", "  mail"},
		{"mails", 4, "mai…", "mai…", "mai…"},
		{"日本語", 6, "日本語", "日本語", "日本語"},
		{"日本語", 5, "日本…", "日本…", "日本…"},
		{"日本語", 4, "日…", "日… ", " 日…"},
		{"日", 1, "…", "…", "…"},
		{"a\x1b", 4, "a…", "a…  ", "  a…"},
		{"a", 0, "", "", ""},
		{"a", -1, "", "", ""},
	} {
		if got := text.Clean(c.in, c.width); got != c.clean {
			t.Errorf("Clean(%q, %d) = %q, want %q", c.in, c.width, got, c.clean)
		}
		if got := text.Fit(c.in, c.width); got != c.fit {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.in, c.width, got, c.fit)
		}
		if got := text.Right(c.in, c.width); got != c.right {
			t.Errorf("Right(%q, %d) = %q, want %q", c.in, c.width, got, c.right)
		}
	}
}

// Of a text of many megabytes the line is made without reading on, or this test takes minutes.
func TestALongTextCostsNoMoreThanWhatIsSeen(t *testing.T) {
	for _, part := range []string{"x", "\u0301", "\x1b[2J", "日", "\u200d"} {
		long := strings.Repeat(part, 16<<20/len(part))
		for range 1000 {
			if got := text.Width(text.Fit(long, 80)); got != 80 {
				t.Fatalf("%q has the width %d", part, got)
			}
		}
	}
}

func FuzzTheWidthOfALineIsTheSameInEveryTerminal(f *testing.F) {
	for _, s := range []string{"mail", "日本語", "e\u0301\u0301\u0301", "🇩🇪🇫🇷", "क्षत्रिय", "각", "❤\ufe0f", "a\xff\x1b]0;x\a", "\u0600a", "กำ", "👨‍👩‍👧"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width %= 200
		line := text.Fit(s, width)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Fit(%q, %d) = %q, which has runes that are not printable", s, width, line)
		}
		if characters, runes := ansi.StringWidth(line), ansi.StringWidthWc(line); characters != max(0, width) || runes != characters {
			t.Errorf("Fit(%q, %d) = %q: its width is %d by characters, %d by runes", s, width, line, characters, runes)
		}
	})
}

func TestNumbersAreShort(t *testing.T) {
	for in, want := range map[float64]string{
		0: "-", -1: "-", 1e-12: "0ns", 5e-9: "5ns", 1.23e-6: "1.2µs", 999.4e-6: "999µs", 999.6e-6: "1ms", 0.0123: "12ms", 1: "1s", 59.4: "59s",
		59.7: "1m", 90: "1.5m", 3600: "1h", 47 * 3600: "47h", 50 * 3600: "2.1d", 9e9: "ages", 1e300: "ages",
	} {
		if got := text.Duration(in); got != want || utf8.RuneCountInString(got) > 6 {
			t.Errorf("Duration(%v) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[float64]string{
		0: "0", 0.25: "0.2", 7: "7", 9999: "9999", 10000: "10k", 99.96: "100", 123456: "123k", 999999: "1M", 1.5e9: "1.5G", -12: "-12", 1e300: "many",
	} {
		if got := text.Count(in); got != want || len(got) > 6 {
			t.Errorf("Count(%v) = %q, want %q", in, got, want)
		}
	}
	if got := text.Count(uint64(1<<64 - 1)); got != "18E" {
		t.Errorf("the largest count is %q", got)
	}
}

func TestBarsShowTheLargestValueInFullAndEachValueAboveZero(t *testing.T) {
	for _, c := range []struct {
		values []float64
		height int
		want   string
	}{
		{nil, 2, "\n"},
		{[]float64{0, 0}, 1, "  "},
		{[]float64{0, 1, 1000, 500}, 1, " ▁█▄"},
		{[]float64{0, 1, 16, 12}, 2, "  █▄\n ▁██"},
	} {
		if got := strings.Join(text.Bars(c.values, c.height), "\n"); got != c.want {
			t.Errorf("Bars(%v, %d) = %q, want %q", c.values, c.height, got, c.want)
		}
	}
	large := make([]float64, 25)
	for i := range large {
		large[i] = 1.7e308
	}
	for _, values := range [][]float64{large, {math.Inf(1), math.Inf(1), math.Inf(1)}, {math.NaN(), 1, 1}, {math.Inf(-1), math.MaxFloat64, math.Inf(1)}} {
		for height := range 3 {
			for i, line := range text.Bars(text.Shrink(values, 3), height) {
				if utf8.RuneCountInString(line) != 3 || i > 0 && !strings.HasSuffix(line, "█") {
					t.Errorf("of %v line %d is %q", values, i, line)
				}
			}
		}
		if got := text.Spark(values, 3); !strings.HasSuffix(got, "█") {
			t.Errorf("%v are %q", values, got)
		}
	}
	if got := text.Spark([]float64{0, 0, 8, 8, 8}, 3); got != " ▄█" {
		t.Errorf("5 values in 3 cells are %q", got)
	}
	if got := text.Shrink([]float64{1, 2, 3, 4, 5, 6, 7}, 3); len(got) != 3 || got[0] != 1 || got[1] != 9 || got[2] != 18 {
		t.Errorf("7 values in 3 are %v", got)
	}
}
