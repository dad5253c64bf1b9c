package text

import (
	"math"
	"strings"
)

var eighths = []rune(" ▁▂▃▄▅▆▇█")

// Spark draws values as one line of bars; the largest value fills the line. If there are more values than
// cells, a cell shows the mean of several values.
func Spark(values []float64, width int) string {
	return Bars(shrink(values, width, true), 1)[0]
}

// Bars draws values as height lines of bars, from the top down; the largest value fills all lines. A value
// above 0 is always visible, however small.
func Bars(values []float64, height int) []string {
	most := 0.0
	for _, value := range values {
		most = max(most, finite(value))
	}
	lines := make([]string, height)
	for i := range lines {
		var b strings.Builder
		below := float64(8 * (height - 1 - i))
		for _, value := range values {
			high := 0.0
			if value > 0 {
				high = max(1, finite(value)/most*float64(8*height))
			}
			b.WriteRune(eighths[int(min(8, max(0, high-below)))])
		}
		lines[i] = b.String()
	}
	return lines
}

// Shrink returns at most width values. Each is the sum of the same number of values; only the first may be of
// fewer.
func Shrink(values []float64, width int) []float64 { return shrink(values, width, false) }

func shrink(values []float64, width int, mean bool) []float64 {
	if width < 1 {
		return nil
	}
	each := (len(values) + width - 1) / width
	if each <= 1 {
		return values
	}
	var list []float64
	for end := len(values) - (len(values)-1)/each*each; end <= len(values); end += each { // the first part may be shorter
		part := values[max(0, end-each):end]
		parts := 1.0
		if mean {
			parts = float64(len(part))
		}
		sum := 0.0
		for _, value := range part {
			sum += value / parts // divide first, as the sum may overflow
		}
		list = append(list, sum)
	}
	return list
}

// finite returns the finite number nearest to value; 0 for NaN.
func finite(value float64) float64 {
	if math.IsNaN(value) {
		return 0
	}
	return min(max(value, -math.MaxFloat64), math.MaxFloat64)
}
