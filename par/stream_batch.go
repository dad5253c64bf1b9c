package par

import (
	"context"
	"time"

	"github.com/64ed045f/weir"
)

// Batch gathers items into slices of the given size; the last slice may be shorter:
//
//	for result, err := range par.Stream(ctx, par.Batch[Row](rows, 100), store) {
//
// T must be given: it cannot be inferred. The goroutine that ranges over the batches reads the source, and
// only when it needs a batch. An error of the source comes in its place: first the current batch, if it has
// items, then nil with the error. Reading goes on after the error as long as the source does. When the
// context is done, the batches end with its cause, and the items of the current batch are dropped. Each batch
// is a slice of its own.
func Batch[T any, S Source[T]](items S, size int) *Pipeline[[]T] {
	mustSize(size)
	from := pulling[T](items)
	return &Pipeline[[]T]{run: func(ctx context.Context, yield func([]T, error) bool) {
		b := batcher[T]{size: size, yield: yield}
		from(ctx, func(item T, err error) bool {
			return ctx.Err() == nil && b.add(item, err)
		})
		b.end(ctx)
	}}
}

// BatchFor is [Batch] with a second limit. It also hands over an incomplete batch once the first item has
// waited for the time wait with the consumer ready. So a slow consumer still gets full batches, if the source
// has enough items.
//
// An additional goroutine reads a source that is not a channel. While the consumer is busy, it reads at most
// one item ahead. The range statement stops that goroutine and waits for it before it ends. If the source
// panicked, the range statement panics with a [*weir.Panic]. If the source called [runtime.Goexit], the
// batches end with [weir.ErrGoexit].
//
// The goroutine that ranges over the batches reads a channel itself, and only when it needs an item.
func BatchFor[T any, S Source[T]](items S, size int, wait time.Duration) *Pipeline[[]T] {
	mustSize(size)
	must(wait > 0, "waiting time must be above 0", wait)
	from := pulling[T](items)
	if ch := channelOf[T](items); ch != nil {
		return &Pipeline[[]T]{run: func(ctx context.Context, yield func([]T, error) bool) {
			b := batcher[T]{size: size, yield: yield}
			addFor(ctx, &b, ch, func(item T) (T, error) { return item, nil }, wait)
			b.end(ctx)
		}}
	}
	return &Pipeline[[]T]{run: func(ctx context.Context, yield func([]T, error) bool) {
		inner, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		feeder := goroutines{ctx: inner, cancel: cancel}
		defer func() {
			cancel(errLeft)
			waitForSource(&feeder) // panics if the source did
		}()
		entries := make(chan entry[T])
		ended := false
		feeder.Go(func(ctx context.Context) error {
			defer close(entries)
			from(ctx, func(item T, err error) bool {
				select {
				case entries <- entry[T]{item, err}:
					return true
				case <-ctx.Done():
					return false
				}
			})
			ended = true
			return nil
		})
		b := batcher[T]{size: size, yield: yield}
		if addFor(ctx, &b, entries, func(e entry[T]) (T, error) { return e.item, e.err }, wait) && !ended && ctx.Err() == nil {
			waitForSource(&feeder) // panics, or the source has called runtime.Goexit
			if b.flush() {
				b.hand(nil, weir.ErrGoexit)
			}
			return
		}
		b.end(ctx)
	}}
}

func mustSize(size int) { must(size >= 1, "size of a batch must be at least 1", size) }

// batcher gathers items and hands them over.
type batcher[T any] struct {
	size  int
	yield func([]T, error) bool
	batch []T
	last  int  // the length of the last batch, which is mostly that of the next one
	left  bool // the consumer wants no more
}

// add adds an item, or an error instead of an item, and reports whether to go on.
func (b *batcher[T]) add(item T, err error) bool {
	if err != nil {
		return b.flush() && b.hand(nil, err)
	}
	if b.batch == nil {
		b.batch = make([]T, 0, b.last)
	}
	b.batch = append(b.batch, item)
	return len(b.batch) < b.size || b.flush()
}

// addFor adds what each of entries has, and hands over a batch whose first item is older than wait. It reports
// whether the entries have ended.
func addFor[T, E any](ctx context.Context, b *batcher[T], entries <-chan E, has func(E) (T, error), wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		due := timer.C
		if len(b.batch) == 0 {
			due = nil
		}
		select {
		case e, open := <-entries:
			if !open {
				return true
			}
			if ctx.Err() != nil || !b.add(has(e)) {
				return false
			}
			if len(b.batch) == 1 {
				timer.Reset(wait)
			}
		case <-due:
			if ctx.Err() != nil || !b.flush() {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}

// flush hands over the current batch, if it has items, and reports whether to go on.
func (b *batcher[T]) flush() bool {
	if len(b.batch) == 0 {
		return true
	}
	batch := b.batch
	b.batch, b.last = nil, len(batch)
	return b.hand(batch, nil)
}

func (b *batcher[T]) hand(batch []T, err error) bool {
	b.left = !b.yield(batch, err)
	return !b.left
}

// end hands over the rest, if the consumer is still there. If the context has ended, also by what the consumer did with the rest, end hands over its cause.
func (b *batcher[T]) end(ctx context.Context) {
	if !b.left && (ctx.Err() != nil || b.flush() && ctx.Err() != nil) {
		b.hand(nil, outerCause(ctx))
	}
}
