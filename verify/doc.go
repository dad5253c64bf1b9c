// Package verify holds, in packages of its own, the machines that try to break Weir's promises:
//
//   - explore runs small scenes on the engine in all interleavings;
//   - model, streams and keeper compare randomly drawn programs with a plain description, or with records of
//     what happened: model for pools and groups, streams for package par, keeper for
//     [github.com/64ed045f/weir/reuse.Keeper];
//   - places models the rule by which a waiting task lends its place, and searches the model without the
//     library;
//   - programs draws whole programs, with locks held over every kind of wait, and compares them with plain
//     goroutines;
//   - worlds calls everything at once, also with contexts of tasks that are over, and then counts the places;
//   - history looks for an order in which a sequential pool would have answered calls made at once;
//   - soak runs the last three, and hostile, for hours under odd settings;
//   - leaks looks for memory and goroutines that the library keeps though nothing needs them;
//   - peers answers the public tests of other libraries;
//   - hostile attacks weirhttp from the network.
//
// The package internal/plant puts mistakes into the library, and each of these packages must find its own.
// The tests of package verify check the repository itself: the names in the documentation pages, and the uses
// of unsafe.
//
// docs/testing.md says how to run the tests and how to replay what they find. docs/promises.md says why the
// promises hold.
package verify
