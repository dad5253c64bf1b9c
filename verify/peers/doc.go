// Package peers answers the public tests of other pools: what each of them pins, in our
// words, and tests that show what Weir does in its place.
//
// A [Case] is one such behaviour. All cases stand in the test files of this package. Where the library's own
// tests show what Weir does, the case names them: it is a row of a table. The others have
// code here, and run as TestCases/peer/name, each in a bubble of its own:
//
//	go test ./peers -run TestCases/conc
//
// Where Weir decides otherwise on purpose, the case says what happens instead, and why. There is no case without a test,
// and none names a test that does not exist.
//
// The folder testdata has the names of the peers' tests and examples. A test fails when one of
// those has neither a case nor a reason why it needs none, and, where the module cache
// has the peer in the version that the lab compares with, when the names are not its own.
//
// The page docs/peers.md is written from the same cases:
//
//	go test ./peers -update
package peers
