package report

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
	"gonum.org/v1/plot"
)

// decades has ticks at the powers of ten, and at steps between them if there are few powers.
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

// evenly has evenly spaced ticks, for axes that are not logarithmic.
type evenly struct {
	plot.DefaultTicks
	unit string
}

// Ticks implements [plot.Ticker].
func (e evenly) Ticks(low, high float64) []plot.Tick {
	ticks := e.DefaultTicks.Ticks(low, high)
	for k, t := range ticks {
		switch {
		case t.Label == "":
		case t.Value > 0 && e.unit == "B":
			ticks[k].Label = tickText(t.Value, "B")
		default:
			ticks[k].Label = strconv.FormatFloat(t.Value, 'g', 4, 64)
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
