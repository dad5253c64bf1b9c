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

// All returns all mistakes. Those of one list go into one build: no two of them touch each other. Mistakes of different lists may.
func All() [][]Bug {
	return [][]Bug{
		slices.Concat(LockFree(), Read("soak")), Read("faces", "faces_groups"), Read("leaks"), Read("peers", "peers_pools"), Read("hostile"),
		Read("history"), Read("par"), Read("reuse"), Read("rule"), Read("places", "programs"), Read("faces_lanes", "faces_errands", "faces_later", "rates"),
	}
}
