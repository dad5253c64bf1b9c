package overload_test

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/overload"
	"github.com/64ed045f/weir/lab/internal/record"
)

// TestMain makes the test's program play a part when it starts itself.
func TestMain(m *testing.M) {
	overload.AddContenders()
	if len(os.Args) == 4 && os.Args[1] == overload.Flag {
		os.Exit(overload.Child(os.Args[2], os.Args[3], os.Stdout, os.Stderr))
	}
	check.Overlap()
	noleak.Main(m)
}

// small is a backend of 500 requests a second that is offered five times as many.
func small(contender string) overload.Setup {
	return overload.Setup{
		Contender: contender, Procs: 2,
		Slots: 10, Service: 20 * time.Millisecond, Queue: 10, MaxWait: 100 * time.Millisecond,
		Rate: 2500, Length: 300 * time.Millisecond, Patience: 100 * time.Millisecond, Conns: 250,
	}
}

func run(t *testing.T, setup overload.Setup) record.Result {
	t.Helper()
	r, err := overload.Run(t.Context(), setup)
	check.OK(t, err)
	return r
}

// none fails the test if one of the figures is not 0.
func none(t *testing.T, r record.Result, units ...string) {
	t.Helper()
	for _, unit := range units {
		check.Equal(t, unit, r.Value(unit), 0)
	}
}

// rising fails the test unless each is more than the one before, or as much.
func rising(t *testing.T, what string, values ...float64) {
	t.Helper()
	if !slices.IsSorted(values) || slices.ContainsFunc(values, math.IsNaN) {
		t.Errorf("%s: %v", what, values)
	}
}

func TestAServerWithALimitServesWhatItCanAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	for _, name := range overload.Names() {
		if name == "go" || name == overload.Unlimited || name == overload.Dropping || name == overload.Rude {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup := small(name)
			r := run(t, setup)
			none(t, r, "other", "broken", "lost")
			rising(t, "requests at once", 1, r.Value("peak-running"), float64(setup.Slots), r.Value("peak-goroutines"))
			// Most must be served, unless the machine was too busy to send requests, or to end sleeps, when they were due.
			for range 10 {
				late := max(r.Value("lag-p99-ns"), r.Value("service-ns")-float64(setup.Service))
				if r.Value("served/s") >= 0.3*setup.Capacity() || late < float64(setup.Service)/2 {
					break
				}
				t.Logf("once more: the machine was late by %v", time.Duration(late))
				r = run(t, setup)
			}
			rising(t, "served, as a share of the capacity", 0.3, r.Value("served/s")/setup.Capacity(), 1.1)
			rising(t, "served and refused, of five times the capacity", r.Value("served/s"), r.Value("refused/s"))
			rising(t, "latencies, and before them the time of the service", float64(setup.Service), r.Value("p50-ns"), r.Value("p99-ns"), r.Value("max-ns"))
			rising(t, "time of the service, and how long it was", float64(setup.Service), r.Value("service-ns"))
			rising(t, "memory", 1<<20, r.Value("peak-B"))
			for _, part := range []string{"server", "load"} {
				rising(t, "processors that the "+part+" had", 1e-6, r.Value(part+"-cores"))
			}
			good, held := record.ParseCurve(record.Find(r.Notes, "good-curve")), record.ParseCurve(record.Find(r.Notes, "memory-curve"))
			sum := 0.0
			for _, point := range good {
				sum += point[1] / float64(len(good))
			}
			// Each point is rounded.
			if len(good) != 3 || math.Abs(sum-r.Value("good/s")) > 1 || len(held) < 2 {
				t.Errorf("the curve %v has not the %v a second that were served in time, or too few samples: %v", good, r.Value("good/s"), held)
			}
		})
	}
}

func TestAServerWithoutALimitQueuesUp(t *testing.T) {
	t.Parallel()
	setup := small("go")
	r := run(t, setup)
	none(t, r, "refused/s", "broken", "lost")
	rising(t, "requests at once", float64(2*setup.Slots+1), r.Value("peak-running"))
	if !(r.Value("max-ns") > float64(setup.Patience) && r.Value("good/s") < r.Value("served/s")) {
		t.Errorf("no request waited for long: %v", r.Values)
	}
}

func TestARunThatIsNoMeasurementIsAnError(t *testing.T) {
	for contender, want := range map[string]string{
		overload.Unlimited: "under a limit of 10",
		"nobody":           `no contender is called "nobody"`,
	} {
		if _, err := overload.Run(t.Context(), small(contender)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", contender, err)
		}
	}
}

func TestRequestsThatGetNoAnswerAreLost(t *testing.T) {
	t.Parallel()
	r := run(t, small(overload.Dropping))
	rising(t, "lost, as every fourth is dropped", r.Value("entered")/5, r.Value("lost"), r.Value("entered")/3)
	rising(t, "broken", 1, r.Value("broken"))
}

func TestARefusalThatDoesNotSayUntilWhenIsAnotherAnswer(t *testing.T) {
	t.Parallel()
	r := run(t, small(overload.Rude))
	none(t, r, "refused/s", "lost")
	rising(t, "other answers", 1, r.Value("other"))
}

// With one connection a client is no faster than the server, and only the few requests
// that it sends would count.
func TestLatenciesCountFromTheMomentAtWhichARequestWasDue(t *testing.T) {
	t.Parallel()
	setup := small("go")
	setup.Conns, setup.Rate = 1, 500
	r := run(t, setup) // ten times as many requests as the connection can have
	rising(t, "latency", float64(2*setup.Service), r.Value("p50-ns"))
	rising(t, "requests a second that were not sent", 1, r.Value("unsent/s"))
}

func TestACancelledRunEndsItsProcesses(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	setup := small("weir.Limit")
	setup.Length = time.Hour
	if _, err := overload.Run(ctx, setup); err == nil || !strings.Contains(err.Error(), "signal: killed") { // it has waited for both
		t.Errorf("got %v", err)
	}
}
