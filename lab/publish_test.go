package main_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lab "github.com/64ed045f/weir/lab"
	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/record"
)

func root(t *testing.T) string {
	t.Helper()
	path, err := machine.Root()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestThePagesTablesAreThoseOfThePublishedResults(t *testing.T) {
	if len(lab.Pages) < 3 {
		t.Fatalf("only %d pages have tables", len(lab.Pages))
	}
	for page := range lab.Pages {
		text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := lab.WithTables(root(t), page, text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(text, want) {
			t.Errorf("the tables of %s are stale: go run ./lab -tables", page)
		}
	}
}

func TestThePublishedResultsAreOfThisHotPath(t *testing.T) {
	if err := lab.Covered(root(t)); err != nil {
		t.Error(err)
	}
}

// longTurns are the experiments in which one turn takes many seconds: they have
// fewer than ten rounds, and no figure of theirs stands in the README.
var longTurns = []string{"tasks=10000000", "roots=5000/tasks=300000", "roots=5000/tasks=700000", "roots=1000/tasks=700000"}

func TestWhatIsPublishedHadTenRounds(t *testing.T) {
	f, err := lab.Published(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range record.Tables(f.Results) {
		if table.Suite == "behaviour" || table.Experiment == "feature" {
			continue
		}
		var params []string
		for _, p := range table.Params {
			params = append(params, p.Key+"="+p.Value)
		}
		name := strings.Join(params, "/")
		if slices.ContainsFunc(longTurns, func(long string) bool { return strings.Contains(name, long) }) {
			continue
		}
		for _, row := range table.Rows {
			failed := record.Find(row.Notes, record.FailedNote) != ""
			if rounds := row.Cells[table.Units[0]].Rounds; rounds < 10 && !failed {
				t.Errorf("%s/%s/%s has %d rounds of %s", table.Suite, table.Experiment, name, rounds, row.Peer)
			}
		}
	}
}

// results makes a tree with results, of that hot path and CPU.
func results(t *testing.T, files map[string]record.File) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "lab", "results"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		raw, err := os.Create(filepath.Join(dir, "lab", "results", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := record.Write(raw, f); err != nil {
			t.Fatal(err)
		}
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResultsOfTwoMachinesAreNotPutTogether(t *testing.T) {
	experiment := 0
	of := func(cpu string) record.File {
		experiment++
		return record.File{
			Settings: []record.Setting{{Key: "cpu", Value: cpu}, {Key: "date", Value: cpu}, {Key: "scale", Value: "full"}},
			Results: []record.Result{{
				ID:     record.ID{Suite: "dispatch", Experiment: fmt.Sprint(experiment), Peer: "go", Procs: 2},
				Values: []record.Value{{Unit: "ns/op", Value: 1}},
			}},
		}
	}
	same := of("x")
	_, err := lab.Published(results(t, map[string]record.File{"a.txt": same, "b.txt": same}))
	if err == nil || !strings.Contains(err.Error(), "dispatch/1/procs=2 is in another file too") {
		t.Errorf("error %v", err)
	}
	if f, err := lab.Published(results(t, map[string]record.File{"a.txt": of("x"), "b.txt": of("x")})); err != nil || len(f.Results) != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	_, err = lab.Published(results(t, map[string]record.File{"a.txt": of("x"), "b.txt": of("y")}))
	if err == nil || !strings.Contains(err.Error(), `b.txt: cpu is "y" here, and "x" in another file`) {
		t.Errorf("error %v", err)
	}
	// A library that came later has a version in the newer file alone.
	older, newer, another := of("x"), of("x"), of("x")
	version := record.Setting{Key: "version-puddle", Value: "puddle v1"}
	newer.Settings = append(newer.Settings, version)
	another.Settings = append(another.Settings, record.Setting{Key: version.Key, Value: "puddle v2"})
	f, err := lab.Published(results(t, map[string]record.File{"a.txt": older, "b.txt": newer}))
	if err != nil || f.Setting(version.Key) != version.Value {
		t.Errorf("%+v, %v", f.Settings, err)
	}
	_, err = lab.Published(results(t, map[string]record.File{"a.txt": older, "b.txt": newer, "c.txt": another}))
	if err == nil || !strings.Contains(err.Error(), `c.txt: version-puddle is "puddle v2" here, and "puddle v1" in another file`) {
		t.Errorf("error %v", err)
	}
	for _, s := range []record.Setting{{Key: "scale", Value: "quick"}, {Key: "weir-commit", Value: "0123 with changes"}} {
		f := of("x")
		f.Settings = append([]record.Setting{s}, f.Settings...)
		if _, err := lab.Published(results(t, map[string]record.File{"a.txt": f})); err == nil {
			t.Errorf("%v was published", s)
		}
	}
	if _, err := lab.Published(results(t, nil)); err == nil {
		t.Error("no error without results")
	}
}

func TestAChangedHotPathNeedsARunOrANote(t *testing.T) {
	dir := results(t, map[string]record.File{"dispatch.txt": {
		Settings: []record.Setting{{Key: machine.HotPathKey, Value: "0123456789ab"}, {Key: "scale", Value: "full"}},
		Results: []record.Result{{
			ID:     record.ID{Suite: "dispatch", Experiment: "newclose", Peer: "go", Procs: 2},
			Values: []record.Value{{Unit: "ns/op", Value: 1}},
		}},
	}})
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"pool.go", "internal/claim/claim.go", "internal/engine/engine.go", "internal/feed/feed.go", "internal/fifo/fifo.go", "internal/limit/limit.go", "internal/share/share.go", "par/each.go", "reuse/pool.go", "weirhttp/limit.go",
	} {
		write(name, "package x\n")
	}
	write("lab/results/README.md", "Nothing noted.\n")
	err := lab.Covered(dir)
	if err == nil || !strings.Contains(err.Error(), "run the lab anew") {
		t.Fatalf("error %v", err)
	}
	hash, err := machine.HotPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	write("lab/results/README.md", "- `"+hash+"`: only a name has changed.\n")
	if err := lab.Covered(dir); err != nil {
		t.Error(err)
	}
}

// Each file says of which hot path it is.
func TestEachFileOfResultsIsCoveredByItself(t *testing.T) {
	of := func(experiment, hash string) record.File {
		return record.File{
			Settings: []record.Setting{{Key: machine.HotPathKey, Value: hash}, {Key: "scale", Value: "full"}},
			Results: []record.Result{{
				ID:     record.ID{Suite: "dispatch", Experiment: experiment, Peer: "go", Procs: 2},
				Values: []record.Value{{Unit: "ns/op", Value: 1}},
			}},
		}
	}
	dir := results(t, map[string]record.File{"a.txt": of("lone", "0123456789ab"), "b.txt": of("group", "ba9876543210")})
	file, err := lab.Published(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.txt": "0123456789ab", "b.txt": "ba9876543210"} {
		if got := file.Setting(machine.HotPathKey + "-of-" + name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}
