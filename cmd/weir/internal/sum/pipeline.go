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
	// windowSize is how many files the digesters may be ahead of the printer: at 20 000 small files a second that is most of a second
	// in which one big file holds up no digester, for a few MiB of paths and digests.
	windowSize = 1 << 14
	// queueSize is how many files may wait for a digester. It only has to outlast the source's way through the scheduler.
	queueSize = 256
	// flushInterval bounds how long a finished line may stay in the output buffer while the next one takes its time.
	flushInterval = 100 * time.Millisecond
)

// An item is one file that is to be digested, or in place of it the reason why it can't be.
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
	input  io.Reader // what to digest instead of the file at path, or nil
	digest []byte
	size   int64
	// done gets one value when the job is finished. Its capacity of 1 means that a digester never waits for the printer, and that
	// a job can be used again. A job that was cancelled, or is behind the end, may never be done.
	done chan struct{}
}

// isBehindEnd reports whether the job will never be printed.
func (j *job) isBehindEnd() bool { return j.index > j.end.index.Load() }

// An end is where the output ends: at the first fatal job in its order, as far as one has been found. It moves only towards the
// front. So what was behind it once stays there, and the jobs before it are finished and printed as if nothing had happened.
type end struct{ index atomic.Int64 }

func newEnd() *end {
	e := new(end)
	e.index.Store(math.MaxInt64)
	return e
}

// move makes the job at index the end, unless that is there already or before it.
func (e *end) move(index int64) {
	for {
		old := e.index.Load()
		if index >= old || e.index.CompareAndSwap(old, index) {
			return
		}
	}
}

// errStopped is what the pipeline returns behind a fatal job. What there is to say of the job has been said when it was emitted.
var errStopped = errors.New("stopped at the first failure")

// A FileError is a failure at one file.
type FileError struct {
	Path string
	Err  error
}

// Error returns the message as coreutils words it: the path in quotes if it needs any, and the reason.
func (e *FileError) Error() string { return quote(e.Path) + ": " + reason(e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// A pipeline digests items in parallel and prints them in order.
type pipeline struct {
	items   iter.Seq[item]
	workers int
	stdin   io.Reader
	digest  func(ctx context.Context, j *job)
	fatal   func(err error) bool // says which job errors end the output; always the same of an error; nil means none
	emit    func(j *job) error   // prints a finished job
	flush   func() error         // hands on what emit has buffered
}

// run returns once all items are printed, or with errStopped once the first fatal one is, or with the first error of emit or
// flush, or the cause of ctx. No goroutine is left then.
func (p *pipeline) run(ctx context.Context) error {
	group := weir.NewGroup(ctx, p.workers, weir.Queue(queueSize))
	window := make(chan *job, windowSize)
	jobs := sync.Pool{New: func() any { return &job{done: make(chan struct{}, 1)} }}

	go p.feed(group, window, &jobs)
	printed := p.print(group.Context(), window, &jobs)
	if printed != nil {
		group.Cancel(printed)
		for range window { // until feed is gone: no goroutine may call Go during Wait
		}
	}
	err := group.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case printed != nil:
		return printed
	}
	return err
}

// feed turns the items into jobs until there are none left, the group is cancelled, or the end is known, and closes the window.
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
			// The first job that names it gets all of standard input. Decided here, this does not depend on which digester is faster.
			j.input, stdin = stdin, eof{}
		}
		select {
		case window <- j:
		case <-cancelled:
			return
		}
		if j.err != nil {
			fatal := p.isFatal(j.err) // the job is the printer's once it is done
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

// print emits the jobs in the order of the window until it is closed, ctx is cancelled, or a fatal one has been emitted.
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

// receive takes a value from ch. It takes a value that is there already at once; while it has to wait, it calls flush at every tick.
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
