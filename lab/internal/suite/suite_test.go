package suite_test

import (
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

func TestMain(m *testing.M) { noleak.Main(m) }

func TestThePlanOfEachScaleIsComplete(t *testing.T) {
	for _, scale := range []suite.Scale{{Cores: 1}, {Cores: 2}, {Cores: 16}, {Cores: 2, Rounds: 4}, {Full: true, Cores: 1}, {Full: true, Cores: 2}, {Full: true, Cores: 12}} {
		seen := map[string]bool{}
		var whole time.Duration
		for _, e := range suite.Plan(scale) {
			whole += time.Duration(e.Rounds*len(e.Contenders)) * e.Turn
			few := scale.Full && e.Rounds < 10 && e.Turn <= 4*time.Second && e.Contenders[0].Observe == nil
			if e.About == "" || e.Turn <= 0 || e.Limit < e.Turn || e.Rounds < 1 || few || scale.Rounds != 0 && e.Rounds != scale.Rounds || len(e.Contenders) < 2 {
				t.Errorf("%+v: incomplete, or too few rounds: %+v", scale, e)
			}
			if !slices.ContainsFunc(e.Contenders, func(c suite.Contender) bool { return peer.LibraryOf(c.Name) == peer.Weir }) {
				t.Errorf("%+v: no form of Weir in %+v", scale, e.ID)
			}
			for _, c := range e.Contenders {
				id := e.ID
				id.Peer = c.Name
				name := id.String()
				if seen[name] {
					t.Errorf("%+v: two measurements are called %s", scale, name)
				}
				seen[name] = true
				if back, err := record.ParseID(name); err != nil || back.String() != name {
					t.Errorf("%s was read as %s (%v)", name, back, err)
				}
				ways := slices.DeleteFunc([]bool{c.Measure != nil, c.Observe != nil, e.Together != nil}, func(way bool) bool { return !way })
				check.Equal(t, "ways to measure "+name, len(ways), 1)
			}
		}
		if scale == (suite.Scale{Cores: 2}) && whole > 5*time.Minute {
			t.Errorf("the quick plan is expected to take %v on two cores", whole)
		}
	}
}

// measure makes the measurement of a contender of the quick plan in this process, of so many operations at least: with many of
// them the first, which make objects, do not count. Where the machine stands still meanwhile, few fill the time.
func measure(t *testing.T, experiment, peer string, least int) suite.Meter {
	t.Helper()
	for _, e := range suite.Plan(suite.Scale{Cores: runtime.GOMAXPROCS(0)}) {
		k := slices.IndexFunc(e.Contenders, func(c suite.Contender) bool { return c.Name == peer })
		if e.ID.Experiment != experiment || k < 0 {
			continue
		}
		for target := 10 * time.Millisecond; ; target *= 2 {
			m := suite.Meter{Target: target}
			e.Contenders[k].Measure(&m)
			if m.N >= least {
				return m
			}
		}
	}
	t.Fatalf("no %s in %s", peer, experiment)
	return suite.Meter{}
}

func TestFiguresAreThoseOfWhatIsMeasured(t *testing.T) {
	for _, c := range []struct {
		experiment, peer string
		operations       int
		unit             string
		least, most      float64
	}{
		{"empty", "weir.FuncPool", 10_000, "ns/op", 0, 10_000},
		// Ten tasks of about 0.7 µs: ten times as long on a very slow machine, yet not shorter than 1 µs.
		{"forkjoin", "inplace", 100, "ns/op", 1000, 1e6},
		{"throughput", "go", 1, "peak-goroutines", 100, 110_000},
		{"throughput", "go", 1, "peak-B", 1 << 20, 8 << 30},
		{"group", "weir.Group", 1000, "allocs/op", 0, 0.5},
		{"group", "conc.context", 1000, "allocs/op", 1, math.Inf(1)},
		{"context", "new", 1000, "B/op", 1024, math.Inf(1)}, // made anew
		{"context", "sync.Pool", 1000, "B/op", 0, 100},
		{"context", "weir.reuse.Pool", 1000, "B/op", 0, 100},
		{"context", "weir.Stateful", 1000, "B/op", 0, 100},
		// With users that wait puddle allocates, and the keeper, once it has places for all of them, does not.
		{"keeper", "weir.reuse.Keeper", 1000, "allocs/op", 0, 0.5},
		{"keeper", "puddle", 1000, "allocs/op", 1, math.Inf(1)},
		{"calls", "singleflight", 1000, "allocs/op", 1, 3},
	} {
		before := runtime.NumGoroutine()
		m := measure(t, c.experiment, c.peer, c.operations)
		if got := m.Value(c.unit); !(got >= c.least && got <= c.most && m.Value("ns/op") > 0) {
			t.Errorf("%s of %s: %+v", c.experiment, c.peer, m)
		}
		for runtime.NumGoroutine() > before { // their tasks are over, but they count for a moment more
			runtime.Gosched()
		}
	}
}

func TestLatenciesAreInOrder(t *testing.T) {
	m := measure(t, "lone", "go", 1)
	p50, p90, p99, p999 := m.Value("ns/op"), m.Value("p90-ns"), m.Value("p99-ns"), m.Value("p99.9-ns")
	if !(p50 > 0 && p90 >= p50 && p99 >= p90 && p999 >= p99) {
		t.Errorf("%+v", m)
	}
	if mean := m.Value("mean-ns"); !(mean >= p50/2) {
		t.Errorf("%+v", m)
	}
}

func TestATenantWaitsForTheTasksOfAnotherInACommonQueueAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the time of a busy machine is another one
		whole, part := measure(t, "tenants", "weir.Pool", 1), measure(t, "tenants", "weir.Lane", 1)
		if !(whole.Value("ns/op") >= 100e6 && part.Value("ns/op") <= 6e6) { // behind all of the other, or behind one task of it
			t.Errorf("in a common queue %+v, in a lane %+v", whole, part)
		}
	})
}

