package reuse

import "github.com/64ed045f/weir/internal/inside"

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) { inside.Must("reuse", holds, rule, got) }

func mustContext(given bool) { must(given, "context must not be nil", "nil") }

func mustFunction(given bool) { must(given, "function must not be nil", "nil") }
