// Package top shows the pools of a program in a terminal: what the handler of package weirdebug knows of them.
//
// A [Model] is for Bubble Tea. It has a stack of screens: all pools, one pool, the tree of groups, the stack of a task. The last screen is asked for
// and shown, again and again. [Table] prints the pools once.
package top
