package peers_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/64ed045f/weir"
)

// cases are tests by the names that the page has for them. Each is called in a bubble, so it may sleep, and must leave no
// goroutine behind.
type cases map[string]func(t *testing.T)

// casesOf has the cases by the name of the peer.
var casesOf = map[string]cases{
	"errgroup":   {}, // tests of the library show all
	"conc":       concCases,
	"ants":       antsCases,
	"pond":       pondCases,
	"workerpool": {"WorkersNeverTimeOut": keepsWorkers(weir.IdleTimeout(math.MaxInt64))},
}

func TestCases(t *testing.T) {
	for _, peer := range slices.Sorted(maps.Keys(casesOf)) {
		t.Run(peer, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(casesOf[peer])) {
				t.Run(name, func(t *testing.T) { synctest.Test(t, casesOf[peer][name]) })
			}
		})
	}
}