// Of every 16 requests one takes 0.2 ms, as with an allocator that has to look for memory: if every
// 16th were timed that would never be seen.
func TestTheLatencyOfSomeRequestsIsThatOfAll(t *testing.T) {
	var served atomic.Int64
	m := suite.Meter{Target: 40 * time.Millisecond}
	m.Add("ns/op", 20e3)
	m.Latency(1, func() {
		length := 10 * time.Microsecond
		if served.Add(1)%16 == 1 {
			length *= 20
		}
		for begin := time.Now(); time.Since(begin) < length; {
			continue
		}
	})
	if average := m.Value("mean-ns"); !(average >= 10e3 && average <= 10e6) {
		t.Errorf("the mean is %v ns", average)
	}
	if p99 := m.Value("p99-ns"); !(p99 >= 200e3) {
		t.Errorf("99 of 100 took less than %v ns", p99)
	}
}

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

func TestSizesAreSpreadAsTheirNamesSay(t *testing.T) {
	for _, c := range []struct {
		load        string
		share       float64 // of the sizes that are less
		least, most int
	}{
		{"log-normal", 0.5, 980, 1070},
		{"log-normal", 0.99, 58_000, 74_000},
		{"bimodal", 0, 256, 256},
		{"bimodal", 0.94, 256, 256},
		{"bimodal", 0.96, 64 << 10, 64 << 10},
		{"shift", 0.49, 256, 256},
		{"shift", 0.51, 64 << 10, 64 << 10},
	} {
		sizes := slices.Sorted(slices.Values(suite.Sizes(c.load)))
		if size := sizes[int(c.share*float64(len(sizes)))]; size < c.least || size > c.most {
			t.Errorf("%s: the size is %d at %v", c.load, size, c.share)
		}
	}
	if slices.IsSorted(suite.Sizes("log-normal")) {
		t.Error("log-normal sizes come in order")
	}
	if changes := slices.Compact(suite.Sizes("shift")); !slices.Equal(changes, []int{256, 64 << 10, 256}) {
		t.Errorf("shift: %v", changes)
	}
}
