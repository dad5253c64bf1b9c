// Package peers holds docs/peers.md to what it says: the page answers the public tests of other pools, behaviour by
// behaviour, each with tests that show what Weir does in its place.
//
// Most of those are the library's own. The others stand in the test files of this package, by the names that the page
// has for them, and run as TestCases/peer/name, each in a bubble of its own:
//
//	go test ./peers -run TestCases/conc
//
// After a change of the page give -count=1: the go command does not know that these tests read it.
//
// Where Weir decides otherwise on purpose, the page says what happens instead, and why. It has no behaviour without a test,
// and names no test that does not exist.
//
// The folder testdata has the names of the peers' tests and examples. A test fails when one of
// those is not on the page, and, where the module cache has the peer in the version that the lab compares with, when
// the names are not its own. Then this writes them anew:
//
//	go test ./peers -update
package peers
