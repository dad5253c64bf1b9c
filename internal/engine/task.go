package engine

import "unsafe"

// Task is what travels through an engine: three words, which mean something to its runner alone. A type parameter in place of it would make
// the compiler translate the engine anew for each type of task, and in each package that mentions one: a second, and 150 KB of code.
//
// Next to its stamp, a task makes a slot of half a cache line. The zero Task stands for none where a set of subtasks has tickets.
//
// That is safe: the engine does no more than copy the words.
type Task struct {
	Q, P unsafe.Pointer
	N    int
}
