package report

import (
	"fmt"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
)

// The settings that a reader looks for first, with the words for them. The others
// follow as they are.
var settingTitles = []struct{ key, title string }{
	{"cpu", "Processor"},
	{"cores", "Cores"},
	{"memory", "Memory"},
	{"goos", "System"},
	{"goarch", "Architecture"},
	{"kernel", "Kernel"},
	{"go-version", "Go"},
	{"weir-commit", "Weir's commit"},
	{"date", "Date"},
	{"command", "Command"},
	{"scale", "Scale"},
	{leftOutKey, "Left out"},
	{"file", "Raw results"},
}

const (
	leftOutKey    = "left-out"
	versionPrefix = "version-"
)

// A fact is a setting with a title that people read.
type fact struct{ Title, Value string }

// facts are the settings, the known ones first, then the versions, then the rest.
func facts(settings []record.Setting) []fact {
	var known, versions, rest []fact
	for _, t := range settingTitles {
		if value := clean(record.Find(settings, t.key)); value != "" && value != "-" {
			known = append(known, fact{t.title, value})
		}
	}
	for _, s := range settings {
		key, value := clean(s.Key), clean(s.Value)
		if library, ok := strings.CutPrefix(key, versionPrefix); ok {
			versions = append(versions, fact{library, value})
		} else if !isKnown(s.Key) {
			rest = append(rest, fact{key, value})
		}
	}
	return append(append(known, versions...), rest...)
}

func isKnown(key string) bool {
	for _, t := range settingTitles {
		if t.key == key {
			return true
		}
	}
	return false
}

// rounds says how often each figure was taken: "10", or "3 to 10".
func rounds(tables []record.Table) string {
	low, high := 0, 0
	for _, t := range tables {
		if t.Suite == suiteBehaviour || t.Suite == suiteSurvey && t.Experiment == "feature" {
			continue
		}
		for _, r := range t.Rows {
			for _, c := range r.Cells {
				if low == 0 || c.Rounds < low {
					low = c.Rounds
				}
				high = max(high, c.Rounds)
			}
		}
	}
	if low == high {
		return fmt.Sprint(high)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// origin says in one line where the figures come from.
func origin(file record.File, tables []record.Table) string {
	var parts []string
	add := func(format, key string) {
		if value := clean(file.Setting(key)); value != "" && value != "-" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("%s", "cpu")
	add("%s cores", "cores")
	add("%s", "go-version")
	for _, s := range file.Settings {
		if library, ok := strings.CutPrefix(s.Key, versionPrefix); ok {
			version := clean(s.Value)
			if k := strings.LastIndexByte(version, ' '); k >= 0 {
				version = version[k+1:]
			}
			parts = append(parts, clean(library)+" "+version)
		}
	}
	parts = append(parts, "rounds: "+rounds(tables))
	add("%s", "date")
	add("raw results: %s", "file")
	return strings.Join(parts, ", ")
}
