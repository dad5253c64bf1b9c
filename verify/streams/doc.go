// Package streams draws programs for package [github.com/64ed045f/weir/par], runs each of them in a bubble of
// fake time, and compares the results with plain loops over slices.
//
// A program is a stream or a loop. A stream has a source, which may fail, panic or exit, and up to three
// stages, each with its limit and its length ahead. The calls of a stage take time, fail, panic, exit, watch
// their context or not, and may run loops of their own. The consumer takes time, too, and may leave. Contexts
// end, and the pools on which stages and loops run are resized, paused and closed meanwhile.
//
// For a stream that keeps the order, on goroutines of its own, the test knows everything beforehand: the
// items that come out, and the time of each. Where there is a choice, such as which result comes first in an
// unordered stream, the test checks that nothing is lost, made up or handed over twice. It always checks that
// the limit and the length ahead hold, and that nothing runs at the end.
package streams
