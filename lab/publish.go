package main

import (
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
	texts, err := stale(root)
	for path, text := range texts {
		err = errors.Join(err, os.WriteFile(path, text, 0o644))
	}
	return err
}

// stale returns the pages whose tables are not those of the published results, by their paths, with the right tables.
func stale(root string) (map[string][]byte, error) {
	file, err := published(root)
	texts := map[string][]byte{}
	for page := range pages {
		path := filepath.Join(root, filepath.FromSlash(page))
		old, failed := os.ReadFile(path)
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		text, err := withTables(root, file, page, old)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(text, old) {
			texts[path] = text
		}
	}
	return texts, nil
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

// results returns the published results, in the order of the names of their files, and those names.
func results(root string) (files []record.File, names []string, err error) {
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(resultsFolder), "*.txt"))
	if err == nil && len(paths) == 0 {
		err = errors.New(resultsFolder + " holds no results")
	}
	for _, path := range paths {
		file, failed := record.ReadFile(path)
		if failed == nil && (file.Setting("scale") != "full" || strings.Contains(file.Setting("weir-commit"), " ")) {
			failed = fmt.Errorf("%s: what is published is measured with -full, of a commit without changes", path)
		}
		err = errors.Join(err, failed)
		files, names = append(files, file), append(names, filepath.Base(path))
	}
	return files, names, err
}

// published returns all published results as one file.
func published(root string) (all record.File, err error) {
	files, names, err := results(root)
	if err != nil {
		return all, err
	}
	for k, file := range files {
		if all, err = join(all, file); err != nil {
			return all, fmt.Errorf("%s: %w", names[k], err)
		}
	}
	all.Settings = append(all.Settings, record.Setting{Key: "file", Value: resultsFolder + "/*.txt"})
	return all, nil
}

// ownSettings may differ between files. So may dates, and versions of the kernel: no row has figures of two files.
var ownSettings = []string{"command", "weir-commit", "left-out", machine.HotPathKey}

// join joins the results of two runs. They must come from one machine and one toolchain, and have no
// experiment in common. Otherwise a table would compare figures that were never measured side by side.
func join(all, file record.File) (record.File, error) {
	if len(all.Results) == 0 {
		return record.File{Settings: slices.Clone(file.Settings), Results: file.Results}, nil
	}
	for _, s := range file.Settings {
		k := slices.IndexFunc(all.Settings, func(other record.Setting) bool { return other.Key == s.Key })
		switch {
		case slices.Contains(ownSettings, s.Key):
		case k < 0:
			all.Settings = append(all.Settings, s) // such as the version of a library that the lab did not know before
		case s.Key == "date" || s.Key == "kernel":
			values := append(strings.Split(all.Settings[k].Value, ", "), s.Value)
			slices.Sort(values)
			all.Settings[k].Value = strings.Join(slices.Compact(values), ", ")
		case s.Value != all.Settings[k].Value:
			return all, fmt.Errorf("%s is %q here, and %q in another file", s.Key, s.Value, all.Settings[k].Value)
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

// covered fails unless all published results measured the hot path of the source below root. It also accepts
// a note next to the results which says that the present hot path needs no new results.
func covered(root string) error {
	files, names, err := results(root)
	if err != nil {
		return err
	}
	now, err := machine.HotPath(root)
	if err != nil {
		return err
	}
	var others []string
	for k, file := range files {
		if hash := file.Setting(machine.HotPathKey); hash != now {
			others = append(others, names[k]+" of "+hash)
		}
	}
	if len(others) == 0 {
		return nil
	}
	notes, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(resultsFolder), "README.md"))
	if err != nil || strings.Contains(string(notes), "`"+now+"`") {
		return err
	}
	return fmt.Errorf("the hot path is now %s, and of the published results is %s: run the lab anew, or say in %s/README.md why not",
		now, strings.Join(others, ", "), resultsFolder)
}
