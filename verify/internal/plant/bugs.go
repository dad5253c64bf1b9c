package plant

import "slices"

// The mistakes of one list go into one build: no two of them touch each other. Mistakes of different lists may.

// LockFree returns those in the packages below internal, for the explorer of interleavings.
func LockFree() []Bug {
	return slices.Concat(Engine(), read("engine_meter", "engine_probe", "engine_expiry", "engine_rate", "engine_lane", "limit", "lane", "feed", "share", "claim"))
}

// Engine returns those of them that are the engine's.
func Engine() []Bug {
	return read("engine_permits", "engine_rings", "engine_submit", "engine_worker", "engine_wait", "engine_control",
		"engine_nested", "engine_return", "engine_tally")
}

// Soak returns those for the soak: those of the engine, and those that show only where much goes on at once.
func Soak() []Bug { return slices.Concat(LockFree(), read("soak")) }

// Faces returns those in the public faces of the engine: pools and groups.
func Faces() []Bug { return read("faces", "faces_groups") }

// Lanes returns those in lanes, Keyed, Pool.Go and Once. Some are also the engine's.
func Lanes() []Bug {
	return slices.Concat(read("faces_lanes", "faces_errands"), only(read("engine_lane"),
		"bid-not-told", "bids-not-gated", "lane-takes-full-pool", "lane-keeps-place",
		"closed-before-lanes", "bid-outlives-lane", "exit-drops-carried", "carrier-stays-idle"))
}

// Later returns those in what happens later: timers, rates, retries, hedged calls.
func Later() []Bug { return read("faces_later") }

// Rates returns those in lanes that share tokens.
func Rates() []Bug { return read("rates") }

// Leaks returns those that keep what the program needs no more.
func Leaks() []Bug { return read("leaks") }

// Peers returns those that the peers' tests find in Weir.
func Peers() []Bug { return read("peers", "peers_pools") }

// Hostile returns those in weirhttp.
func Hostile() []Bug { return read("hostile") }

// History returns those that histories of concurrent calls show. Some are also the engine's.
func History() []Bug {
	return slices.Concat(read("history"), only(read("engine_submit", "engine_control", "engine_worker"),
		"cancelled-drops-grant", "hand-over-overtakes", "resize-does-not-gate", "permit-kept-at-rest"))
}

// Par returns those in package par.
func Par() []Bug { return read("par") }

// Reuse returns those in package reuse.
func Reuse() []Bug { return read("reuse") }

// Places returns those with the places of tasks that wait, and with groups of tasks and results, for whole programs. Some are also the engine's, or the soak's.
func Places() []Bug {
	return slices.Concat(read("places", "programs"), only(read("engine_nested", "engine_return"),
		"lends-to-the-queue", "lent-twice", "all-wait-unseen", "spent-for-good", "subtask-comes-not-back",
		"return-unseen", "future-comes-not-back", "future-return-unseen", "return-behind-stranger"),
		only(read("engine_probe", "engine_lane"), "parked-as-busy", "probe-asks-no-worker", "woken-as-busy", "lane-takes-full-pool"),
		only(read("soak"), "extra-uncounted", "permit-beyond-allowed", "tokens-granted-twice", "repeats-never", "keys-overtake", "expires-early", "value-closed-late"))
}

// Worlds returns those with the places of tasks that worlds find within seconds.
func Worlds() []Bug {
	return only(read("places"), "waits-for-place", "exit-keeps-lent-place", "return-takes-two",
		"nested-limit-lends-nothing", "direct-subtask-enters", "direct-member-stays-taken", "bell-rings-for-worker")
}

// only returns those of bugs that have one of the names.
func only(bugs []Bug, names ...string) []Bug {
	return slices.DeleteFunc(bugs, func(bug Bug) bool { return !slices.Contains(names, bug.Name) })
}

// All returns the mistakes for each method.
func All() [][]Bug {
	return [][]Bug{Soak(), Faces(), Leaks(), Peers(), Hostile(), read("history"), Par(), Reuse(), read("places", "programs"), read("faces_lanes", "faces_errands", "faces_later", "rates")}
}
