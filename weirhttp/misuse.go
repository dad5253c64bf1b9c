package weirhttp

import "fmt"

// must panics with what must hold, unless it does.
func must(holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("weirhttp: %s, got %v", rule, got))
	}
}
