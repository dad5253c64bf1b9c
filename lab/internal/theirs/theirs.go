// Package theirs has figures that the documents publish, for display next to ours. They were measured years
// ago, on other machines, by other programs, so only their ratios can be compared.
package theirs

import (
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
)

// A Figure is one row of a table that a document publishes.
type Figure struct {
	Document string // "003"
	Machine  string // "laptop, 8 GB"

	// Suite, Experiment and Params say next to which table of ours the figure is shown. Params must be equal;
	// other parameters of the table do not matter.
	Suite, Experiment string
	Params            []record.Setting

	// Cores is how many cores the document used; 0 if it does not say. A figure of one core is shown next to
	// ours of one core, any other next to ours of several cores.
	Cores int

	Peer   string // the document's name for it: "plain goroutines", "ants, one function"
	Values []record.Value
}

// Stands reports whether the figure belongs to the table.
func (f Figure) Stands(t record.Table) bool {
	if f.Suite != t.Suite || f.Experiment != t.Experiment || (f.Cores == 1) != (t.Procs == 1) {
		return false
	}
	for _, p := range f.Params {
		if record.Find(t.Params, p.Key) != p.Value {
			return false
		}
	}
	return true
}

const (
	mb    = 1e6
	plain = "plain goroutines"

	laptop  = "laptop of 2018, 2.7 GHz Core i5, 8 GB"
	m1      = "Apple M1"
	virtual = "virtual machine"
	server  = "machine not named"
)

// All returns the figures, document by document.
func All() []Figure {
	var list []Figure
	// A value of 0 means that the document does not give it.
	add := func(f Figure, units string, values ...float64) {
		for k, unit := range strings.Fields(units) {
			if values[k] != 0 {
				f.Values = append(f.Values, record.Value{Unit: unit, Value: values[k]})
			}
		}
		list = append(list, f)
	}

	for _, f := range []struct {
		peer                 string
		ns, bytes, allocs    float64
		goroutines, resident float64
		experiment, tasks    string
	}{
		{plain, 1.64e9, 0, 0, 0, 130 * mb, "sleep", "1000000"},
		{"ants", 1.46e9, 0, 0, 48_396, 53 * mb, "sleep", "1000000"},
		{plain, 47.42e9, 0, 0, 0, 1442 * mb, "sleep", "10000000"},
		{"ants", 24.11e9, 0, 0, 716_797, 684 * mb, "sleep", "10000000"},
		{plain + ", one function", 45.359e9, 1443.93 * mb, 11_725_197, 0, 0, "sleep", "10000000"},
		{"ants, one function", 15.677e9, 40.79 * mb, 261_302, 50_000, 0, "sleep", "10000000"},
		{plain, 310.3e6, 31.12 * mb, 147_390, 0, 0, "throughput", "100000"},
		{plain + ", second run", 236.2e6, 38.26 * mb, 168_555, 0, 0, "throughput", "100000"},
		{"ants", 152.3e6, 3.68 * mb, 0, 0, 0, "throughput", "100000"},
		{plain, 6.596e9, 537.98 * mb, 2_004_769, 0, 0, "throughput", "1000000"},
		{"ants", 1.598e9, 37.95 * mb, 0, 0, 0, "throughput", "1000000"},
	} {
		tasks := []record.Setting{{Key: "tasks", Value: f.tasks}}
		add(Figure{Document: "003", Machine: laptop, Suite: "seeds", Experiment: f.experiment, Params: tasks, Peer: f.peer},
			"ns/op B/op allocs/op peak-goroutines peak-B", f.ns, f.bytes, f.allocs, f.goroutines, f.resident)
	}

	for _, f := range []struct {
		machine   string
		cores     int
		peer      string
		ns, bytes float64
	}{
		{m1, 8, plain, 0.5e9, 96 * mb},
		{m1, 8, "errgroup", 0.85e9, 104 * mb},
		{m1, 8, "ants", 0.85e9, 17 * mb},
		{m1, 8, "conc", 1.1e9, 6 * mb},
		{m1, 1, plain, 1.3e9, 108 * mb},
		{m1, 1, "errgroup", 1.4e9, 104 * mb},
		{m1, 1, "ants", 1.5e9, 32 * mb},
		{m1, 1, "conc", 1.3e9, 10 * mb},
		{virtual, 2, plain, 2.1e9, 108 * mb},
		{virtual, 2, "errgroup", 2.2e9, 104 * mb},
		{virtual, 2, "ants", 2e9, 22 * mb},
		{virtual, 2, "conc", 2.5e9, 10 * mb},
		{virtual, 1, plain, 3.4e9, 108 * mb},
		{virtual, 1, "errgroup", 3.6e9, 104 * mb},
		{virtual, 1, "ants", 4.6e9, 32 * mb},
		{virtual, 1, "conc", 3.9e9, 10 * mb},
	} {
		add(Figure{Document: "004", Machine: f.machine, Suite: "survey", Experiment: "sleep", Cores: f.cores, Peer: f.peer},
			"ns/op B/op", f.ns, f.bytes)
	}

	for _, f := range []struct {
		experiment, peer  string
		ns, bytes, allocs float64
		latency           float64
	}{
		{"context", "new", 285, 1024, 1, 0},
		{"context", "sync.Pool", 96, 0.082, 78e-6, 0},
		{"buffer", "new, a service", 1e9 / 120_000, 0, 0, 85e3},
		{"buffer", "sync.Pool, a service", 1e9 / 260_000, 0, 0, 38e3},
	} {
		add(Figure{Document: "002", Machine: server, Suite: "reuse", Experiment: f.experiment, Peer: f.peer},
			"ns/op B/op allocs/op mean-ns", f.ns, f.bytes, f.allocs, f.latency)
	}
	return list
}
