package report

import (
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/record"
)

// The settings that a reader looks for first, and their titles. The other settings follow unchanged.
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
	{leftOutKey, ""}, // shown elsewhere on the page
	{InterruptedKey, "Interrupted"},
	{"file", "Raw results"},
}

// InterruptedKey is the key of the setting that says how much of an interrupted run was done.
const InterruptedKey = "interrupted"

const (
	leftOutKey    = "left-out"
	versionPrefix = "version-"
)

// A fact is a setting with a title for readers.
type fact struct{ Title, Value string }

// facts returns the settings: the known ones first, then the versions, then the rest.
func facts(settings []record.Setting) []fact {
	var known, versions, rest []fact
	for _, t := range settingTitles {
		if value := clean(record.Find(settings, t.key)); t.title != "" && value != "" && value != "-" {
			known = append(known, fact{t.title, value})
		}
	}
	for _, s := range settings {
		key, value := clean(s.Key), clean(s.Value)
		if library, ok := strings.CutPrefix(key, versionPrefix); ok {
			versions = append(versions, fact{library, value})
		} else if !slices.ContainsFunc(settingTitles, func(t struct{ key, title string }) bool { return t.key == s.Key }) {
			rest = append(rest, fact{key, value})
		}
	}
	return slices.Concat(known, versions, rest)
}
