package engine

import "unsafe"

// Task is what travels through an engine: three words that only its runner can interpret. A type parameter
// instead would make the compiler translate the engine again for each type of task, and in each package that
// mentions one: that costs a second, and 150 KB of code.
//
// Together with its stamp, a task makes a slot of half a cache line. The zero Task stands for no task in a
// set of subtasks that have tickets.
//
// The unsafe pointers are safe: the engine does no more than copy the words.
type Task struct {
	Q, P unsafe.Pointer
	N    int
}
