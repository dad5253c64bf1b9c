// Package explore runs small scenes on the packages below internal in all the interleavings that a few
// preemptions can make, and shows that it finds the mistakes planted there.
//
// These packages are made of atomic words, locks, channels and go statements; their mistakes would
// be interleavings that no stress test meets. The product's text stays as it is. A
// rewriter puts steps of internal/step in the place of all these operations, in an overlay
// for one test binary of each package, and refuses a text with an operation that it does not know. Mistakes are
// planted before that, behind a switch, so that there is one build for all of them. In it
// rings grow from 1 or 2 places to 4: what happens between large rings happens between small
// ones, too, within fewer steps.
//
// A package is explored if it has a file interleave_test.go. Its scenes stand in files interleave_*_test.go, in
// ordinary Go; go test ./internal/... runs them with the real scheduler.
//
//	go test ./explore                                         every scene, and every mistake
//	go test ./explore -explore.deep -timeout 2h               more preemptions, then more at random
//	go test ./explore -explore.most=N -explore.random=N       more of each scene
//	go test ./explore -explore.bug=NAME -v                    one mistake, in all scenes
//	go test ./explore -explore.scene=NAME -v                  one scene
//	go test ./explore -explore.scene=NAME -explore.schedule=1@47.0@60 -v   one execution, step by step
//
// The latter two take -explore.bug, too, and all of them -explore.random and -explore.seed. After a change of a scene give -count=1: the go command does
// not know that these tests read it.
//
// The documentation of internal/step says how it searches. The ideas are those of CHESS (Musuvathi and Qadeer,
// "Iterative context bounding for systematic testing of multithreaded programs", PLDI 2007), of
// PCT (Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with
// probabilistic guarantees of finding bugs", ASPLOS 2010), and of loom for Rust, which also
// replaces the types of a package. It does not look for data races, nor for what weaker memory than
// Go's sequentially consistent atomics would show: there is none in Go.
package explore
