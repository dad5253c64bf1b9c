package plant

import "slices"

// The mistakes that one method must find go into one build, and no two of them touch each other. Mistakes
// for different methods may.

// LockFree returns those in the packages below internal, for the explorer of interleavings.
func LockFree() []Bug { return slices.Concat(engine, limits, lanes, feeds, shares, claims) }

// Engine returns those of them that are the engine's, for the soak.
func Engine() []Bug { return slices.Clone(engine) }

// Faces returns those in the public faces of the engine: pools, groups, results.
func Faces() []Bug { return slices.Concat(faces, facesGroups) }

// Leaks returns those that keep what the program needs no more.
func Leaks() []Bug { return leaks }

// Peers returns those that the peers' tests find in Weir.
func Peers() []Bug { return slices.Concat(peers, peersPools) }

// Hostile returns those in weirhttp.
func Hostile() []Bug { return hostile }

// History returns those that histories of concurrent calls show.
func History() []Bug { return history }

// Par returns those in package par.
func Par() []Bug { return par }

// Reuse returns those in package reuse.
func Reuse() []Bug { return reuse }

// All returns the mistakes for each method.
func All() [][]Bug {
	return [][]Bug{LockFree(), Faces(), Leaks(), Peers(), Hostile(), History(), Par(), Reuse(), places}
}
