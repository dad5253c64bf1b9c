package sum

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
)

const (
	// windowSize is how many files the digesters may be ahead of the printer. At 20 000 small files a second
	// this is most of a second during which one big file stops no digester, for a few MiB of paths and digests.
	windowSize = 1 << 14
	// queueSize is how many files may wait for a digester. They only have to last until the scheduler runs
	// the source again.
	queueSize = 256
	// flushInterval bounds how long a finished line stays in the output buffer while the next file takes its time.
	flushInterval = 100 * time.Millisecond
)

// An item is a file to digest, or instead of it the reason why it can't be digested.
type item struct {
	path string
	err  error
	want []byte // the digest that a checksum list gives, or nil
}

// A job is an item on its way from the source through a digester to the printer.
type job struct {
	item
	index  int64 // in the order of the output
	end    *end
	input  io.Reader // what to digest instead of the file at path; usually nil
	digest []byte
	size   int64
	// done gets one value when the job is finished. With its capacity of 1, a digester never waits for the
	// printer, and a job can be reused. A job that was cancelled, or is behind the end, may never be done.
	done chan struct{}
}

// isBehindEnd reports whether the job will never be printed.
func (j *job) isBehindEnd() bool { return j.index > j.end.index.Load() }

// An end is the position at which the output ends: that of the first fatal job found so far. It moves only towards
// the front. So a job that is behind it stays behind it, and the jobs before it are finished and printed as usual.
type end struct{ index atomic.Int64 }

func newEnd() *end {
	e := new(end)
	e.index.Store(math.MaxInt64)
	return e
}

// move makes index the end, unless the end is there already or before it.
func (e *end) move(index int64) {
	for {
		old := e.index.Load()
		if index >= old || e.index.CompareAndSwap(old, index) {
			return
		}
	}
}

// errStopped is what the pipeline returns after a fatal job, whose error emit has reported.
var errStopped = errors.New("stopped at the first failure")

// A FileError is a failure at one file.
type FileError struct {
	Path string
	Err  error
}

// Error returns the message in the words of coreutils: the path, in quotes if it needs them, and the reason.
func (e *FileError) Error() string { return quote(e.Path) + ": " + reason(e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// A pipeline digests items in parallel and prints them in order.
type pipeline struct {
	items   iter.Seq[item]
	workers int
	stdin   io.Reader
	digest  func(ctx context.Context, j *job)
	fatal   func(err error) bool // whether a job error ends the output; always the same for an error; nil means never
	emit    func(j *job) error   // prints a finished job
	flush   func() error         // writes out what emit has buffered
}

// patience is how long a run that fails waits for its goroutines. One that reads from a pipe or a terminal may
// wait for long, and cannot be interrupted.
const patience = time.Second

// run returns nil once all items are printed. It returns errStopped once the first fatal job is printed, the
// first error of emit or flush, or the cause of ctx. When run returns, none of its goroutines is left, unless it
// has failed and one still reads.
func (p *pipeline) run(ctx context.Context) error {
	group := weir.NewGroup(ctx, p.workers, weir.Queue(queueSize))
	window := make(chan *job, windowSize)
	jobs := sync.Pool{New: func() any { return &job{done: make(chan struct{}, 1)} }}

	go p.feed(group, window, &jobs)
	printed := p.print(group.Context(), window, &jobs)
	if printed == nil {
		err := group.Wait()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	group.Cancel(printed)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range window { // until feed has returned: no goroutine may call Go during Wait
		}
		_ = group.Wait() // printed is why
	}()
	select {
	case <-over:
	case <-time.After(patience):
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return printed
}

// feed turns items into jobs until there are no more, the group is cancelled, or the end is known. Then it
// closes window.
func (p *pipeline) feed(group *weir.Group, window chan<- *job, jobs *sync.Pool) {
	defer close(window)
	cancelled := group.Context().Done()
	stdin := p.stdin
	end, index := newEnd(), int64(-1)
	for it := range p.items {
		index++
		j := jobs.Get().(*job)
		j.item, j.index, j.end, j.input = it, index, end, nil
		if j.isBehindEnd() {
			return
		}
		if it.path == stdinName {
			// The first job that names it gets all of standard input. Decided here, this does not depend on
			// which digester is faster.
			j.input, stdin = stdin, eof{}
		}
		select {
		case window <- j:
		case <-cancelled:
			return
		}
		if j.err != nil {
			fatal := p.isFatal(j.err) // now, as the job belongs to the printer once it is done
			j.done <- struct{}{}
			if fatal {
				return
			}
			continue
		}
		group.Go(func(ctx context.Context) error {
			if j.isBehindEnd() {
				return nil
			}
			p.digest(ctx, j)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if p.isFatal(j.err) {
				end.move(j.index)
			}
			j.done <- struct{}{}
			return nil
		})
	}
}

// print emits the jobs in the order of the window. It returns when the window is closed, ctx is cancelled, or
// a fatal job has been emitted.
func (p *pipeline) print(ctx context.Context, window <-chan *job, jobs *sync.Pool) error {
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	for {
		j, more, err := receive(ctx, window, ticker.C, p.flush)
		if err != nil {
			return err
		}
		if !more {
			return p.flush()
		}
		if _, _, err := receive(ctx, j.done, ticker.C, p.flush); err != nil {
			return err
		}
		if err := p.emit(j); err != nil {
			return err
		}
		if p.isFatal(j.err) {
			if err := p.flush(); err != nil {
				return err
			}
			return errStopped
		}
		jobs.Put(j)
	}
}

func (p *pipeline) isFatal(err error) bool { return err != nil && p.fatal != nil && p.fatal(err) }

// receive takes a value from ch, at once if one is there. While it has to wait, it calls flush at every tick.
func receive[T any](ctx context.Context, ch <-chan T, tick <-chan time.Time, flush func() error) (value T, ok bool, err error) {
	for {
		select {
		case value, ok = <-ch:
			return value, ok, nil
		default:
		}
		select {
		case value, ok = <-ch:
			return value, ok, nil
		case <-tick:
			if err := flush(); err != nil {
				return value, false, err
			}
		case <-ctx.Done():
			return value, false, context.Cause(ctx)
		}
	}
}

// eof is an empty input.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
