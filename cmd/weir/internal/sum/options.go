package sum

import (
	"errors"
	"io"
)

// Options say how to process the files. The zero values of the flags are the defaults of md5sum.
type Options struct {
	Algorithm Algorithm
	Workers   int  // how many files are read at once; at least 1
	FailFast  bool // end the output at its first failure, and cancel the files after it
	JSON      bool // one JSON object a line instead of md5sum's format

	// Only for Check, with the same meaning as in md5sum.
	Quiet  bool // don't print OK for a file that matches
	Status bool // print nothing on Streams.Out; only the returned error says the result
	Strict bool // a line that can't be read is a failure
	Warn   bool // report each line that can't be read

	open func(path string) (io.ReadCloser, error) // os.Open, unless a test replaces it
}

// Streams are what a command reads and writes. If Err is a terminal, it also shows progress.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ErrFailed is returned when a file could not be read or did not match. The details are already on Streams.Err.
var ErrFailed = errors.New("not every file could be digested, or was as the list says")
