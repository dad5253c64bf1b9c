// Package race hides from the race detector order that no promise gives. The detector would see tasks that
// run one after the other on the same worker as ordered. It would also see goroutines as ordered that use the
// same locks and atomics of the library. So it would miss races between them that it finds between plain
// goroutines.
//
// Without -race everything here is empty, and costs nothing.
package race
