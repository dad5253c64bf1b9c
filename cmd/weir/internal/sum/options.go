package sum

import (
	"errors"
	"io"
)

// Options say what to do with every file. The zero values of the flags are the defaults of md5sum.
type Options struct {
	Algorithm Algorithm
	Workers   int  // how many files are read at once; at least 1
	FailFast  bool // end the output at its first failure, and cancel what stands behind that
	JSON      bool // one JSON object a line instead of md5sum's format

	// For Check alone. They mean what they mean to md5sum.
	Quiet  bool // don't print OK for each file that is as it should be
	Status bool // print nothing on Streams.Out; only the returned error tells
	Strict bool // a line that can't be read is a failure
	Warn   bool // report each line that can't be read

	open func(path string) (io.ReadCloser, error) // os.Open, unless a test replaces it
}

// Streams are where a command reads and writes. If Err is a terminal, it shows progress too.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ErrFailed is returned when something could not be read or did not match. What it was is already on Streams.Err.
var ErrFailed = errors.New("not every file could be digested, or was as the list says")
