// Package top shows the pools of a program in a terminal, from the data of package weirdebug's handler.
//
// A [Model] is a model for Bubble Tea. It has a stack of screens: all pools, one pool, the tree of groups,
// the stack of a task. The model asks the server again and again for the data of the top screen. [Table]
// prints the pools once.
package top
