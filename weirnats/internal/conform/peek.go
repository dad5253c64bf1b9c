package conform

import (
	"errors"
	"fmt"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

func peek(w *world) {
	look := func() (all string) {
		w.Helper()
		for after := uint64(0); ; {
			k, err := w.Peek(w.Context(), after)
			if errors.Is(err, backend.ErrNotFound) {
				return all
			}
			ok(w, err)
			is(w, "the numbers grow", k.Number > after, true)
			is(w, "the time of the put is right", time.Since(k.Put).Abs() < time.Minute, true)
			all += fmt.Sprint(k.Number, " ", string(k.Data), " ", len(k.Errors), "; ")
			after = k.Number
		}
	}
	is(w, "an empty queue holds", look(), "")
	ok(w, w.Put(w.Context(), &backend.Message{ID: "id\n", Codec: "some", Carry: map[string]string{"a": "b"}, Data: []byte("a\x00")}))
	w.put("b")
	w.put("c")
	first, err := w.Peek(w.Context(), 0)
	ok(w, err)
	is(w, "ID", first.ID, "id\n")
	is(w, "codec", first.Codec, "some")
	is(w, "what travels", first.Carry["a"], "b")
	is(w, "the queue holds", look(), "1 a\x00 0; 2 b 0; 3 c 0; ")

	failed, done := w.take(), w.take()
	is(w, "a message that was seen is delivered the first time", failed.Count(), 1)
	ok(w, failed.GiveBack(w.Context(), &backend.Record{Errors: []backend.Failure{{Try: 1, Err: "bad"}}}, time.Hour))
	ok(w, done.Ack(w.Context(), true))
	is(w, "the queue holds", look(), "1 a\x00 1; 3 c 0; ")
	first, err = w.Peek(w.Context(), 0)
	ok(w, err)
	is(w, "error", first.Errors[0].Err, "bad")
	ok(w, w.take().Bury(w.Context(), new(backend.Record), 1))
	is(w, "the queue holds", look(), "1 a\x00 1; ")
}
