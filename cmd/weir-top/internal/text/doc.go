// Package text makes text that any terminal may get, in cells of a given width, of values that a server sent: names, durations, counts
// and small diagrams.
//
// [Clean] and [Fit] take any string. What they return is one line without control characters, whose width is the same in every terminal.
// They read no more of the string than they show.
package text
