package weirnats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

func escape(id string) string { return url.QueryEscape(id) }

// Failure is the error of one try of a message.
type Failure struct {
	// Try is the number of the try, from 1.
	Try int
	// Err is the text of the error, as far as it fits into 512 bytes.
	Err string
	// At is when the try ended.
	At time.Time
}

func failures(of []backend.Failure) []Failure {
	all := make([]Failure, len(of))
	for i, f := range of {
		all[i] = Failure(f)
	}
	return all
}

// DeadLetter is a message that has failed for good.
type DeadLetter struct {
	// ID is the ID of the dead letter, for [Queue.Replay].
	ID string
	// MessageID is the [ID] that the message was put with, "" if it had none.
	MessageID string
	// Key is the [Key] that the message was put with, "" if it had none.
	Key string
	// Codec is the name of the codec that encoded Data.
	Codec string
	// Data is the value as it was put.
	Data []byte
	// Tries is how many tries there were, including those that ended with their process.
	Tries int
	// Errors are the errors of the tries: the first and the last 15.
	Errors []Failure
	// Put is when the message was put, and Died when it became a dead letter.
	Put, Died time.Time
}

// Decode returns the value of a dead letter.
func (q *Queue[T]) Decode(l DeadLetter) (value T, err error) {
	err = q.untyped().decode(l.Codec, l.Data, &value)
	return value, err
}

// decode sets the value that the pointer to points to.
func (q *queue) decode(codec string, data []byte, to any) (err error) {
	c := q.codec
	if codec != "" {
		if c = q.codecs[codec]; c == nil {
			return fmt.Errorf("weirnats: no codec is named %q", codec)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("weirnats: codec %s panicked: %v", c.Name(), p)
		}
	}()
	return c.Decode(data, to)
}

// Dead returns the dead letters, the oldest first. Each is read when its turn comes, so dead letters that
// come meanwhile are among them. A pair with an error is the last.
func (q *Queue[T]) Dead(ctx context.Context) iter.Seq2[DeadLetter, error] {
	return q.untyped().dead(ctx)
}

func (q *queue) dead(ctx context.Context) iter.Seq2[DeadLetter, error] {
	must(ctx != nil, "context must not be nil", "nil")
	return func(yield func(DeadLetter, error) bool) {
		for after := uint64(0); ; {
			d, err := q.next(ctx, after)
			if errors.Is(err, backend.ErrNotFound) {
				return
			}
			if err != nil {
				yield(DeadLetter{}, outward(q.name, err))
				return
			}
			if !yield(letter(d), nil) {
				return
			}
			after = d.Number
		}
	}
}

func (q *queue) next(ctx context.Context, after uint64) (*backend.Dead, error) {
	end, err := q.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	return q.backend.Next(ctx, after)
}

func letter(d *backend.Dead) DeadLetter {
	return DeadLetter{
		ID: strconv.FormatUint(d.Number, 10), MessageID: d.ID, Key: d.Key, Codec: d.Codec, Data: d.Data,
		Tries: d.Tries, Errors: failures(d.Errors), Put: d.Message.Put, Died: d.Died,
	}
}

// numberOf returns the number of the dead letter with that ID. It reports false if no dead letter can have
// it.
func numberOf(id string) (number uint64, ok bool) {
	number, err := strconv.ParseUint(id, 10, 64)
	return number, err == nil && number > 0 && strconv.FormatUint(number, 10) == id
}

// Replay puts the message of a dead letter into the queue again, as a new message with the same [Key], if it
// had one, and removes the dead letter. It waits for room as [Queue.Put] does. The error is [ErrNotFound] if
// there is no dead letter with that ID. If the program ends within the call, another call within the [Window]
// puts no second message, as with an [ID].
func (q *Queue[T]) Replay(ctx context.Context, id string) error { return q.untyped().replay(ctx, id) }

func (q *queue) replay(ctx context.Context, id string) error {
	must(ctx != nil, "context must not be nil", "nil")
	end, err := q.begin()
	if err != nil {
		return err
	}
	defer end()
	number, ok := numberOf(id)
	if !ok {
		return ErrNotFound
	}
	d, err := q.backend.Letter(ctx, number)
	if err != nil {
		return outward(q.name, err)
	}
	m := d.Message
	m.DedupID, m.Put = "r"+id+"-"+strconv.FormatInt(d.Died.UnixNano(), 36), time.Time{} // a stream that is made again uses its numbers again
	if m.Key != "" {
		defer q.noteKeyed()
		if err := cmp.Or(q.checkHealth(), q.afterPuts(ctx)); err != nil {
			return err
		}
	}
	known, err := q.known(ctx, &m)
	if err == nil && !known {
		err = q.store(ctx, &m, new(bool))
	}
	if err != nil {
		return err
	}
	if err := q.backend.Forget(ctx, number); err != nil && !errors.Is(err, backend.ErrNotFound) { // otherwise another call has removed it
		return outward(q.name, err)
	}
	return nil
}

// PurgeAll removes all dead letters, and returns how many there were.
func (q *Queue[T]) PurgeAll(ctx context.Context) (removed int, err error) {
	return q.untyped().purgeAll(ctx)
}

func (q *queue) purgeAll(ctx context.Context) (removed int, err error) {
	must(ctx != nil, "context must not be nil", "nil")
	end, err := q.begin()
	if err != nil {
		return 0, err
	}
	defer end()
	removed, err = q.backend.Purge(ctx)
	return removed, outward(q.name, err)
}

// Purge removes the dead letters with these IDs, and returns how many it has removed. It ignores IDs that do
// not exist.
func (q *Queue[T]) Purge(ctx context.Context, ids ...string) (removed int, err error) {
	return q.untyped().purge(ctx, ids)
}

func (q *queue) purge(ctx context.Context, ids []string) (removed int, err error) {
	must(ctx != nil, "context must not be nil", "nil")
	end, err := q.begin()
	if err != nil {
		return 0, err
	}
	defer end()
	for _, id := range ids {
		number, ok := numberOf(id)
		if !ok {
			continue
		}
		switch err := q.backend.Forget(ctx, number); {
		case err == nil:
			removed++
		case !errors.Is(err, backend.ErrNotFound):
			return removed, outward(q.name, err)
		}
	}
	return removed, nil
}
