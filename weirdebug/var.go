package weirdebug

import (
	"encoding/json"

	"github.com/64ed045f/weir"
)

// Var is all pools of the program as a variable of package expvar:
//
//	expvar.Publish("weir", weirdebug.Var{})
//
// This package does not import expvar, which would show the program's command line and memory on [http.DefaultServeMux].
type Var struct{}

// String returns the pools as JSON: a list of at most 500 [Pool] values, in the order in which the pools had
// their first tasks.
func (Var) String() string {
	list := []Pool{}
	for pool := range weir.Pools() {
		if len(list) == maxPools {
			break
		}
		list = append(list, described(pool, pool.Times()))
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "null" // cannot happen: the list has only numbers and strings
	}
	return string(text)
}
