package record

import (
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
)

const confidence = 0.95

const (
	// testedRounds is the fewest rounds with which the U-test can tell samples apart.
	testedRounds = 4
	// exactRounds is the fewest rounds after which a figure that never varied counts as exact.
	exactRounds = 3
)

// A Cell is a figure summed up over the rounds. It has the median, and the interval in which the true median
// lies with 95 % confidence. Too few rounds give an interval without ends: Low and High are then infinite.
type Cell struct {
	Center, Low, High float64
	Rounds            int
	sample            *benchmath.Sample
}

// Differs reports whether two figures differ by more than chance explains. It uses the Mann-Whitney U-test
// with alpha 0.05, which assumes nothing about the distribution. Figures that are the same in each round
// differ if their values do. known is false if there are too few rounds.
func (c Cell) Differs(other Cell) (differs, known bool) {
	rounds := min(c.Rounds, other.Rounds)
	switch {
	case rounds >= exactRounds && c.constant() && other.constant():
		return c.Center != other.Center, true
	case rounds < testedRounds || slices.ContainsFunc(slices.Concat(c.sample.Values, other.sample.Values), math.IsNaN):
		return false, false
	}
	test := benchmath.AssumeNothing.Compare(c.sample, other.sample)
	return test.P <= test.Alpha, true
}

// constant reports whether the figure was the same in each round.
func (c Cell) constant() bool { return c.sample.Values[0] == c.sample.Values[c.Rounds-1] }

// A Row is one peer of a table.
type Row struct {
	Peer  string
	Cells map[string]Cell // by unit; none if the last measurement failed
	Notes []Setting       // notes of the last result; a failed one has FailedNote

	values map[string][]float64 // by unit, one for each round
}

// ProcsKey is the name of GOMAXPROCS among the parameters of a table.
const ProcsKey = "GOMAXPROCS"

// A Table is one experiment with one setting: its peers side by side.
type Table struct {
	name              string // name of the experiment, with its parameters
	Suite, Experiment string
	Params            []Setting // with GOMAXPROCS, the last
	Procs             int
	Units             []string // in the order of measurement; ratios are of the first unit
	Rows              []Row    // in the order of the first measurement
}

// Row returns the row of a peer; one without figures if there is none.
func (t Table) Row(peer string) Row {
	for _, r := range t.Rows {
		if r.Peer == peer {
			return r
		}
	}
	return Row{}
}

// Param returns the value of a parameter, or "".
func (t Table) Param(key string) string { return Find(t.Params, key) }

// Tables sums up the results, in the order of their first measurement.
func Tables(results []Result) []Table {
	var tables []Table
	for _, r := range results {
		name := r.ID.Setting()
		k := slices.IndexFunc(tables, func(t Table) bool { return t.name == name && t.Procs == r.ID.Procs })
		if k < 0 {
			k = len(tables)
			params := append(slices.Clone(r.ID.Params), Setting{ProcsKey, strconv.Itoa(r.ID.Procs)})
			tables = append(tables, Table{name: name, Suite: r.ID.Suite, Experiment: r.ID.Experiment, Params: params, Procs: r.ID.Procs})
		}
		t := &tables[k]
		at := slices.IndexFunc(t.Rows, func(row Row) bool { return row.Peer == r.ID.Peer })
		if at < 0 {
			at = len(t.Rows)
			t.Rows = append(t.Rows, Row{Peer: r.ID.Peer, Cells: map[string]Cell{}, values: map[string][]float64{}})
		}
		row := &t.Rows[at]
		row.Notes = r.Notes
		for _, v := range r.Values {
			if v.Unit == failedUnit {
				continue
			}
			row.values[v.Unit] = append(row.values[v.Unit], v.Value)
			if !slices.Contains(t.Units, v.Unit) {
				t.Units = append(t.Units, v.Unit)
			}
		}
	}
	for _, t := range tables {
		for _, row := range t.Rows {
			if Find(row.Notes, FailedNote) != "" {
				continue // what it did before it failed is no figure to compete with
			}
			for unit, values := range row.values {
				row.Cells[unit] = Summarize(values)
			}
		}
	}
	return tables
}

// Summarize returns the median and its interval.
func Summarize(values []float64) Cell {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, confidence)
	return Cell{Center: s.Center, Low: s.Lo, High: s.Hi, Rounds: len(values), sample: sample}
}
