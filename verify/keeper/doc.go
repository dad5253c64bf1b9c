// Package keeper drives a [github.com/64ed045f/weir/reuse.Keeper] by drawn steps, in a bubble of
// fake time, and keeps books on each of its objects.
//
// The functions of the keeper take their time, fail, panic and exit as the test has drawn beforehand,
// and note what happens with which object, and for which user. So whenever all goroutines are blocked the test knows
// for each object what is done with it, and looks the promises of the keeper up in the
// books: never more objects than the capacity, users served in order, no object idle or missing
// while a user waits, no object used by two users, or leased when it is stale, sick or of an
// earlier era, no object that outlives its times, every error and panic returned to the one user
// that it concerns, and Stats that are right to the last count.
//
//	go test ./keeper                               1000 programs
//	go test ./keeper -rapid.checks=100000          more of them
//	go test ./keeper -run '^$' -fuzz FuzzKeeper    what the fuzzer makes of them
package keeper
