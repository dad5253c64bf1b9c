package conform

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// key is a key of partition 0 of 4; others fall there too.
var key = func() string {
	for i := 0; ; i++ {
		if k := fmt.Sprint("key ", i, "\n%"); backend.PartitionOf(k, 4) == 0 {
			return k
		}
	}
}()

func (w *world) putOrdered(data string) {
	w.Helper()
	ok(w, w.Put(w.Context(), &backend.Message{Key: key, Codec: "raw", Data: []byte(data)}))
}

// partition opens partition 0, until the end of the case.
func (w *world) partition() backend.Partition {
	w.Helper()
	p, err := w.Partition(0)
	ok(w, err)
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		ok(w, p.Close(ctx))
	})
	return p
}

// ordered is a delivery of a partition.
type ordered struct {
	backend.Delivery
	turn backend.Turn
}

// pullFrom takes at most n messages of a partition, and waits at most for wait.
func (w *world) pullFrom(p backend.Partition, n int, wait time.Duration) (all []ordered) {
	w.Helper()
	ok(w, p.Pull(w.Context(), n, wait, func(d backend.Delivery, t backend.Turn) bool {
		all = append(all, ordered{d, t})
		return true
	}))
	return all
}

func partitions(w *world) {
	n, err := w.Partitions(w.Context())
	ok(w, err)
	is(w, "partitions before the first message with a key", n, 0)
	var puts sync.WaitGroup
	for i := range 4 { // at once
		puts.Go(func() {
			if err := w.Put(w.Context(), &backend.Message{Key: fmt.Sprint("other ", i)}); err != nil {
				w.Error(err)
			}
		})
	}
	puts.Wait()
	for i := range 10 {
		w.putOrdered(fmt.Sprint(i))
	}
	w.put("none")
	n, err = w.Partitions(w.Context())
	ok(w, err)
	is(w, "partitions", n, 4)
	is(w, "what a receiver gets", text(w.take()), "none")
	w.none()
	p := w.partition()
	var all []ordered
	for len(all) < 10 {
		for _, d := range w.pullFrom(p, 10, 300*time.Millisecond) {
			if string(d.Message().Data) != "" {
				all = append(all, d)
			}
		}
	}
	for i, d := range all {
		is(w, "message", text(d), fmt.Sprint(i))
		is(w, "key", d.Message().Key, key)
		if i > 0 {
			is(w, "the sequences grow", d.Sequence() > all[i-1].Sequence(), true)
			is(w, "one follows the other", d.turn.Follows(all[i-1].turn), true)
		}
	}
	ok(w, all[0].Bury(w.Context(), new(backend.Record), 1))
	l, err := w.Next(w.Context(), 0)
	ok(w, err)
	is(w, "key of the dead letter", l.Key, key)
	k, err := w.Peek(w.Context(), all[0].Sequence())
	ok(w, err)
	is(w, "key of a message in the queue", k.Key, key)
	s, err := w.Stats(w.Context())
	ok(w, err)
	is(w, "leased", s.Leased >= 10, true)
}

func oneProcess(w *world) {
	for i := range 6 {
		w.putOrdered(fmt.Sprint(i))
	}
	first, second := w.partition(), w.partition()
	a := w.pullFrom(first, 2, time.Second)
	is(w, "messages", len(a), 2)
	is(w, "messages of another process", len(w.pullFrom(second, 1, 100*time.Millisecond)), 0)
	a = append(a, w.pullFrom(first, 1, time.Second)...)
	is(w, "message", text(a[2]), "2")
	is(w, "one follows the other", a[2].turn.Follows(a[1].turn), true)

	st, err := first.State(w.Context())
	ok(w, err)
	is(w, "turn", st.Turn, a[2].turn)
	is(w, "pending", st.Pending, 3)
	is(w, "last", st.Last, a[2].Sequence())
	ok(w, a[1].Ack(w.Context(), true))
	list, err := second.List(w.Context(), a[2].Sequence())
	ok(w, err)
	is(w, "what is not done", fmt.Sprint(list), fmt.Sprint(map[uint64]string{a[0].Sequence(): key, a[2].Sequence(): key}))

	// Another process has the partition from its first message on.
	ok(w, first.Release(w.Context()))
	b := w.pullFrom(second, 1, time.Second)
	is(w, "message", text(b[0]), "3")
	is(w, "the term is another one", b[0].turn.Term != a[2].turn.Term && b[0].turn.Term != "", true)
	is(w, "it follows", b[0].turn.Follows(a[2].turn), false)
	is(w, "messages of a process that has lost it", len(w.pullFrom(first, 1, 100*time.Millisecond)), 0)
	st, err = first.State(w.Context())
	ok(w, err)
	is(w, "turn", st.Turn, b[0].turn)
	is(w, "pending", st.Pending, 3)

	// A message that comes again has a number of its own, and its old place in the order.
	ok(w, a[2].GiveBack(w.Context(), nil, 0))
	again := w.pullFrom(second, 1, time.Second)
	is(w, "message", text(again[0]), "2")
	is(w, "sequence", again[0].Sequence(), a[2].Sequence())
	is(w, "one follows the other", again[0].turn.Follows(b[0].turn), true)
}

func moved(w *world) {
	w.putOrdered("0")
	w.putOrdered("1")
	first, second := w.partition(), w.partition()
	is(w, "messages", len(w.pullFrom(first, 1, time.Second)), 1)
	begin := time.Now() // and no pull from now on
	var b []ordered
	for len(b) == 0 {
		b = w.pullFrom(second, 1, 500*time.Millisecond)
		if time.Since(begin) > 10*time.Second {
			w.Fatal("the partition is with the first process for ever")
		}
	}
	is(w, "message, whose lease is over too", text(b[0]), "0")
	err := first.Pull(w.Context(), 1, 100*time.Millisecond, func(backend.Delivery, backend.Turn) bool { return false })
	is(w, "the first process learns of it", errors.Is(err, backend.ErrMoved), true)
	is(w, "messages then", len(w.pullFrom(first, 1, 100*time.Millisecond)), 0)
}

func mostHeld(w *world) {
	for i := range backend.MostHeld + 5 {
		w.putOrdered(fmt.Sprint(i))
	}
	p := w.partition()
	var all []ordered
	for range 3 {
		all = append(all, w.pullFrom(p, backend.MostHeld, 200*time.Millisecond)...)
	}
	is(w, "messages", len(all), backend.MostHeld)
	ok(w, all[7].GiveBack(w.Context(), nil, 0))
	again := w.pullFrom(p, 2, 200*time.Millisecond)
	is(w, "messages that come again", len(again), 1)
	is(w, "message", text(again[0]), "7")
	ok(w, all[3].Ack(w.Context(), true))
	next := w.pullFrom(p, 2, 200*time.Millisecond)
	is(w, "messages when there is room", len(next), 1)
	is(w, "message", text(next[0]), fmt.Sprint(backend.MostHeld))
}
