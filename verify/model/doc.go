// Package model says, as simply as can be, what the pools, lanes and groups of weir promise, its Keyed and its Once: which tasks
// have started, which calls block, and what each call returns. Its types are lists and counters that
// one goroutine changes, one step after the other. They are written from the words of weir's
// documentation, and know nothing of how weir does it.
//
// The tests of this package run random steps on the library and on the model at once, in
// [testing/synctest] bubbles. When the world has come to rest after a step there is only one
// answer to each question, or a few where weir leaves it open, and both must give it.
//
//	go test ./model                               a hundred programs of each kind
//	go test ./model -rapid.checks=100000          more of them
//	go test ./model -run '^$' -fuzz FuzzGroups    what the fuzzer makes of them: also FuzzPool and others
package model
