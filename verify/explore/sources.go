package explore

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/64ed045f/weir/verify/internal/plant"
)

const (
	// Package is what is explored.
	Package      = "github.com/64ed045f/weir/internal/engine"
	engineFolder = "internal/engine"
	modeFile     = "internal/step/mode.go"
)

// small are changes that bring what happens in large queues into the reach of few steps.
var small = []struct{ file, old, new string }{
	{"internal/engine/queue.go", "firstRing   = 32", "firstRing   = 1"},
	{"internal/engine/queue.go", "growth      = 4", "growth      = 2"},
	{"internal/engine/queue.go", "largestRing = 4096", "largestRing = 4"},
}

// Sources returns the texts of a test binary of the engine whose operations are steps: by
// name from the root, with bugs planted.
func Sources(bugs []plant.Bug) (map[string]string, error) {
	sources, err := plant.Sources(bugs)
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(plant.Root(), filepath.FromSlash(engineFolder), "*.go"))
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, file := range names {
		base := filepath.Base(file)
		if strings.HasSuffix(base, "_test.go") && base != "export_test.go" && !strings.HasPrefix(base, "interleave_") {
			continue
		}
		name := path.Join(engineFolder, base)
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
		if n := strings.Count(texts[change.file], change.old); n != 1 {
			return nil, fmt.Errorf("%q stands %d times in %s, not once", change.old, n, change.file)
		}
		texts[change.file] = strings.Replace(texts[change.file], change.old, change.new, 1)
	}
	texts, err = Rewrite(texts)
	if err != nil {
		return nil, err
	}
	maps.Copy(sources, texts)
	mode, err := os.ReadFile(filepath.Join(plant.Root(), filepath.FromSlash(modeFile)))
	if err != nil {
		return nil, err
	}
	sources[modeFile] = strings.Replace(string(mode), "Controlled = false", "Controlled = true", 1)
	return sources, nil
}
