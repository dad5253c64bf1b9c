package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// The format has settings, which hold until they change, and results. A note of one result is a setting that
// the next result removes. The key of a note begins with:
const notePrefix = "note-"

// A Writer writes measurements one by one, so that each is kept whatever happens next.
type Writer struct {
	to       *benchfmt.Writer
	settings []Setting
}

// NewWriter returns a writer of the results of one run.
func NewWriter(w io.Writer, settings []Setting) *Writer {
	return &Writer{to: benchfmt.NewWriter(w), settings: settings}
}

// Write writes one result.
func (w *Writer) Write(r Result) error {
	line := &benchfmt.Result{Name: benchfmt.Name(r.ID.String()), Iters: max(r.N, 1)}
	for _, s := range w.settings {
		line.Config = append(line.Config, config(s.Key, s.Value))
	}
	for _, s := range r.Notes {
		line.Config = append(line.Config, config(notePrefix+s.Key, s.Value))
	}
	for _, v := range r.Values {
		line.Values = append(line.Values, benchfmt.Value{Value: v.Value, Unit: v.Unit})
	}
	if len(r.Values) == 0 {
		return fmt.Errorf("%s: the format knows no result without a value", r.ID)
	}
	return w.to.Write(line)
}

func config(key, value string) benchfmt.Config {
	// A setting is one line, and an empty value would remove the setting.
	value = cmp.Or(strings.Join(strings.Fields(value), " "), "-")
	return benchfmt.Config{Key: key, Value: []byte(value), File: true}
}

// Write writes all measurements of a run.
func Write(w io.Writer, f File) error {
	to := NewWriter(w, f.Settings)
	for _, r := range f.Results {
		if err := to.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the output of Write. It returns an error for a line that begins like a measurement and is not one of
// the lab's. It also refuses results of two runs: figures of different machines or versions must not be compared.
func Read(r io.Reader, name string) (File, error) {
	var f File
	from := benchfmt.NewReader(r, name)
	for from.Scan() {
		switch line := from.Result().(type) {
		case *benchfmt.Result:
			result, settings, err := parse(line)
			if err != nil {
				return f, fmt.Errorf("%s: %w", name, err)
			}
			if len(f.Results) == 0 {
				f.Settings = settings
			} else if !slices.Equal(f.Settings, settings) {
				return f, fmt.Errorf("%s: %w", name, errTwoRuns)
			}
			f.Results = append(f.Results, result)
		case *benchfmt.SyntaxError:
			return f, line
		}
	}
	if err := from.Err(); err != nil {
		return f, err
	}
	if len(f.Results) == 0 {
		return f, fmt.Errorf("%s: %w", name, errEmpty)
	}
	return f, nil
}

// ReadFile reads the file of that name, as [Read] does.
func ReadFile(name string) (File, error) {
	raw, err := os.Open(name)
	if err != nil {
		return File{}, err
	}
	defer raw.Close()
	return Read(raw, name)
}

var (
	errEmpty   = errors.New("no measurement in it")
	errTwoRuns = errors.New("the settings change: a file holds one run")
)

func parse(line *benchfmt.Result) (Result, []Setting, error) {
	var settings []Setting
	r := Result{N: line.Iters}
	for _, c := range line.Config {
		key, value := c.Key, string(c.Value)
		if note, ok := strings.CutPrefix(key, notePrefix); ok {
			r.Notes = append(r.Notes, Setting{note, value})
		} else if c.File {
			settings = append(settings, Setting{key, value})
		}
	}
	for _, v := range line.Values {
		if v.OrigUnit != "" {
			v.Value, v.Unit = v.OrigValue, v.OrigUnit
		}
		r.Values = append(r.Values, Value{v.Unit, v.Value})
	}
	var err error
	r.ID, err = ParseID(line.Name.String())
	return r, settings, err
}
