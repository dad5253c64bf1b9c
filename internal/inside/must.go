package inside

import "fmt"

// Must panics with the rule of a package, unless the rule holds.
func Must(pkg string, holds bool, rule string, got any) {
	if !holds {
		panic(fmt.Sprintf("%s: %s, got %v", pkg, rule, got))
	}
}
