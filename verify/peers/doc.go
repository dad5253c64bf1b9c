// Package peers verifies docs/peers.md. The page answers the public tests of other pools, behaviour by
// behaviour, and names for each the tests that show what Weir does instead.
//
// Most of these tests are the library's own. The others are in the test files of this package, under the
// names that the page has for them. They run as TestCases/peer/name, each in a bubble of its own:
//
//	go test ./peers -run TestCases/conc
//
// After a change of the page, add -count=1: the go command does not know that these tests read it.
//
// Where Weir decides otherwise on purpose, the page says what happens instead, and why. The page has no
// behaviour without a test, and names no test that does not exist.
//
// The folder testdata has the names of the peers' tests and examples. A test fails if one of these names is
// not on the page. If the module cache has the peer in the version that the lab compares with, the test also
// fails if the names differ from those in the peer's source. This command then writes them again:
//
//	go test ./peers -update
package peers
