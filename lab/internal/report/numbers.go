package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchunit"

	"github.com/64ed045f/weir/lab/internal/record"
)

// A kind is a kind of unit, as the suffix of its figures: each kind has words of its own.
type kind string

const (
	kindCount kind = ""
	kindTime  kind = "s"
	kindBytes kind = "B"
)

// kindOf returns the kind of the unit, from its text.
func kindOf(unit string) kind {
	_, tidy := benchunit.Tidy(1, unit)
	switch {
	case strings.Contains(tidy, "sec"):
		return kindTime
	case benchunit.ClassOf(tidy) == benchunit.Binary:
		return kindBytes
	}
	return kindCount
}

// unitTitle returns the title of a column with that unit.
func unitTitle(unit string) string {
	unit = clean(unit)
	switch unit {
	case "ns/op":
		return "time"
	case "peak-B":
		return "peak memory"
	case "heap-B":
		return "heap in use"
	case "B/op", "allocs/op":
		return unit
	}
	unit = strings.TrimSuffix(unit, "-ns")
	unit = strings.TrimSuffix(unit, "-B")
	return strings.ReplaceAll(unit, "-", " ")
}

// figure formats a value with three significant digits: "29.8 ns", "8.70 MB", "78".
func figure(value float64, unit string) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "—"
	}
	kind := kindOf(unit)
	suffix := string(kind)
	if kind == kindTime {
		value, _ = benchunit.Tidy(value, unit)
	}
	if kind == kindCount {
		// A count excludes what the runtime does now and then.
		whole := math.Abs(value-math.Round(value)) < 0.005 && math.Abs(value) >= 1
		if (whole || value == 0) && math.Abs(value) < 10_000 {
			return strconv.FormatFloat(value, 'f', 0, 64)
		}
	}
	if value == 0 {
		return "0 " + suffix
	}
	if kind != kindTime && math.Abs(value) < 1 {
		// A fraction of an indivisible thing is what the runtime does now and then.
		if value > 0 && value < 0.01 {
			return strings.TrimSpace("under 0.01 " + suffix)
		}
		return strings.TrimSpace(strconv.FormatFloat(value, 'f', 2, 64) + " " + suffix)
	}
	// Decimal also for bytes, because the documents count in MB.
	scale := benchunit.CommonScale([]float64{value}, benchunit.Decimal)
	digits := significant(value / scale.Factor)
	if scale.Factor == 1 && kind == kindBytes && value == math.Trunc(value) {
		digits = strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strings.TrimSpace(digits + " " + scale.Prefix + suffix)
}

// significant formats a value with three digits, or with all digits before the point if there are more.
func significant(v float64) string {
	if math.Abs(v) >= 99.95 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fmt.Sprintf("%#.3g", v)
}

// interval formats how far the true median may be from the measured one: "± 2 %".
func interval(c record.Cell) string {
	if !usable(c) {
		return ""
	}
	away := max(c.High-c.Center, c.Center-c.Low)
	switch {
	case math.IsInf(away, 0) || math.IsNaN(away):
		return "± ?"
	case away == 0:
		return "± 0 %"
	case c.Center == 0:
		return "± ?"
	}
	return fmt.Sprintf("± %.0f %%", 100*away/math.Abs(c.Center))
}

// usable reports whether a figure can be shown and compared.
func usable(c record.Cell) bool {
	return c.Rounds > 0 && !math.IsNaN(c.Center) && !math.IsInf(c.Center, 0)
}

// A standing is what a comparison says of the first of the two.
type standing int

const (
	incomparable standing = iota // there is no ratio
	open                         // too few rounds to tell
	behind
	equal // no test distinguishes them, or the medians differ by less than 0.5 %
	ahead
)

// A comparison compares one figure with another. Smaller is better.
type comparison struct {
	standing standing
	ratio    float64 // how many times better; below 1 if it is worse
}

func compare(a, b record.Cell) comparison {
	if !usable(a) || !usable(b) || a.Center < 0 || b.Center < 0 || a.Center != b.Center && a.Center*b.Center == 0 {
		return comparison{}
	}
	ratio := 1.0
	if a.Center != b.Center {
		ratio = b.Center / a.Center
	}
	differs, known := a.Differs(b)
	switch {
	case !known:
		return comparison{open, ratio}
	case !differs || ratio > 0.995 && ratio < 1.005:
		return comparison{equal, ratio}
	case ratio < 1:
		return comparison{behind, ratio}
	}
	return comparison{ahead, ratio}
}

// words describes the comparison so that it cannot be misread: "5.1× faster". It adds a question mark if the
// comparison is open.
func (c comparison) words(unit string) string {
	better, worse := "less", "more"
	if kindOf(unit) == kindTime {
		better, worse = "faster", "slower"
	}
	words := times(1/c.ratio) + " " + worse
	if c.ratio > 1 {
		words = times(c.ratio) + " " + better
	}
	switch c.standing {
	case incomparable:
		return "—"
	case equal:
		return "about equal"
	case open:
		return words + "?"
	}
	return words
}

func times(ratio float64) string {
	switch {
	case ratio < 1.0995:
		return strconv.FormatFloat(ratio, 'f', 2, 64) + "×"
	case ratio < 9.95:
		return strconv.FormatFloat(ratio, 'f', 1, 64) + "×"
	case ratio < 1e6:
		return strconv.FormatFloat(ratio, 'f', 0, 64) + "×"
	}
	return strconv.FormatFloat(ratio, 'g', 2, 64) + "×"
}

// noBreak is a space at which no line breaks.
const noBreak = "\u00a0"

// grouped formats a whole number as "1 000 000"; it leaves other texts unchanged.
func grouped(s string) string {
	s = clean(s)
	if len(s) < 5 || strings.Trim(s, "0123456789") != "" {
		return s
	}
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString(noBreak)
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// clean makes a text from a file safe to show. It removes control characters, which a terminal would obey and
// XML cannot contain.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs) || r >= 0xFFFE && r <= 0xFFFF:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}
