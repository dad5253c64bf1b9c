package weir

import "fmt"

// must panics with what must hold, unless it does.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weir: %s, got %v", rule, got))
	}
}

func mustLimit(n int) { must(n >= 1, "limit must be at least 1", n) }

func mustPool(given bool) { must(given, "pool must not be nil", "nil") }

func mustTask(given bool) { must(given, "task must not be nil", "nil") }

func mustContext(given bool) { must(given, "context must not be nil", "nil") }
