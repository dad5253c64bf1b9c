// Package race keeps order that no promise gives from the race detector. Tasks that run one after the other on the same
// worker, and whoever uses the same locks and atomics of the library, would be ordered for it, and a race between them would not be
// found that plain goroutines show.
//
// Without -race everything here is empty, and costs nothing.
package race
