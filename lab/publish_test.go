package main_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	lab "github.com/64ed045f/weir/lab"
	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/record"
)

func root(t *testing.T) string {
	t.Helper()
	path, err := machine.Root()
	check.OK(t, err)
	return path
}

func TestThePagesTablesAreThoseOfThePublishedResults(t *testing.T) {
	texts, err := lab.Stale(root(t))
	check.OK(t, err)
	for page := range texts {
		t.Errorf("the tables of %s are stale: go run ./lab -tables", page)
	}
}

func TestThePublishedResultsAreOfThisHotPath(t *testing.T) {
	check.OK(t, lab.Covered(root(t)))
}

// longTurns are the experiments in which one turn takes many seconds: they have
// fewer than ten rounds, and no figure of theirs stands in the README.
var longTurns = []string{"tasks=10000000", "roots=5000/tasks=300000", "roots=5000/tasks=700000", "roots=1000/tasks=700000"}

func TestWhatIsPublishedHadTenRounds(t *testing.T) {
	f, err := lab.Published(root(t))
	check.OK(t, err)
	for _, table := range record.Tables(f.Results) {
		if table.Suite == "behaviour" || table.Experiment == "feature" {
			continue
		}
		name := record.ID{Suite: table.Suite, Experiment: table.Experiment, Params: table.Params}.Setting()
		if slices.ContainsFunc(longTurns, func(long string) bool { return strings.Contains(name, long) }) {
			continue
		}
		for _, row := range table.Rows {
			failed := record.Find(row.Notes, record.FailedNote) != ""
			if rounds := row.Cells[table.Units[0]].Rounds; rounds < 10 && !failed {
				t.Errorf("%s has %d rounds of %s", name, rounds, row.Peer)
			}
		}
	}
}

// of is what a published file holds that has measured this experiment: settings are pairs of a key and a value.
func of(experiment string, settings ...string) record.File {
	f := record.File{Results: []record.Result{{
		ID:     record.ID{Suite: "dispatch", Experiment: experiment, Peer: "go", Procs: 2},
		Values: []record.Value{{Unit: "ns/op", Value: 1}},
	}}}
	for settings := range slices.Chunk(append(settings, "scale", "full"), 2) {
		f.Settings = append(f.Settings, record.Setting{Key: settings[0], Value: settings[1]})
	}
	return f
}

// write writes a file below a folder, which it makes.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	check.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
}

// results makes a tree with these files of results, a.txt and so on.
func results(t *testing.T, files ...record.File) string {
	t.Helper()
	dir := t.TempDir()
	for k, f := range files {
		var raw strings.Builder
		check.OK(t, record.Write(&raw, f))
		write(t, dir, "lab/results/"+string(rune('a'+k))+".txt", raw.String())
	}
	return dir
}

func TestOnlyResultsThatBelongTogetherArePutTogether(t *testing.T) {
	const library = "version-puddle"
	for _, c := range []struct {
		files []record.File
		want  string // the error
	}{
		{[]record.File{of("1", "cpu", "x", "date", "2"), of("2", "cpu", "x", "date", "1"), of("3", "cpu", "x", "date", "2")}, ""},
		{[]record.File{of("1", "cpu", "x"), of("1", "cpu", "x")}, "dispatch/1/procs=2 is in another file too"},
		{[]record.File{of("1", "cpu", "x"), of("2", "cpu", "y")}, `b.txt: cpu is "y" here, and "x" in another file`},
		// A library that came later has a version in the newer file alone.
		{[]record.File{of("1"), of("2", library, "puddle v1")}, ""},
		{
			[]record.File{of("1"), of("2", library, "puddle v1"), of("3", library, "puddle v2")},
			`c.txt: version-puddle is "puddle v2" here, and "puddle v1" in another file`,
		},
		{[]record.File{of("1", "scale", "quick")}, "measured with -full"},
		{[]record.File{of("1", "weir-commit", "0123 with changes")}, "of a commit without changes"},
		{nil, "holds no results"},
	} {
		f, err := lab.Published(results(t, c.files...))
		if c.want != "" {
			contains(t, fmt.Sprint(err), c.want)
			continue
		}
		if err != nil || len(f.Results) != len(c.files) {
			t.Errorf("%+v, %v", f, err)
		}
		if dates := f.Setting("date"); dates != "" && dates != "1, 2" {
			t.Errorf("the dates are %q", dates)
		}
		check.Equal(t, library, f.Setting(library), c.files[len(c.files)-1].Setting(library))
	}
}

// Each file says of which hot path it is.
func TestAChangedHotPathNeedsARunOrANote(t *testing.T) {
	dir := results(t, of("lone", machine.HotPathKey, "0123456789ab"), of("group", machine.HotPathKey, "ba9876543210"))
	write(t, dir, "go.mod", "module example.org/weir\n")
	for _, name := range []string{"weir.go", "par/par.go", "reuse/reuse.go", "weirhttp/http.go", "errgroup/group.go"} {
		write(t, dir, name, "package x\n")
	}
	write(t, dir, "lab/results/README.md", "Nothing noted.\n")
	contains(t, fmt.Sprint(lab.Covered(dir)), "of the published results is a.txt of 0123456789ab, b.txt of ba9876543210: run the lab anew")
	hash, err := machine.HotPath(dir)
	check.OK(t, err)
	write(t, dir, "lab/results/README.md", "- `"+hash+"`: only a name has changed.\n")
	check.OK(t, lab.Covered(dir))
}
