package rounds_test

import (
	"strings"
	"testing"

	"github.com/64ed045f/weir/verify/internal/rounds"
)

func TestGrowthIsSeenAndNoiseIsNone(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		n    int
		at   func(i int64) rounds.Vitals
		want string
	}{
		"flat":        {20, func(int64) rounds.Vitals { return rounds.Vitals{Goroutines: 5, Bytes: mib, Objects: 3} }, ""},
		"falling":     {20, func(i int64) rounds.Vitals { return rounds.Vitals{Goroutines: 50 - i, Bytes: (30 - i) * mib} }, ""},
		"one high":    {20, func(i int64) rounds.Vitals { return rounds.Vitals{Goroutines: 5 + i/19, Bytes: (1 + i/19*100) * mib} }, ""},
		"too few":     {5, func(i int64) rounds.Vitals { return rounds.Vitals{Bytes: i * 100 * mib} }, ""},
		"memory":      {6, func(i int64) rounds.Vitals { return rounds.Vitals{Bytes: (1 + i) * 4 * mib} }, "bytes on the heap grow"},
		"objects":     {6, func(i int64) rounds.Vitals { return rounds.Vitals{Objects: i * 3000} }, "objects grow"},
		"a goroutine": {6, func(i int64) rounds.Vitals { return rounds.Vitals{Goroutines: 5 + i/3} }, "goroutines grow"},
	} {
		var series []rounds.Vitals
		for i := range c.n {
			series = append(series, c.at(int64(i)))
		}
		if got := strings.Join(rounds.Growth(series), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
