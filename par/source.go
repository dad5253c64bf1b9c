package par

import (
	"context"
	"iter"
	"reflect"
	"slices"
)

// Source is what loops and streams take their items from:
//
//   - a slice;
//   - a sequence, [iter.Seq];
//   - a channel, until it is closed; a loop or stream that ends early does not wait for the close, and loses
//     what it has already received;
//   - a [Pipeline]: a stage before this one, batches, or a sequence that has errors. An error stands for an
//     item for which the function has failed; it is reported as it is, without an index of its own.
//
// For a map use [maps.Keys], or [Pairs] of [maps.All].
//
// T must have at most 64 000 bytes, since Go has no channels of larger elements: for larger items use pointers.
// Otherwise no source of T compiles, not even a slice. Results may be larger, unless another stage takes them as
// its items.
type Source[T any] interface {
	~[]T | ~func(yield func(T) bool) | ~chan T | ~<-chan T | *Pipeline[T]
}

// pull runs a sequence until it ends or yield returns false. It may also end when ctx is done.
type pull[T any] func(ctx context.Context, yield func(T, error) bool)

// open returns the items of a slice, or for any other source how to pull them.
func open[T any, S Source[T]](from S) ([]T, pull[T]) {
	switch from := any(from).(type) {
	case []T:
		return from, nil
	case iter.Seq[T]:
		return nil, pullSeq(from)
	case chan T:
		return nil, pullChan(from)
	case <-chan T:
		return nil, pullChan(from)
	case *Pipeline[T]:
		mustSource(from != nil)
		return nil, from.pull
	}
	return openNamed[T](from)
}

// openNamed is open for all other types: named types, and functions whose type is not named.
func openNamed[T any](from any) ([]T, pull[T]) {
	switch v := reflect.ValueOf(from); v.Kind() {
	case reflect.Slice:
		return as[[]T](v), nil
	case reflect.Chan:
		return nil, pullChan(as[<-chan T](v))
	default:
		return nil, pullSeq(as[iter.Seq[T]](v))
	}
}

// channelOf returns the source if it is a channel, and nil otherwise.
func channelOf[T any](from any) <-chan T {
	if v := reflect.ValueOf(from); v.Kind() == reflect.Chan {
		return as[<-chan T](v)
	}
	return nil
}

func as[To any](v reflect.Value) To {
	return v.Convert(reflect.TypeFor[To]()).Interface().(To)
}

// pulling returns how to pull the items of a source; a slice is pulled, too.
func pulling[T any, S Source[T]](from S) pull[T] {
	items, pull := open[T](from)
	if pull != nil {
		return pull
	}
	return pullSeq(slices.Values(items))
}

func mustSource(given bool) { must(given, "source must not be nil", "nil") }

func pullSeq[T any](seq iter.Seq[T]) pull[T] {
	mustSource(seq != nil)
	return func(_ context.Context, yield func(T, error) bool) {
		for item := range seq { // panics if seq continues after false
			if !yield(item, nil) {
				return
			}
		}
	}
}

func pullChan[T any](ch <-chan T) pull[T] {
	mustSource(ch != nil)
	return func(ctx context.Context, yield func(T, error) bool) {
		done := ctx.Done()
		for {
			select {
			case item, open := <-ch:
				if !open || !yield(item, nil) {
					return
				}
			case <-done:
				return
			}
		}
	}
}

// A Pair is a key and its value, as one item.
type Pair[K, V any] struct {
	Key   K
	Value V
}

// Pairs turns a sequence of two values into a sequence of [Pair] values. Pairs(maps.All(m)) is a [Source] of
// the entries of a map, Pairs(slices.All(s)) of the items of a slice with their indices.
func Pairs[K, V any](seq iter.Seq2[K, V]) iter.Seq[Pair[K, V]] {
	mustSource(seq != nil)
	return func(yield func(Pair[K, V]) bool) {
		for key, value := range seq {
			if !yield(Pair[K, V]{key, value}) {
				return
			}
		}
	}
}
