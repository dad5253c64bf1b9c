package sum

import (
	"context"
	"errors"
	"hash"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// readSize is how much of a file one call reads. It fits into the cache of a core, takes a small file in one
// call, and bounds how long a cancelled digester goes on: a fraction of a millisecond if the file is in memory.
const readSize = 128 << 10

// A digester computes digests. Any number of goroutines may call its method; they reuse its buffers and hash
// states.
type digester struct {
	open   func(path string) (io.ReadCloser, error)
	states sync.Pool
	meter  *meter
}

// A state is what one digest needs while it is computed.
type state struct {
	hash hash.Hash
	buf  []byte
}

func newDigester(opts Options, m *meter) *digester {
	d := &digester{
		open:   opts.open,
		states: sync.Pool{New: func() any { return &state{opts.Algorithm.new(), make([]byte, readSize)} }},
		meter:  m,
	}
	if d.open == nil {
		d.open = openFile
	}
	return d
}

func openFile(path string) (io.ReadCloser, error) { return os.Open(path) }

// errChanged is the reason why a file is not digested that was a regular one when it was found.
var errChanged = errors.New("No longer a regular file") //nolint:staticcheck // The reasons of the system begin with a capital.

// openFound opens a file that the walk has found. Lists may name other kinds of files on purpose: they use
// openFile.
func openFound(path string) (io.ReadCloser, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openAsFile, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close() //nolint:errcheck // Nothing was written.
		return nil, errChanged
	}
	return f, nil
}

// openFree opens the file of a job. Where another program has a lease on the file, as a file server may, the
// first try asks for it to be given up, and others follow until it is.
func (d *digester) openFree(ctx context.Context, j *job) (io.ReadCloser, error) {
	for {
		f, err := d.open(j.path)
		if !errors.Is(err, syscall.EAGAIN) {
			return f, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// digest digests the file of a job, or its input, and compares the digest with the one that the job has, if
// any. When ctx is cancelled, or the job is found to be behind the end, digest stops after the next read, and
// the job's result means nothing.
func (d *digester) digest(ctx context.Context, j *job) {
	input := j.input
	if input == nil {
		f, err := d.openFree(ctx, j)
		if err != nil {
			j.err = err
			return
		}
		defer f.Close() //nolint:errcheck // Nothing was written.
		input = f
	}
	s := d.states.Get().(*state)
	defer d.states.Put(s)
	s.hash.Reset()
	j.size = 0
	for ctx.Err() == nil && !j.isBehindEnd() {
		n, err := input.Read(s.buf)
		s.hash.Write(s.buf[:n])
		j.size += int64(n)
		d.meter.addBytes(n)
		if err == io.EOF {
			d.meter.addFile()
			break
		}
		if err != nil {
			j.err = err
			return
		}
	}
	j.digest = s.hash.Sum(j.digest[:0])
	if j.want != nil && string(j.want) != string(j.digest) {
		j.err = errMismatch
	}
}
