package weir

import "github.com/64ed045f/weir/internal/inside"

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) { inside.Must("weir", holds, rule, got) }

func mustLimit(n int) { must(n >= 1, "limit must be at least 1", n) }

func mustPool(given bool) { must(given, "pool must not be nil", "nil") }

func mustTask(given bool) { must(given, "task must not be nil", "nil") }

func mustContext(given bool) { must(given, "context must not be nil", "nil") }
