// Package verify holds, in packages of its own, the machines that try to break Weir's promises:
//
//   - explore runs small scenes on the engine in all interleavings;
//   - model, streams and keeper compare drawn programs to a plain description, or to books that are kept on them:
//     model those of pools and groups, streams those of package par, keeper those of [github.com/64ed045f/weir/reuse.Keeper];
//   - places models the rule by which a task that waits lends its place, and searches it without the library;
//   - programs draws whole programs, with locks held over every kind of wait, and compares them to plain goroutines;
//   - history looks for an order in which a sequential pool would have answered calls made at once;
//   - soak, a command, uses everything at once for hours;
//   - leaks looks for what the library keeps though nothing needs it;
//   - peers answers the public tests of other libraries;
//   - hostile attacks weirhttp from the network.
//
// The package internal/plant puts mistakes into the library, which each of them must find. The tests of this package
// look at the tree: at what the pages name, and at uses of unsafe.
//
// docs/testing.md says how to run them and how to replay what they find; docs/promises.md says why the promises hold.
package verify
