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

// Kinds of units: each has words of its own.
type kind int

const (
	kindCount kind = iota
	kindTime
	kindBytes
)

// kindOf tells from a unit's text what it measures.
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

// unitTitle is what stands above a column of that unit.
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

// figure shows a value with three significant digits: "29.8 ns", "8.70 MB", "78".
func figure(value float64, unit string) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "—"
	}
	value, suffix := tidy(value, unit)
	if suffix == "" {
		// What the runtime does now and then is no part of a count.
		whole := math.Abs(value-math.Round(value)) < 0.005 && math.Abs(value) >= 1
		if (whole || value == 0) && math.Abs(value) < 10_000 {
			return strconv.FormatFloat(value, 'f', 0, 64)
		}
	}
	if value == 0 {
		return "0 " + suffix
	}
	if kindOf(unit) != kindTime && math.Abs(value) < 1 {
		// Less than one of what cannot be divided is what the runtime does now and then.
		if value > 0 && value < 0.01 {
			return strings.TrimSpace("<0.01 " + suffix)
		}
		return strings.TrimSpace(strconv.FormatFloat(value, 'f', 2, 64) + " " + suffix)
	}
	// Decimal also for bytes: the documents count in MB.
	scale := benchunit.CommonScale([]float64{value}, benchunit.Decimal)
	digits := significant(value / scale.Factor)
	if scale.Factor == 1 && suffix == "B" && value == math.Trunc(value) {
		digits = strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strings.TrimSpace(digits + " " + scale.Prefix + suffix)
}

// tidy is the value in seconds, bytes or the number that it is, and what stands behind it.
func tidy(value float64, unit string) (tidied float64, suffix string) {
	switch kindOf(unit) {
	case kindTime:
		value, _ = benchunit.Tidy(value, unit)
		return value, "s"
	case kindBytes:
		return value, "B"
	}
	return value, ""
}

// significant shows three digits, and never fewer than stand before the point.
func significant(v float64) string {
	switch abs := math.Abs(v); {
	case abs < 0.0995:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case abs < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case abs < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// interval shows how far from the median the true one may lie: "± 2 %".
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

// usable says whether a figure can be shown and compared.
func usable(c record.Cell) bool {
	return c.Rounds > 0 && !math.IsNaN(c.Center) && !math.IsInf(c.Center, 0)
}

// A comparison says how one figure stands to another. Smaller is better.
type comparison struct {
	valid bool    // false where there is nothing to divide
	known bool    // false where there are too few rounds to tell
	equal bool    // no test tells them apart, or the medians are the same to half a hundredth
	ratio float64 // above 1: so many times better
}

func compare(a, b record.Cell) comparison {
	if !usable(a) || !usable(b) || a.Center < 0 || b.Center < 0 {
		return comparison{}
	}
	differs, known := a.Differs(b)
	c := comparison{valid: true, known: known, ratio: 1}
	if a.Center != b.Center {
		if a.Center == 0 || b.Center == 0 {
			return comparison{}
		}
		c.ratio = b.Center / a.Center
	}
	c.equal = known && !differs || c.ratio > 0.995 && c.ratio < 1.005
	return c
}

func (c comparison) behind() bool { return c.valid && c.known && !c.equal && c.ratio < 1 }
func (c comparison) ahead() bool  { return c.valid && c.known && !c.equal && c.ratio > 1 }

// words says it so that it cannot be read the wrong way round: "5.1× faster". What
// is not known has a question mark.
func (c comparison) words(unit string) string {
	switch {
	case !c.valid:
		return "—"
	case !c.known:
		return c.claimed(unit) + "?"
	}
	return c.claimed(unit)
}

// claimed is words without regard to whether it is known.
func (c comparison) claimed(unit string) string {
	if c.equal {
		return "about equal"
	}
	better, worse := "less", "more"
	if kindOf(unit) == kindTime {
		better, worse = "faster", "slower"
	}
	if c.ratio > 1 {
		return times(c.ratio) + " " + better
	}
	return times(1/c.ratio) + " " + worse
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

// noBreak is a space at which no line ends.
const noBreak = "\u00a0"

// grouped shows a whole number as "1 000 000"; other texts stay as they are.
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

// clean makes a text from a file safe to show: without control characters, which
// a terminal would obey and XML cannot hold.
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
