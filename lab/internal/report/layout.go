package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// decades marks the powers of ten, and steps between them where there are few.
type decades struct{ unit string }

func (d decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	if low <= 0 || high <= low || math.IsInf(high, 0) {
		return nil
	}
	steps := []float64{1}
	switch span := math.Log10(high / low); {
	case span < 0.7:
		steps = []float64{1, 1.5, 2, 3, 5, 7}
	case span < 1.2:
		steps = []float64{1, 2, 5}
	case span < 2.2:
		steps = []float64{1, 3}
	}
	every := max(1, int(math.Log10(high/low)/6)+1)
	for k := int(math.Floor(math.Log10(low))); k <= int(math.Ceil(math.Log10(high))); k++ {
		if k%every != 0 {
			continue
		}
		for _, step := range steps {
			if v := step * math.Pow(10, float64(k)); v >= low*0.999 && v <= high*1.001 {
				ticks = append(ticks, plot.Tick{Value: v, Label: tickText(v, d.unit)})
			}
		}
	}
	return ticks
}

func tickText(value float64, unit string) string {
	if unit == "×" {
		return strconv.FormatFloat(value, 'g', 3, 64) + "×"
	}
	value, suffix := tidy(value, unit)
	scale := benchunit.CommonScale([]float64{value * 1.0001}, benchunit.Decimal)
	return strings.TrimSpace(strconv.FormatFloat(value/scale.Factor, 'g', 3, 64) + " " + scale.Prefix + suffix)
}

// apart moves labels away from each other along one axis, as little as it can, and
// keeps them between low and high where they fit. It returns where they go, in the
// order of the wishes.
func apart(wishes []vg.Length, gap, low, high vg.Length) []vg.Length {
	order := make([]int, len(wishes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(wishes[a], wishes[b]) })
	// Labels that would touch become a block, which stands where its wishes lie on
	// average; a block that touches the one below joins it.
	type block struct {
		first, last int
		sum         vg.Length // of the wishes, each less what its place in the order adds
	}
	at := func(b block) vg.Length { return b.sum / vg.Length(b.last-b.first+1) }
	var blocks []block
	for k, i := range order {
		blocks = append(blocks, block{k, k, wishes[i] - vg.Length(k)*gap})
		for n := len(blocks); n > 1 && at(blocks[n-2]) > at(blocks[n-1]); n = len(blocks) {
			blocks[n-2].last = blocks[n-1].last
			blocks[n-2].sum += blocks[n-1].sum
			blocks = blocks[:n-1]
		}
	}
	places := make([]vg.Length, len(wishes))
	floor := low
	for _, b := range blocks {
		for k := b.first; k <= b.last; k++ {
			places[order[k]] = max(at(b)+vg.Length(k)*gap, floor)
			floor = places[order[k]] + gap
		}
	}
	for _, i := range slices.Backward(order) {
		places[i] = min(places[i], high)
		high = places[i] - gap
	}
	return places
}
