// Package explore runs small scenes on the packages below internal, in all the interleavings that a few
// preemptions can make. It also shows that these runs find the mistakes planted there.
//
// These packages are made of atomic words, locks, channels and go statements. Their mistakes would be
// interleavings that no stress test meets. The source of the product stays unchanged: in an overlay for one
// test binary of each package, a rewriter replaces all these operations with steps of internal/step. It
// refuses a source with an operation that it does not know. Before that, mistakes are planted behind a
// switch, so that one build serves for all of them. In that build rings grow from 1 or 2 places to 4: what
// happens between large rings also happens between small ones, in fewer steps.
//
// A package is explored if it has a file interleave_test.go. Its scenes are ordinary Go in the files
// interleave_*_test.go; go test ./internal/... runs them with the real scheduler.
//
// docs/testing.md has the commands for one scene, one mistake or one execution. All of them take -explore.random
// and -explore.seed, and those for a scene -explore.bug, too.
//
// The documentation of internal/step says how it searches. The ideas are those of CHESS (Musuvathi and Qadeer,
// "Iterative context bounding for systematic testing of multithreaded programs", PLDI 2007), of PCT (Burckhardt,
// Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs",
// ASPLOS 2010), and of loom for Rust, which also replaces the types of a package. The search does not look for
// data races. It need not look for effects of weak memory, because Go's atomics are sequentially consistent.
package explore
