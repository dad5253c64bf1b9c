package sum

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/64ed045f/weir"
)

const (
	// windowSize is how many files the digesters may be ahead of the printer: at 20 000 small files a second that is most of a second
	// in which one big file holds up nobody, for a few MiB of paths and digests.
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
	input  io.Reader // what to digest instead of the file at path, or nil
	digest []byte
	size   int64
	// done gets one value when the job is finished. Its capacity of 1 means that a digester never waits for the printer, and that
	// a job can be used again. A job that was cancelled is never done.
	done chan struct{}
}

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
	fatal   func(err error) bool // tells which job errors end everything; nil means none
	emit    func(j *job) error   // prints a finished job
	flush   func() error         // hands on what emit has buffered
}

// run returns once all items are printed, or with the first fatal error as a *FileError, the first error of emit or flush, or the
// cause of ctx. No goroutine is left then.
func (p *pipeline) run(ctx context.Context) error {
	group := weir.NewGroup(ctx, p.workers, weir.Queue(queueSize))
	window := make(chan *job, windowSize)
	jobs := sync.Pool{New: func() any { return &job{done: make(chan struct{}, 1)} }}

	go p.feed(group, window, &jobs)
	printed := p.print(group.Context(), window, &jobs)
	if printed != nil {
		group.Cancel(printed)
		for range window { // until feed is gone: nobody may call Go during Wait
		}
	}
	err := group.Wait()
	var failure *FileError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &failure):
		return failure
	case printed != nil:
		return printed
	}
	return err
}

// feed turns the items into jobs until there are none left or the group is cancelled, and closes the window.
func (p *pipeline) feed(group *weir.Group, window chan<- *job, jobs *sync.Pool) {
	defer close(window)
	cancelled := group.Context().Done()
	stdin := p.stdin
	for it := range p.items {
		j := jobs.Get().(*job)
		j.item, j.input = it, nil
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
			if p.isFatal(j.err) {
				group.Cancel(&FileError{j.path, j.err})
				return
			}
			j.done <- struct{}{}
			continue
		}
		group.Go(func(ctx context.Context) error {
			p.digest(ctx, j)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if p.isFatal(j.err) {
				return &FileError{j.path, j.err}
			}
			j.done <- struct{}{}
			return nil
		})
	}
}

// print emits the jobs in the order of the window until it is closed or ctx is cancelled.
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
		jobs.Put(j)
	}
}

func (p *pipeline) isFatal(err error) bool { return err != nil && p.fatal != nil && p.fatal(err) }

// receive takes a value from ch. Whatever is there already it takes at once; while it has to wait, it calls flush at every tick.
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
