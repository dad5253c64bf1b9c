package weirhttp

import "fmt"

// must panics with the rule, unless it holds.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weirhttp: %s, got %v", rule, got))
	}
}
