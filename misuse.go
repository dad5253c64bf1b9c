package weir

import "github.com/64ed045f/weir/internal/inside"

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) { inside.Must("weir", holds, rule, got) }

// mustLimit converts n to any only if it is wrong: the conversion may allocate.
func mustLimit(n int) {
	if n < 1 {
		must(false, "limit must be at least 1", n)
	}
}

func mustPool(given bool) {
	if !given {
		missing("pool")
	}
}

func mustTask(given bool) {
	if !given {
		missing("task")
	}
}

func mustContext(given bool) {
	if !given {
		missing("context")
	}
}

// missing is not inlined, so that its callers can be: each submission saves a call.
//
//go:noinline
func missing(what string) { must(false, what+" must not be nil", "nil") }
