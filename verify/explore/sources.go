package explore

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/64ed045f/weir/verify/internal/plant"
)

const (
	library  = "github.com/64ed045f/weir/"
	modeFile = "internal/step/mode.go"
)

// small are changes that bring what happens in large queues into the reach of few steps.
var small = []struct{ file, old, new string }{
	{"internal/engine/queue.go", "firstRing   = 32", "firstRing   = 1"},
	{"internal/engine/queue.go", "growth      = 4", "growth      = 2"},
	{"internal/engine/queue.go", "largestRing = 4096", "largestRing = 4"},
	{"internal/lane/lane.go", "before = 16", "before = 1"},
	{"internal/lane/lane.go", "many = 4", "many = 2"},
	{"internal/lane/ring.go", "firstRing = 16", "firstRing = 2"},
	{"internal/lane/ring.go", "growth    = 4", "growth    = 2"},
	{"internal/lane/ring.go", "keptRing  = 1024", "keptRing  = 2"},
	{"internal/share/share.go", "divisor = 8", "divisor = 2"},
}

// Part is a package that is explored, by its folder from the root.
type Part string

// Parts returns every package that has scenes.
func Parts() ([]Part, error) {
	scenes, err := filepath.Glob(filepath.Join(plant.Root(), "internal", "*", "interleave_test.go"))
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, file := range scenes {
		parts = append(parts, Part(path.Join("internal", filepath.Base(filepath.Dir(file)))))
	}
	return parts, nil
}

// Package is the import path.
func (p Part) Package() string { return library + string(p) }

// Has reports whether a file with scenes of the package has the text.
func (p Part) Has(text string) (bool, error) {
	files, err := p.files()
	if err != nil {
		return false, err
	}
	for _, file := range files {
		read, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		if isScenes(file) && strings.Contains(string(read), text) {
			return true, nil
		}
	}
	return false, nil
}

// files returns the files that are explored.
func (p Part) files() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(plant.Root(), filepath.FromSlash(string(p)), "*.go"))
	return slices.DeleteFunc(files, func(file string) bool {
		return strings.HasSuffix(file, "_test.go") && filepath.Base(file) != "export_test.go" && !isScenes(file)
	}), err
}

func isScenes(file string) bool { return strings.HasPrefix(filepath.Base(file), "interleave_") }

// Bugs returns the bugs that are planted for the package.
func (p Part) Bugs() []plant.Bug {
	return slices.DeleteFunc(plant.LockFree(), func(b plant.Bug) bool { return Home(b) != p })
}

// Home returns the package whose scenes show a bug.
func Home(b plant.Bug) Part {
	folder := path.Dir(b.Edits[0].File)
	if folder == "internal/fifo" { // which has no scenes: others use its lists under their locks
		folder = "internal/engine"
	}
	return Part(folder)
}

// Sources returns the texts of a test binary of the package whose operations are steps, as are those of the other
// packages with scenes, which it may import: by name from the root, with bugs planted.
func (p Part) Sources(bugs []plant.Bug) (map[string]string, error) {
	sources, err := plant.Sources(bugs)
	if err != nil {
		return nil, err
	}
	parts, err := Parts()
	if err != nil {
		return nil, err
	}
	for _, other := range parts {
		texts, err := other.rewritten(sources, other == p)
		if err != nil {
			return nil, err
		}
		maps.Copy(sources, texts)
	}
	mode, err := os.ReadFile(filepath.Join(plant.Root(), filepath.FromSlash(modeFile)))
	if err != nil {
		return nil, err
	}
	sources[modeFile] = strings.Replace(string(mode), "Controlled = false", "Controlled = true", 1)
	return sources, nil
}

// rewritten returns the files of the package, with or without its scenes, as they are in sources, or else in the tree.
func (p Part) rewritten(sources map[string]string, scenes bool) (map[string]string, error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, file := range files {
		if !scenes && strings.HasSuffix(file, "_test.go") {
			continue
		}
		name := path.Join(string(p), filepath.Base(file))
		text, ok := sources[name]
		if !ok {
			read, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			text = string(read)
		}
		texts[name] = text
	}
	for _, change := range small {
		if path.Dir(change.file) != string(p) {
			continue
		}
		if n := strings.Count(texts[change.file], change.old); n != 1 {
			return nil, fmt.Errorf("%q stands %d times in %s, not once", change.old, n, change.file)
		}
		texts[change.file] = strings.Replace(texts[change.file], change.old, change.new, 1)
	}
	return Rewrite(texts)
}
