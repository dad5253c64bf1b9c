package weir

import "github.com/64ed045f/weir/internal/inside"

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) { inside.Must("weir", holds, rule, got) }

// mustLimit makes no any of n unless it is wrong.
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

// missing is not a part of those that call it, which so are parts of their callers: each submission saves a call.
//
//go:noinline
func missing(what string) { must(false, what+" must not be nil", "nil") }
