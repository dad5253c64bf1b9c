package sum

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// errMismatch is the error of a job whose file does not match the list.
var errMismatch = errors.New("computed checksum did NOT match")

// malformedLine is the number of a line that can't be parsed, as the error of its job.
type malformedLine int

func (l malformedLine) Error() string {
	return fmt.Sprintf("line %d is improperly formatted", int(l))
}

// Check compares files with a list from md5sum, one of its siblings, or Digest. It prints and judges as
// md5sum -c does. A list called "-" is the standard input. Check returns nil if the list has at least one
// proper line and every listed file matches, and otherwise ErrFailed. When ctx is cancelled, it returns the
// cause. Check also fails if the output has no reader any more, because it has then not judged all files.
func Check(ctx context.Context, opts Options, streams Streams, file string) error {
	list := &checklist{name: quote(file), algorithm: opts.Algorithm, input: streams.In}
	totals := func(func(item) bool) {} // a list that can be read only once has no totals beforehand
	if file == stdinName {
		list.name, list.isStdin = quote("standard input"), true
	} else {
		f, err := os.Open(file)
		if err != nil {
			return newOutput(streams.Out, streams.Err, opts).settle(&FileError{file, err})
		}
		defer f.Close() //nolint:errcheck // Nothing was written.
		list.input = f
		totals = countable(f, opts.Algorithm)
	}

	show := startProgress(streams, totals)
	defer show.stop()
	out := newOutput(show.out, show.err, opts)
	v := verdict{list: list, opts: opts, out: out}
	p := pipeline{
		items:   list.items,
		workers: opts.Workers,
		stdin:   streams.In,
		digest:  newDigester(opts, show.meter).digest,
		flush:   out.flush,
		emit:    v.add,
	}
	if opts.FailFast {
		p.fatal = v.isFailure
	}
	err := p.run(ctx)
	if errors.Is(err, errStopped) {
		v.warnOfAll()
	}
	if err := out.settle(err); errors.Is(err, errClosedPipe) {
		return ErrFailed
	} else if err != nil {
		return err
	}
	return v.conclude()
}

// A verdict judges the files of a list one by one, and then the list as a whole.
type verdict struct {
	list *checklist
	opts Options
	out  *output

	proper, malformed, mismatched, unreadable int
}

// isFailure reports whether a job error makes the whole check fail.
func (v *verdict) isFailure(err error) bool {
	_, malformed := errors.AsType[malformedLine](err)
	return !malformed || v.opts.Strict
}

// add judges one line of the list.
func (v *verdict) add(j *job) error {
	if line, ok := errors.AsType[malformedLine](j.err); ok {
		v.malformed++
		if v.opts.Warn || v.opts.FailFast && v.opts.Strict { // otherwise the user would not learn which line ended the check
			v.complainOf(line)
		}
		return nil
	}
	v.proper++
	result := "OK"
	switch {
	case errors.Is(j.err, errMismatch):
		v.mismatched++
		result = "FAILED"
	case j.err != nil:
		v.unreadable++
		if err := v.out.report(j); err != nil {
			return err
		}
		result = "FAILED open or read"
	case v.opts.Quiet:
		return nil
	}
	if v.opts.Status {
		return nil
	}
	return v.out.printVerdict(j, result)
}

func (v *verdict) complainOf(line malformedLine) {
	v.out.complain("%s: %d: improperly formatted %s checksum line", v.list.name, int(line), v.opts.Algorithm.tag())
}

// conclude judges the list as a whole.
func (v *verdict) conclude() error {
	if v.list.err != nil {
		v.out.complain("%s: %s", v.list.name, reason(v.list.err))
		return ErrFailed
	}
	if v.proper == 0 {
		v.out.complain("%s: no properly formatted checksum lines found", v.list.name)
		return ErrFailed
	}
	v.warnOfAll()
	if v.mismatched > 0 || v.unreadable > 0 || v.opts.Strict && v.malformed > 0 {
		return ErrFailed
	}
	return nil
}

// warnOfAll summarizes the failures so far.
func (v *verdict) warnOfAll() {
	if v.opts.Status {
		return
	}
	v.warn(v.malformed, "line is improperly formatted", "lines are improperly formatted")
	v.warn(v.unreadable, "listed file could not be read", "listed files could not be read")
	v.warn(v.mismatched, "computed checksum did NOT match", "computed checksums did NOT match")
}

func (v *verdict) warn(n int, one, many string) {
	switch n {
	case 0:
	case 1:
		v.out.complain("WARNING: 1 %s", one)
	default:
		v.out.complain("WARNING: %d %s", n, many)
	}
}

// A checklist reads a list of digests.
type checklist struct {
	name      string // for messages
	algorithm Algorithm
	input     io.Reader
	isStdin   bool
	err       error // why the list could not be read to its end; valid once items has returned
}

// maxLine is more than the longest properly formatted line: no system allows a path of that length. Without
// it, a large file without newlines, given by mistake, would be read into memory as a whole.
const maxLine = 64 << 10

// items yields an item for each line of the list that is not empty or a comment.
func (l *checklist) items(yield func(item) bool) {
	parser := lineParser{tag: l.algorithm.tag(), size: l.algorithm.size()}
	r := bufio.NewReaderSize(l.input, maxLine)
	for number := 1; ; number++ {
		line, err := r.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		comment := len(line) > 0 && line[0] == '#'
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			l.err = err
			return
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > 0 && !comment {
			it := item{err: malformedLine(number)}
			if !tooLong { // otherwise the line has left the buffer
				// A list on standard input can't name standard input.
				if name, digest, ok := parser.parse(line); ok && (name != stdinName || !l.isStdin) {
					it = item{path: name, want: digest}
				}
			}
			if !yield(it) {
				return
			}
		}
		if err == io.EOF {
			return
		}
	}
}

// countable yields the items of a list to the progress bar, by reading the list a second time. Of a list that
// can be read only once, such as a pipe, it yields nothing.
func countable(list *os.File, a Algorithm) iter.Seq[item] {
	return func(yield func(item) bool) {
		if info, err := list.Stat(); err != nil || !info.Mode().IsRegular() {
			return
		}
		f, err := os.Open(list.Name())
		if err != nil {
			return
		}
		defer f.Close() //nolint:errcheck // Nothing was written.
		(&checklist{algorithm: a, input: f}).items(yield)
	}
}
