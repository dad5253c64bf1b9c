// Package model states, as simply as possible, what weir promises of pools, lanes and groups, of Keyed, and
// of Once: which tasks have started, which calls block, and what each call returns. Its types are lists and
// counters, which one goroutine changes, one step after the other. They follow the words of weir's
// documentation, and know nothing of how weir works.
//
// The tests of this package run random steps on the library and on the model at once, in [testing/synctest]
// bubbles. When all goroutines are blocked after a step, each question has only one answer, or a few where
// weir leaves the answer open. Library and model must agree on it.
package model
