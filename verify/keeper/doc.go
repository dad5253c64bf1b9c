// Package keeper drives a [github.com/64ed045f/weir/reuse.Keeper] by randomly drawn steps, in a bubble of
// fake time, and records what happens to each of its objects.
//
// The functions of the keeper take time, fail, panic and exit as the test has drawn beforehand. They record
// which object they were called for, and for which user. So whenever all goroutines are blocked, the test
// knows what is being done with each object, and checks the promises of the keeper against its records:
//
//   - there are never more objects than the capacity;
//   - users are served in order, and no object is idle or missing while a user waits;
//   - no object is used by two users, or leased while it is stale, sick or of an earlier era;
//   - no object outlives its times;
//   - every error and panic returns to the one user that it concerns;
//   - every count of Stats is exact.
package keeper
