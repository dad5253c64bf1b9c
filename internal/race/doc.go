// Package race keeps order that no promise gives from the race detector. Tasks that run one after the other on the same
// worker would be ordered for it, and so would goroutines that use the same locks and atomics of the library: it would miss races
// between them that it finds between plain goroutines.
//
// Without -race everything here is empty, and costs nothing.
package race
