package plant

import "slices"

// LockFree returns the mistakes in the packages below internal, for the explorer of interleavings.
func LockFree() []Bug {
	return Read("engine_permits", "engine_rings", "engine_submit", "engine_worker", "engine_wait", "engine_control", "engine_nested", "engine_return",
		"engine_tally", "engine_meter", "engine_probe", "engine_expiry", "engine_rate", "engine_lane", "limit", "lane", "feed", "share", "claim")
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
func All() []Bug {
	return slices.Concat(LockFree(), Read("faces", "faces_errands", "faces_groups", "faces_lanes", "faces_later", "history", "hostile", "leaks", "par",
		"peers", "peers_pools", "places", "programs", "rates", "reuse", "rule", "soak"))
}
