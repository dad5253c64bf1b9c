package plant

import "slices"

// LockFree returns the mistakes in the packages below internal, for the explorer of interleavings.
func LockFree() []Bug {
	return Read("engine_*", "limit", "lane", "feed", "share", "claim", "histogram")
}

// Only returns those of bugs that have one of the names, of which each must be there.
func Only(bugs []Bug, names ...string) (found []Bug) {
	for _, name := range names {
		found = append(found, bugs[slices.IndexFunc(bugs, func(bug Bug) bool { return bug.Name == name })])
	}
	return found
}

// All returns all mistakes. They go into one build, so that the library is compiled once for all proofs: no two of them touch each other.
// A mistake that several methods must find is planted once, and each of them has it by [Only].
func All() []Bug { return Read("*") }
