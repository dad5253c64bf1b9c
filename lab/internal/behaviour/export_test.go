package behaviour

import (
	"maps"
	"slices"
)

// Perform lets tests plant programs.
var Perform = perform

// ProgramIDs returns what each library has programs for.
func ProgramIDs() map[string][]string {
	ids := make(map[string][]string)
	for library, programs := range byLibrary() {
		ids[library] = slices.Collect(maps.Keys(programs))
	}
	return ids
}
