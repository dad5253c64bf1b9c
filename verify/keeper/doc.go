// Package keeper drives a [github.com/64ed045f/weir/reuse.Keeper] by drawn steps, in a bubble of
// fake time, and keeps books on each of its objects.
//
// The functions of the keeper take their time, fail, panic and exit as they are told beforehand,
// and note what happens to whom. So at any moment at which all goroutines are blocked it is known
// of each object what is done with it, and the promises of the keeper can be looked up in the
// books: never more objects than the capacity, users served in order, nothing idle or missing
// while somebody waits, no object used by two, or leased when it is stale, sick or of an
// earlier era, none that outlives its times, every error and panic told to the one user
// whom it concerns, and Stats that are right to the last count.
//
//	go test ./keeper                               1000 programs
//	go test ./keeper -rapid.checks=100000          more of them
//	go test ./keeper -run '^$' -fuzz FuzzKeeper    what the fuzzer makes of them
package keeper
