// Package streams draws programs for package [github.com/64ed045f/weir/par], runs each of them in
// a bubble of fake time, and compares what comes out to plain loops over slices.
//
// A program is a source, which may fail, panic or exit; up to three stages, each with its limit
// and its length ahead, whose calls take their time, fail, panic, exit, heed their context or not,
// and may run loops of their own; and a consumer that takes time, too, and may leave. Or it is a
// loop. Contexts end, and the pools on which stages and loops run are resized, paused and
// closed meanwhile.
//
// For a stream that keeps the order, on goroutines of its own, the test knows everything beforehand:
// what is handed over, and when. Where there is a choice, as of which result comes first in an unordered
// stream, the test checks that nothing is lost, made up or handed over twice. It always checks
// that the limit and the length ahead hold, and that nothing runs when all is over.
//
//	go test ./streams                               1500 programs of each kind
//	go test ./streams -rapid.checks=100000          more of them
//	go test ./streams -run '^$' -fuzz FuzzStream    what the fuzzer makes of them: also FuzzLoop, FuzzBatchFor
package streams
