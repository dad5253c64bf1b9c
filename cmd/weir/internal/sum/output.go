package sum

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"unicode/utf8"
)

// An output is the standard output of a command, with its standard error.
type output struct {
	*bufio.Writer
	watched   io.Writer // the stream itself, if the command should end when its reader does
	err       io.Writer
	begun     bool // a line has been written
	algorithm Algorithm
	json      *json.Encoder // nil for md5sum's format
	line      []byte        // scratch
}

// Write buffers a line. It flushes the lines before if there is no room: a part of the output, as after an interrupt,
// is whole lines.
func (o *output) Write(line []byte) (int, error) {
	if len(line) > o.Available() {
		if err := o.Flush(); err != nil {
			return 0, err
		}
	}
	return o.Writer.Write(line)
}

func newOutput(out, err io.Writer, opts Options) *output {
	o := &output{Writer: bufio.NewWriterSize(out, 64<<10), err: err, algorithm: opts.Algorithm}
	if opts.JSON {
		o.json = json.NewEncoder(o)
		o.json.SetEscapeHTML(false)
	}
	return o
}

// A record is a line of JSON. Only a name that is not valid UTF-8 has a PathBase64, with its bytes. Path then
// has U+FFFD for each invalid byte.
type record struct {
	Path       string `json:"path"`
	PathBase64 []byte `json:"path_base64,omitempty"`
	Algorithm  string `json:"algorithm"`
	Digest     string `json:"digest,omitempty"`
	Size       *int64 `json:"size,omitempty"`
	Result     string `json:"result,omitempty"`
}

// flush writes out the buffer. It also finds out whether the output has lost its reader, even if the buffer
// is empty.
func (o *output) flush() error {
	if err := o.Flush(); err != nil {
		return err
	}
	if o.watched != nil && isHungUp(o.watched) {
		return syscall.EPIPE
	}
	return nil
}

// print writes the line for a digested file.
func (o *output) print(j *job) error {
	if o.json != nil {
		if err := o.encode(j, ""); err != nil {
			return err
		}
	} else {
		o.line = appendLine(o.line[:0], j.digest, j.path)
		if _, err := o.Write(o.line); err != nil {
			return err
		}
	}
	if !o.begun {
		// The first line doesn't wait for others, so that a reader that needs no more, such as head -1, ends
		// the work early.
		o.begun = true
		return o.flush()
	}
	return nil
}

// report reports a file that could not be read, after it has written out the lines of the files before. If
// the output has no reader any more, report only returns that error.
func (o *output) report(j *job) error {
	if err := o.flush(); err != nil {
		return err
	}
	o.complain("%v", &FileError{j.path, j.err})
	return nil
}

// printVerdict writes the line for a file that was compared with its list.
func (o *output) printVerdict(j *job, verdict string) error {
	if o.json != nil {
		return o.encode(j, verdict)
	}
	o.line = appendVerdict(o.line[:0], j.path, verdict)
	_, err := o.Write(o.line)
	return err
}

func (o *output) encode(j *job, verdict string) error {
	r := record{Path: j.path, Algorithm: string(o.algorithm), Result: verdict}
	if !utf8.ValidString(j.path) {
		r.PathBase64 = []byte(j.path)
	}
	if j.err == nil || errors.Is(j.err, errMismatch) {
		r.Digest, r.Size = hex.EncodeToString(j.digest), &j.size
	}
	return o.json.Encode(r)
}

// complain writes a message to standard error.
func (o *output) complain(format string, args ...any) {
	fmt.Fprintf(o.err, "weir: "+format+"\n", args...) //nolint:errcheck // There is nowhere left to report it.
}

// settle turns the result of a pipeline into that of a command, and reports an error that has not been
// reported yet. It does not report a closed pipe: the reader of the output has seen enough.
func (o *output) settle(err error) error {
	if failure, ok := errors.AsType[*FileError](err); ok {
		o.complain("%v", failure)
		return ErrFailed
	}
	if errors.Is(err, errStopped) {
		return ErrFailed
	}
	if errors.Is(err, syscall.EPIPE) {
		return errClosedPipe
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		o.complain("write error: %s", reason(err))
		return ErrFailed
	}
	return err
}

// errClosedPipe means that the output has no reader any more.
var errClosedPipe = errors.New("the output is closed")
