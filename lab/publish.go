package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/record"
	"github.com/64ed045f/weir/lab/internal/report"
)

// resultsFolder holds the published results, one file for each suite. The path is relative to the root of Weir.
const resultsFolder = "lab/results"

// pages are the documents with tables made from the published results.
var pages = map[string]map[string]func(record.File) string{
	"README.md":           {"features": report.Features, "summary": report.Summary},
	"docs/performance.md": {"performance": report.Performance, "lengths": report.Lengths},
	"docs/behaviour.md":   {"behaviour": report.Behaviour},
	"docs/scale.md":       {"queues": report.Queues},
}

// apartResults names the result files of tables that the lab itself does not measure. Another program
// measured them, perhaps on another machine.
var apartResults = map[string]string{"queues": "lab/durable/results.txt"}

// publish writes the tables of all pages again from the published results.
func publish() error {
	root, err := machine.Root()
	if err != nil {
		return err
	}
	file, err := published(root)
	if err != nil {
		return err
	}
	for page := range pages {
		path := filepath.Join(root, filepath.FromSlash(page))
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := withTables(root, file, page, old)
		if err != nil {
			return err
		}
		if slices.Equal(text, old) {
			continue
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withTables returns the page with its tables made from the published results, which file has.
func withTables(root string, file record.File, page string, text []byte) (_ []byte, err error) {
	for name, table := range pages[page] {
		from := file
		if path, ok := apartResults[name]; ok {
			if from, err = record.ReadFile(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				return nil, err
			}
			from.Settings = append(from.Settings, record.Setting{Key: "file", Value: path})
		}
		made := table(from)
		if made == "" {
			return nil, fmt.Errorf("%s has no results for the table %q", from.Setting("file"), name)
		}
		if text, err = report.Insert(text, name, made); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// hotPathOf begins the name of the setting that says which hot path the results in a file measure. The files
// may measure different hot paths, because no table has rows from two files.
const hotPathOf = machine.HotPathKey + "-of-"

// published returns all published results as one file.
func published(root string) (record.File, error) {
	var all record.File
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(resultsFolder), "*.txt"))
	if err != nil {
		return all, err
	}
	if len(names) == 0 {
		return all, errors.New(resultsFolder + " holds no results")
	}
	// The measurements first: they have the settings that hold for all files.
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, name := range names {
		file, err := record.ReadFile(name)
		if err != nil {
			return all, err
		}
		if file.Setting("scale") != "full" || strings.Contains(file.Setting("weir-commit"), " ") {
			return all, fmt.Errorf("%s: what is published is measured with -full, of a commit without changes", name)
		}
		hash := file.Setting(machine.HotPathKey)
		file.Settings = slices.DeleteFunc(file.Settings, func(s record.Setting) bool { return s.Key == machine.HotPathKey })
		if all, err = join(all, file); err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		all.Settings = append(all.Settings, record.Setting{Key: hotPathOf + filepath.Base(name), Value: hash})
	}
	all.Settings = append(all.Settings, record.Setting{Key: "file", Value: resultsFolder + "/*.txt"})
	return all, nil
}

func rank(name string) int {
	if filepath.Base(name) == "behaviour.txt" {
		return 1
	}
	return 0
}

// join joins the results of two runs. They must come from one machine and one toolchain, and have no
// experiment in common. Otherwise a table would compare figures that were never measured side by side.
// Dates, and versions of the kernel, may differ: no row has figures of two files.
func join(all, file record.File) (record.File, error) {
	if len(all.Results) == 0 {
		return record.File{Settings: slices.Clone(file.Settings), Results: file.Results}, nil
	}
	for _, s := range file.Settings {
		switch other := all.Setting(s.Key); {
		case strings.HasPrefix(s.Key, machine.VersionKey) && other == "":
			// The lab did not know this library when the other results were measured.
			all.Settings = append(all.Settings, s)
		case s.Key == "date" || s.Key == "kernel":
			all.Settings = withValue(all.Settings, s)
		case other != s.Value && !slices.Contains([]string{"command", "weir-commit", "left-out"}, s.Key):
			return all, fmt.Errorf("%s is %q here, and %q in another file", s.Key, s.Value, other)
		}
	}
	known := map[string]bool{}
	for _, r := range all.Results {
		known[name(r.ID)] = true
	}
	for _, r := range file.Results {
		if known[name(r.ID)] {
			return all, fmt.Errorf("%s is in another file too", name(r.ID))
		}
	}
	all.Results = slices.Concat(all.Results, file.Results)
	return all, nil
}

// withValue adds the value of s to those that the settings have under its key.
func withValue(settings []record.Setting, s record.Setting) []record.Setting {
	var values []string
	if old := record.Find(settings, s.Key); old != "" {
		values = strings.Split(old, ", ")
	}
	if slices.Contains(values, s.Value) {
		return settings
	}
	values = append(values, s.Value)
	slices.Sort(values)
	settings = slices.DeleteFunc(settings, func(old record.Setting) bool { return old.Key == s.Key })
	return append(settings, record.Setting{Key: s.Key, Value: strings.Join(values, ", ")})
}

// covered fails unless all published results measured the hot path of the source below root. It also accepts
// a note next to the results which says that the present hot path needs no new results.
func covered(root string) error {
	file, err := published(root)
	if err != nil {
		return err
	}
	now, err := machine.HotPath(root)
	if err != nil {
		return err
	}
	var others []string
	for _, s := range file.Settings {
		if name, ok := strings.CutPrefix(s.Key, hotPathOf); ok && s.Value != now {
			others = append(others, name+" of "+s.Value)
		}
	}
	if len(others) == 0 {
		return nil
	}
	notes, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(resultsFolder), "README.md"))
	if err != nil {
		return err
	}
	if strings.Contains(string(notes), "`"+now+"`") {
		return nil
	}
	return fmt.Errorf("the hot path is now %s, and of the published results is %s: run the lab anew, or say in %s/README.md why not",
		now, strings.Join(others, ", "), resultsFolder)
}
