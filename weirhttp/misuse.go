package weirhttp

import "github.com/64ed045f/weir/internal/inside"

// must panics with a rule of this package, unless it holds.
func must(holds bool, rule string, got any) { inside.Must("weirhttp", holds, rule, got) }
