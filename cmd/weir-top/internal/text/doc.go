// Package text turns values that a server sent into text that is safe for any terminal, in cells of a given
// width: names, durations, counts and small diagrams.
//
// [Clean] and [Fit] take any string. They return one line without control characters, which has the same
// width in every terminal. They read no more of the string than they show.
package text
