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

// resultsFolder holds the published results, one file for each suite, below the
// root of Weir.
const resultsFolder = "lab/results"

// pages are the documents with tables that are made of the published results.
var pages = map[string]map[string]func(record.File) string{
	"README.md":           {"features": report.Features, "summary": report.Summary},
	"docs/performance.md": {"performance": report.Performance},
	"docs/behaviour.md":   {"behaviour": report.Behaviour},
	"docs/scale.md":       {"queues": report.Queues},
}

// apartResults are the files of the tables that are not of the lab's own results: of another program, and perhaps of another machine.
var apartResults = map[string]string{"queues": "lab/durable/results.txt"}

// publish writes the tables of all pages anew from the published results.
func publish() error {
	root, err := machine.Root()
	if err != nil {
		return err
	}
	for page := range pages {
		path := filepath.Join(root, filepath.FromSlash(page))
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := withTables(root, page, old)
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

// withTables is the page with the tables that the published results make.
func withTables(root, page string, text []byte) ([]byte, error) {
	file, err := published(root)
	if err != nil {
		return nil, err
	}
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

// hotPathOf begins the setting that says which hot path the results in a file measure. It
// may be another for each: no table has rows from two files.
const hotPathOf = machine.HotPathKey + "-of-"

// published is all published results as one.
func published(root string) (record.File, error) {
	var all record.File
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(resultsFolder), "*.txt"))
	if err != nil {
		return all, err
	}
	if len(names) == 0 {
		return all, errors.New(resultsFolder + " holds no results")
	}
	// The measurements first: they say what all have in common.
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

// join puts the results of two runs together. They must come from one machine and one
// toolchain, and have no experiment in common, or a table would compare what was never
// measured side by side. Dates, and versions of the kernel, may differ: no row has figures of two files.
func join(all, file record.File) (record.File, error) {
	if len(all.Results) == 0 {
		return record.File{Settings: slices.Clone(file.Settings), Results: file.Results}, nil
	}
	for _, s := range file.Settings {
		if strings.HasPrefix(s.Key, machine.VersionKey) && all.Setting(s.Key) == "" {
			// The lab had no such library when all else was measured.
			all.Settings = append(all.Settings, s)
			continue
		}
		if s.Key == "date" || s.Key == "kernel" {
			all.Settings = withValue(all.Settings, s)
			continue
		}
		mayDiffer := slices.Contains([]string{"command", "weir-commit", "left-out"}, s.Key)
		if !mayDiffer && all.Setting(s.Key) != s.Value {
			return all, fmt.Errorf("%s is %q here, and %q in another file", s.Key, s.Value, all.Setting(s.Key))
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

// covered says whether all published results measured the hot path of the source below root, or
// whether a note next to the results says that it changed without need of new ones.
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
