package jets_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/conform"
	"github.com/64ed045f/weir/weirnats/internal/jets"
)

func TestFindNamesWhatAQueueLacks(t *testing.T) {
	t.Parallel()
	server := start(t)
	conn, err := jets.Connect(server.Connect)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	bare, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bare.Close)
	js, err := jetstream.New(bare)
	if err != nil {
		t.Fatal(err)
	}
	lacks := func(name, want string) {
		t.Helper()
		if _, err := jets.Find(t.Context(), conn, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	for _, name := range []string{"b", "a"} {
		if _, err := open(t, server, conform.Settings(name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "foreign", Subjects: []string{"weir.q.foreign.x"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "weir_q_c", Subjects: []string{"weir.q.c.x"}}); err != nil {
		t.Fatal(err)
	}
	names, err := jets.Names(t.Context(), conn)
	if !slices.Equal(names, []string{"a", "b", "c"}) || err != nil {
		t.Errorf("names are %q, %v", names, err)
	}
	if _, err := jets.Find(t.Context(), conn, "a"); err != nil {
		t.Error(err)
	}
	lacks("c", `stream weir_q_c has format "", not "1"`)
	if err := js.DeleteConsumer(t.Context(), "weir_q_a", "work"); err != nil {
		t.Fatal(err)
	}
	lacks("a", "consumer work is missing")
	if err := js.DeleteStream(t.Context(), "weir_dead_a"); err != nil {
		t.Fatal(err)
	}
	lacks("a", "stream weir_dead_a is missing")
	if err := js.DeleteStream(t.Context(), "weir_q_a"); err != nil {
		t.Fatal(err)
	}
	if _, err := jets.Find(t.Context(), conn, "a"); !errors.Is(err, backend.ErrGone) {
		t.Errorf("error is %v", err)
	}
}

// What others have written there, or an older version, hides no other message.
func TestARecordThatCannotBeReadHoldsUpNothing(t *testing.T) {
	t.Parallel()
	server := start(t)
	q, err := open(t, server, conform.Settings("a"))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bare.Close)
	js, err := jetstream.New(bare)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(subject, record string, header nats.Header) {
		t.Helper()
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: subject, Data: []byte(record), Header: header}); err != nil {
			t.Fatal(err)
		}
	}
	told := func(what string, errs []backend.Failure, err error) {
		t.Helper()
		if err != nil || len(errs) != 1 || !strings.Contains(errs[0].Err, "cannot be read") {
			t.Errorf("%s: errors %v, %v", what, errs, err)
		}
	}
	publish("weir.dead.a.7", "", nats.Header{"Weir-Record": {"{"}})
	publish("weir.dead.a.8", "", nats.Header{})
	first, err := q.Next(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	told("dead letter", first.Errors, err)
	if second, err := q.Next(t.Context(), first.Number); err != nil || len(second.Errors) != 0 {
		t.Errorf("the dead letter behind it: %v, %v", second, err)
	}
	if err := q.Put(t.Context(), &backend.Message{Codec: "raw", Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	kept, err := q.Peek(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	publish(jets.RecordSubject(q, 1, kept.Message.Put), "not JSON", nil)
	if kept, err = q.Peek(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	told("message", kept.Record.Errors, err)
}
