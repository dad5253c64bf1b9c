package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/run"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// plan has contenders that do what their names say.
func plan() []suite.Experiment {
	fine := func(m *suite.Meter) {
		m.N = 7
		m.Add("ns/op", 5)
	}
	return []suite.Experiment{{
		ID:     record.ID{Suite: "planted", Experiment: "first", Procs: 1, Params: []record.Setting{{Key: "limit", Value: "2"}}},
		Rounds: 3, Limit: 10 * time.Second,
		Contenders: []suite.Contender{
			{Name: "fine", Measure: fine},
			{Name: "crashes", Measure: func(*suite.Meter) { panic("planted") }},
			{Name: "also-fine", Measure: fine},
			{Name: "silent", Measure: func(*suite.Meter) { os.Exit(0) }},
			{Name: "measures-nothing", Measure: func(*suite.Meter) {}},
		},
	}, {
		ID:     record.ID{Suite: "planted", Experiment: "second", Procs: 2},
		Rounds: 2, Limit: time.Second,
		Contenders: []suite.Contender{
			{Name: "hangs", Measure: func(*suite.Meter) { time.Sleep(time.Hour) }},
			{Name: "fine", Measure: fine},
		},
	}, together("third", fine), together("fourth", func(*suite.Meter) { panic("planted") })}
}

// together is an experiment that measures its contenders in one process.
func together(name string, measure func(m *suite.Meter)) suite.Experiment {
	return suite.Experiment{
		ID:     record.ID{Suite: "planted", Experiment: name, Procs: 1},
		Rounds: 2, Limit: 10 * time.Second,
		Contenders: []suite.Contender{{Name: "one"}, {Name: "other"}},
		Together: func(meters []suite.Meter) {
			for k := range meters {
				measure(&meters[k])
				meters[k].N += k
			}
		},
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-child" {
		if err := run.Child(os.Stdout, plan(), os.Args[2], time.Millisecond, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	noleak.Main(m)
}

// runner keeps no result, and calls before at the begin of each turn.
func runner(t *testing.T, before func(turn run.Turn)) run.Runner {
	return run.Runner{
		Arguments: func(id record.ID) []string { return []string{"-child", id.String()} },
		Temporary: t.TempDir(),
		Keep:      func(record.Result) error { return nil },
		Before:    before,
	}
}

func TestContendersTakeTurnsAndAFailureSpoilsNoOther(t *testing.T) {
	// With the race detector a program sleeps for a second before it ends.
	t.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	var turns, results []string
	r := runner(t, func(turn run.Turn) { turns = append(turns, turn.Experiment.ID.Experiment+" "+turn.Peer()) })
	r.Keep = func(r record.Result) error {
		text := fmt.Sprintf("%s %s: %d %s", r.ID.Experiment, r.ID.Peer, r.N, record.Find(r.Notes, record.FailedNote))
		results = append(results, strings.TrimSpace(text))
		return nil
	}
	check.OK(t, r.Run(t.Context(), plan()))
	check.Equal(t, "turns", strings.Join(turns, "\n"), `first fine
first crashes
first also-fine
first silent
first measures-nothing
first fine
first also-fine
first fine
first also-fine
second hangs
second fine
second fine
third all
third all
fourth all`)
	check.Equal(t, "results", strings.Join(results, "\n"), `first fine: 7
first crashes: 1 exit status 2: panic: planted
first also-fine: 7
first silent: 1 the measuring process: no measurement in it
first measures-nothing: 1 exit status 1: Planted/first/limit=2/peer=measures-nothing-1: the format knows no result without a value
first fine: 7
first also-fine: 7
first fine: 7
first also-fine: 7
second hangs: 1 no end after 1s
second fine: 7
second fine: 7
third one: 7
third other: 8
third one: 7
third other: 8
fourth one: 1 exit status 2: panic: planted
fourth other: 1 exit status 2: panic: planted`)
}

func TestARunThatIsCancelledEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("enough")
	begin := time.Now()
	r := runner(t, func(turn run.Turn) {
		if turn.Peer() == "hangs" {
			cancel(stopped)
		}
	})
	long := plan()[1:2]
	long[0].Limit = time.Hour
	check.Error(t, r.Run(ctx, long), stopped)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAChildMeasuresNothingThatItWasNotAskedFor(t *testing.T) {
	for _, name := range []string{"", "Planted/first/limit=2/peer=nobody-1", "Planted/third/peer=fine-1", "Planted/second/peer=fine-64"} {
		if err := run.Child(os.Stdout, plan(), name, time.Millisecond, ""); err == nil {
			t.Errorf("no error for %q", name)
		}
	}
}
