package reuse

import "fmt"

// must panics with the rule, unless it holds.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("reuse: %s, got %v", rule, got))
	}
}

func mustContext(given bool) { must(given, "context must not be nil", "nil") }

func mustFunction(given bool) { must(given, "function must not be nil", "nil") }
