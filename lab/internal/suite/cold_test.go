package suite_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

func TestSmallSetsTakeAtLeastAsLongAsTheirTasks(t *testing.T) {
	for _, e := range suite.Plan(suite.Scale{Cores: runtime.GOMAXPROCS(0)}) {
		if e.ID.Suite != "cold" || !slices.ContainsFunc(e.ID.Params, func(p record.Setting) bool { return p.Value == "10µs" }) {
			continue
		}
		meters := make([]suite.Meter, len(e.Contenders))
		e.Together(meters)
		for k, m := range meters {
			// The clock that finds out how many roots that is may have had a slow moment.
			if ns := m.Value("ns/op"); !(m.N >= 40 && ns >= 5_000 && ns <= 5e6) {
				t.Errorf("%v of %s: %+v", e.ID, e.Contenders[k].Name, m)
			}
		}
	}
}
