// Package record keeps measurements in Go's benchmark format, so that benchstat can read them, and sums up
// the measurements of several rounds.
package record

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Result is one measurement: of one peer, in one experiment, in one round.
type Result struct {
	ID     ID
	N      int       // how often the operation ran
	Values []Value   // what was measured
	Notes  []Setting // results of this measurement that are not numbers, such as a verdict and its reason
}

// Add adds a value.
func (r *Result) Add(unit string, value float64) {
	r.Values = append(r.Values, Value{unit, value})
}

// Value returns the value of that unit. If there is none it returns NaN, which is neither less nor more than anything.
func (r Result) Value(unit string) float64 {
	for _, v := range r.Values {
		if v.Unit == unit {
			return v.Value
		}
	}
	return math.NaN()
}

// An ID identifies a measurement. Its text is the name of a benchmark:
// "Dispatch/empty/limit=64/producers=1/peer=ants-2".
type ID struct {
	Suite      string    // "dispatch"
	Experiment string    // "empty"
	Params     []Setting // in the order of the name, without peer and GOMAXPROCS
	Peer       string    // "ants.func"
	Procs      int       // GOMAXPROCS
}

// A Setting is a key and its value.
type Setting struct{ Key, Value string }

// A Value is one figure of a measurement. Units are those of Go's benchmarks, "ns/op", "B/op", "allocs/op",
// or similar: "peak-B", "peak-goroutines", "p99-ns".
type Value struct {
	Unit  string
	Value float64
}

// A Curve is a course over time: pairs of seconds and a value.
type Curve [][2]float64

// String returns the text of a note, such as "0.500:12 1.500:13".
func (c Curve) String() string {
	var points []string
	for _, p := range c {
		points = append(points, fmt.Sprintf("%.3f:%.0f", p[0], p[1]))
	}
	return strings.Join(points, " ")
}

// ParseCurve is the inverse of [Curve.String]. It leaves out what is no point.
func ParseCurve(text string) (c Curve) {
	for word := range strings.FieldsSeq(text) {
		var p [2]float64
		if _, err := fmt.Sscanf(word, "%g:%g", &p[0], &p[1]); err == nil && p[0] >= 0 && p[1] >= 0 && max(p[0], p[1]) < 1e15 {
			c = append(c, p)
		}
	}
	return c
}

// A File has the measurements of one run.
type File struct {
	Settings []Setting // the machine, the versions, the command
	Results  []Result
}

// Setting returns the value of the file's setting of that name, or "".
func (f File) Setting(key string) string { return Find(f.Settings, key) }

// Find returns the value of the setting of that name, or "".
func Find(settings []Setting, key string) string {
	for _, s := range settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Is reports whether the table is of an experiment, and has parameters, that at names in the form of [ID.Setting].
// Other parameters of the table do not matter.
func (t Table) Is(at string) bool {
	parts := strings.Split(at, "/")
	return t.Suite == parts[0] && t.Experiment == parts[1] && !slices.ContainsFunc(parts[2:], func(param string) bool {
		key, value, _ := strings.Cut(param, "=")
		return Find(t.Params, key) != value
	})
}

const peerKey = "peer"

// Setting returns the ID's text without the peer and GOMAXPROCS: "dispatch/empty/limit=64/producers=1".
func (id ID) Setting() string {
	var b strings.Builder
	b.WriteString(id.Suite + "/" + id.Experiment)
	for _, p := range id.Params {
		b.WriteString("/" + p.Key + "=" + p.Value)
	}
	return b.String()
}

// String returns the benchmark's name, without "Benchmark".
func (id ID) String() string {
	name := []rune(id.Setting() + "/" + peerKey + "=" + id.Peer + "-" + strconv.Itoa(id.Procs))
	name[0] = unicode.ToUpper(name[0])
	return string(name)
}

// ParseID is the inverse of [ID.String].
func ParseID(name string) (ID, error) {
	wrong := fmt.Errorf("%q is no name of a measurement", name)
	dash := max(strings.LastIndexByte(name, '-'), 0)
	procs, err := strconv.Atoi(strings.TrimPrefix(name[dash:], "-"))
	parts := strings.Split(name[:dash], "/")
	if err != nil || len(parts) < 3 || slices.Contains(parts, "") {
		return ID{}, wrong
	}
	first := []rune(parts[0])
	first[0] = unicode.ToLower(first[0])
	id := ID{Suite: string(first), Experiment: parts[1], Procs: procs}
	for _, part := range parts[2:] {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case !ok || id.Peer != "":
			return ID{}, wrong
		case key == peerKey:
			id.Peer = value
		default:
			id.Params = append(id.Params, Setting{key, value})
		}
	}
	if id.Peer == "" {
		return ID{}, wrong
	}
	return id, nil
}

// failedUnit is the unit of a result without figures: the format requires a value in each result.
const failedUnit = "failed"

// FailedNote is the key of the note that says why a measurement failed.
const FailedNote = "failed"

// Failed returns the result of a measurement that failed.
func Failed(id ID, reason string) Result {
	return Result{ID: id, N: 1, Values: []Value{{failedUnit, 1}}, Notes: []Setting{{FailedNote, reason}}}
}
