package plant

import "slices"

// Bugs returns all of them: first those of the engine.
func Bugs() []Bug { return slices.Concat(engine, leaks, Peers(), hostile) }

// Leaks returns those that keep what nobody needs.
func Leaks() []Bug { return leaks }

// Hostile returns those in weirhttp.
func Hostile() []Bug { return hostile }
