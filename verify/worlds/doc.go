// Package worlds lets goroutines call the library at once as ordinary programs do not: with contexts of tasks
// that are over, from goroutines that tasks leave behind, with contexts of types of their own, and with waits
// that are given up at any moment.
//
// A world is some pools, with lanes and lanes of lanes, in a test bubble. In each of its phases goroutines
// hand over tasks, which do the same again, while others resize, pause, close and shut down what there is. All
// that may wait for something that is not its own has a deadline, so each phase ends. Then nothing must be
// queued, wait or run, and in each pool exactly as many tasks must run at once as its limit and those above it
// say: a place that was lost or doubled shows.
//
// Drawn programs, in package programs, do only what may be waited for without a deadline, and what they do can
// be made smaller. Worlds reach more. Those with an even number run on one processor, where the number repeats
// them exactly.
//
//	go test ./worlds -v                                 some worlds
//	go test ./worlds -v -worlds.for 10m                 as many as ten minutes allow
//	go test ./worlds -v -worlds.seed 7 -worlds.n 1 -worlds.times 100    world 7, a hundred times
package worlds
