package top

import (
	"fmt"
	"math"
	"strings"

	"github.com/64ed045f/weir/cmd/weir-top/internal/text"
	"github.com/64ed045f/weir/weirdebug"
)

const (
	barsHeight      = 3
	histogramHeight = barsHeight + 2 // plus the line above and the scale below
	maxBars         = 200            // from a nanosecond to some days
)

// histograms draws how long tasks waited and ran: side by side, or one above the other if the terminal is
// narrow and high.
func histograms(p *weirdebug.Pool, width int, high bool) []string {
	if width < 60 && high {
		return append(histogram("wait", p.Wait, width), histogram("run", p.Run, width)...)
	}
	half := (width - 2) / 2
	lines := histogram("wait", p.Wait, half)
	for i, line := range histogram("run", p.Run, half) {
		lines[i] = text.Fit(lines[i], half) + "  " + line
	}
	return lines
}

// histogram draws d as histogramHeight lines of at most the given width.
func histogram(name string, d weirdebug.Durations, width int) []string {
	lines := []string{text.Clean(fmt.Sprintf("%-4s  p50 %s  p99 %s  of %s", name, text.Duration(d.P50), text.Duration(d.P99), text.Count(d.Count)), width)}
	values, from, to := spread(d.Buckets)
	values = text.Shrink(values, width)
	lines = append(lines, text.Bars(values, barsHeight)...)
	scale := ""
	if len(values) > 0 {
		low, high := text.Duration(from), text.Duration(to)
		scale = low + strings.Repeat("─", max(1, len(values)-text.Width(low)-text.Width(high))) + high
	}
	return append(lines, text.Clean(scale, width))
}

// spread returns the counts of all buckets from the first to the last that the server sent, including empty
// buckets in between, and the durations at both ends.
func spread(buckets []weirdebug.Bucket) (counts []float64, from, to float64) {
	number := func(b weirdebug.Bucket) float64 { return math.Round(4 * math.Log2(b.UpTo)) }
	first := math.NaN()
	for _, b := range buckets {
		at := number(b)
		if math.IsNaN(at) || math.IsInf(at, 0) {
			continue
		}
		if math.IsNaN(first) {
			first, from = at, b.UpTo*math.Exp2(-0.25)
		}
		if at < first || at-first >= maxBars {
			continue
		}
		for int(at-first) >= len(counts) {
			counts = append(counts, 0)
		}
		counts[int(at-first)] += float64(b.Count)
		to = max(to, b.UpTo)
	}
	return counts, from, to
}
