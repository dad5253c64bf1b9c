package behaviour

import (
	"maps"
	"slices"
)

// ProgramIDs returns what each library has programs for.
func ProgramIDs() map[string][]string {
	ids := make(map[string][]string)
	for _, l := range libraries {
		ids[l.name] = slices.Collect(maps.Keys(l.programs()))
	}
	return ids
}
