package main_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	lab "github.com/64ed045f/weir/lab"
	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/overload"
	"github.com/64ed045f/weir/lab/internal/peer"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/suite"
)

// TestMain makes the test's program do what the lab's does when it starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"-child", suite.ProgramFlag, overload.Flag}, os.Args[1]) {
		os.Exit(lab.Lab(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	noleak.Main(m)
}

// call runs the command, and returns what it printed.
func call(t *testing.T, want int, args ...string) (out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := lab.Lab(t.Context(), args, &stdout, &stderr); code != want {
		t.Fatalf("lab %q: exit code %d, want %d\n%s\n%s", args, code, want, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

func read(t *testing.T, dir string) record.File {
	t.Helper()
	f, err := record.ReadFile(filepath.Join(dir, "results.txt"))
	check.OK(t, err)
	return f
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestListShowsWhatCanBeSelected(t *testing.T) {
	out, _ := call(t, 0, "-list")
	contains(t, out, "dispatch/empty/limit=64/producers=1/procs=", "behaviour/09", "ants.func", "weir.Group", "conc.iter")
}

func TestARunKeepsRawResultsAndWritesTheReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, _ := call(t, 0, "-run", "^dispatch/(newclose|loop)", "-peer", "go,conc,weir.Pool", "-rounds", "2", "-out", dir)
	contains(t, out, "conc.iter", "weir.Pool")
	f := read(t, dir)
	count := map[string]int{}
	for k, r := range f.Results {
		count[r.ID.Experiment+" "+r.ID.Peer]++
		if r.ID.Experiment == "loop" && k > 0 && f.Results[k-1].ID.Peer == r.ID.Peer {
			t.Errorf("%s had two turns one after the other", r.ID.Peer)
		}
		if len(r.Values) == 0 || r.Values[0].Unit != "ns/op" || r.Values[0].Value <= 0 {
			t.Errorf("result %+v", r)
		}
	}
	for _, what := range []string{"newclose weir.Pool", "newclose conc", "loop go", "loop conc.iter"} {
		check.Equal(t, "results of "+what, count[what], 2)
	}
	for what := range count {
		if strings.HasSuffix(what, "inplace") || strings.HasSuffix(what, "ants") {
			t.Errorf("%s was not selected", what)
		}
	}
	check.Equal(t, "command", f.Setting("command"), "go run ./lab -run '^dispatch/(newclose|loop)' -peer go,conc,weir.Pool -rounds 2 -out "+dir)
	for _, m := range peer.Modules { // a version is there if go.mod requires the module
		contains(t, f.Setting("version-"+m.Library), m.Path+" v")
	}
	check.Equal(t, "scale", f.Setting("scale"), "quick")
	raw, page := filepath.Join(dir, "results.txt"), filepath.Join(dir, "report.html")
	check.OK(t, os.Remove(page))
	again, _ := call(t, 0, "-from", raw, "-out", dir)
	check.Equal(t, "the same results", again, out)
	text, err := os.ReadFile(page)
	check.OK(t, err)
	contains(t, string(text), "conc.iter", "</html>")
}

// This needs processes of their own: the heap must hold nothing else, and the goroutines of ten thousand idle pools stay.
func TestWhatIsInUseIsThatOfTheBuffersAndOfThePools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	call(t, 0, "-run", "^(reuse/sizes|dispatch/idlepools)", "-peer", "new,sync.Pool,ants", "-rounds", "1", "-out", dir)
	of := map[string]record.Result{}
	for _, r := range read(t, dir).Results {
		of[r.ID.Peer] = r
	}
	// A pool that does not look at sizes comes to hold 64 large buffers for each goroutine.
	if kept, made := of["sync.Pool"].Value("heap-B"), of["new"].Value("heap-B"); !(made >= 1<<20 && kept >= 2*made) {
		t.Errorf("%v", of)
	}
	if n := of["ants"].Value("goroutines/pool"); !(n >= 1 && n <= 10) {
		t.Errorf("%v goroutines in an idle pool of ants", n)
	}
	// Each request has 1 KB besides.
	if kept, made := of["sync.Pool"].Value("B/op"), of["new"].Value("B/op"); !(kept >= 1024 && made >= 2*kept) {
		t.Errorf("%v", of)
	}
}

func TestARunWithoutAFolderHasOneOfItsOwnWithTheProfilesOfWhatWasMeasured(t *testing.T) {
	t.Chdir(t.TempDir())
	_, complaints := call(t, 0, "-run", "^reuse/context", "-peer", "new", "-rounds", "2", "-profile")
	for kind, want := range map[string]string{"cpu": "nanoseconds", "heap": "suite.newRequest"} {
		names, err := filepath.Glob("lab-report/*/Reuse_context_peer-new*." + kind + ".pprof")
		if err != nil || len(names) != 2 {
			t.Fatalf("profiles %q, want one of each round; %v", names, err)
		}
		contains(t, complaints, filepath.Dir(names[0]))
		file, err := os.Open(names[0])
		check.OK(t, err)
		packed, err := gzip.NewReader(file)
		check.OK(t, err)
		text, err := io.ReadAll(packed)
		check.OK(t, errors.Join(err, file.Close()))
		contains(t, string(text), want)
	}
}

func TestAScenarioRunsByItsNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, _ := call(t, 0, "-scenario", "7", "-peer", "weir,ants", "-out", dir)
	contains(t, out, "| ✓ ")
	verdicts := map[string]string{}
	for _, r := range read(t, dir).Results {
		check.Equal(t, "scenario", r.ID.Experiment, "07")
		verdicts[r.ID.Peer] = record.Find(r.Notes, "verdict")
	}
	if len(verdicts) != 2 || verdicts["weir"] != "pass" {
		t.Errorf("verdicts %v", verdicts)
	}
}

func TestAServerIsOverloadedInProcessesOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, _ := call(t, 0, "-suite", "http", "-peer", "weir.Limit,go", "-rounds", "1", "-out", dir)
	contains(t, out, "| good/s ", "| weir.Limit ")
	for _, r := range read(t, dir).Results {
		limited := r.ID.Peer == "weir.Limit"
		if limited != (r.Value("peak-running") <= 20) || limited != (r.Value("refused/s") > 0) || !(r.Value("ns/op") > 0 && r.Value("growth") > 0) {
			t.Errorf("%s: %v", r.ID.Peer, r.Values)
		}
	}
}

func TestAnInterruptedRunKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if raw, err := os.ReadFile(filepath.Join(dir, "results.txt")); err == nil && bytes.Count(raw, []byte("\nBenchmark")) >= 3 {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var out, complaints bytes.Buffer
	check.Equal(t, "exit code", lab.Lab(ctx, []string{"-run", "^reuse", "-rounds", "1000", "-out", dir}, &out, &complaints), 130)
	if n := len(read(t, dir).Results); n < 3 || n > 20 {
		t.Errorf("%d results", n)
	}
	contains(t, out.String(), "sync.Pool")
	contains(t, complaints.String(), "Interrupted: ")
}

func TestFlagsThatSelectNothingAreRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-suite", "nothing"}, `no suite is called "nothing"; there are dispatch, cold, seeds`},
		{[]string{"-peer", "ant"}, `no peer is called "ant"; there are weir.Pool`},
		{[]string{"-nope"}, "not defined: -nope; -help has all flags"},
		{[]string{"-scenario", "x"}, `"x" for flag -scenario: there are 01 to 24`},
		{[]string{"-suite", "cost", "-peer", "conc"}, "no experiment fits"},
		{[]string{"-run", "("}, "missing closing )"},
		{[]string{"-rounds", "-1"}, "no fewer than 0 rounds, got -1"},
		{[]string{"dispatch"}, `"dispatch" is no flag`},
	} {
		_, err := call(t, 2, c.args...)
		contains(t, err, c.want)
	}
	_, err := call(t, 0, "-help")
	contains(t, err, "-suite", "-full", "six minutes")
}

func TestAFileThatIsNoResultIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	check.OK(t, os.WriteFile(path, []byte("BenchmarkX-2 1 1 ns/op\n"), 0o600))
	for from, why := range map[string]string{path: "is no name of a measurement", path + "y": "no such file", "": "no such file"} {
		_, err := call(t, 1, "-from", from, "-out", path+"/out") // which cannot be made
		contains(t, err, why)
	}
}
