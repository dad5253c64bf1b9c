package protocodec_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
	"github.com/64ed045f/weir/weirnats/protocodec"
)

func noError(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatalf("unexpected error: %v", err)
	}
}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	c := protocodec.New()
	if c.Name() != "proto" {
		t.Errorf("name is %q", c.Name())
	}
	list, err := structpb.NewStruct(map[string]any{"to": "ann", "tries": 3, "tags": []any{"a", nil, true}})
	noError(t, err)
	data, err := c.Encode(list)
	noError(t, err)
	var back *structpb.Struct
	noError(t, c.Decode(data, &back))
	if !proto.Equal(list, back) {
		t.Errorf("%v came back as %v", list, back)
	}
	data, err = c.Encode(wrapperspb.String(""))
	noError(t, err)
	old := wrapperspb.String("old")
	to := old
	noError(t, c.Decode(data, &to))
	if to.GetValue() != "" || old.GetValue() != "old" {
		t.Errorf("%q, and what was there is %q", to.GetValue(), old.GetValue())
	}
}

func TestOtherTypesAreErrors(t *testing.T) {
	c := protocodec.New()
	var none *wrapperspb.StringValue
	for want, value := range map[string]any{"got one of type string": "x", "got one of type <nil>": nil, "got (*wrapperspb.StringValue)(nil)": none} {
		if _, err := c.Encode(value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	for _, to := range []any{new(string), new(*string), wrapperspb.String("x"), "x", nil, (**wrapperspb.StringValue)(nil)} {
		if err := c.Decode(nil, to); err == nil || !strings.Contains(err.Error(), "must be a pointer to a message") {
			t.Errorf("%T: error is %v", to, err)
		}
	}
	if err := c.Decode([]byte{0xff}, &none); err == nil || none != nil {
		t.Errorf("error is %v, and the value %v", err, none)
	}
}

func TestWhatCannotBeDecodedIsADeadLetter(t *testing.T) {
	quiet := weirnats.Logger(slog.New(slog.DiscardHandler))
	dir := t.TempDir()
	raw, err := weirnats.Open[[]byte](t.Context(), "words", weirnats.Dir(dir), quiet, weirnats.Codecs(named{weirnats.Raw()}))
	if err == nil {
		t.Cleanup(func() { noError(t, raw.Close()) })
	}
	noError(t, err)
	noError(t, raw.Put(t.Context(), []byte{0xff}))
	words, err := weirnats.Open[*wrapperspb.StringValue](t.Context(), "words", weirnats.Dir(dir), quiet, weirnats.Codecs(protocodec.New()))
	noError(t, err)
	defer words.Close()
	noError(t, words.Put(t.Context(), wrapperspb.String("good")))
	if err := words.Put(t.Context(), nil); err == nil {
		t.Error("nil was put")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	failed := make(chan error, 1)
	pool := weir.New(1, weir.OnError(func(err error) { failed <- err }))
	defer pool.Close()
	var got string
	noError(t, words.Serve(ctx, pool, func(_ context.Context, m *wrapperspb.StringValue) error {
		got = m.GetValue()
		cancel()
		return nil
	}))
	if got != "good" {
		t.Errorf("got %q", got)
	}
	if try, ok := errors.AsType[*weirnats.TryError](<-failed); !ok || !try.Dead || !strings.Contains(try.Error(), "protocodec: ") {
		t.Errorf("error is %v", try)
	}
	for l, err := range words.Dead(t.Context()) {
		noError(t, err)
		if l.Codec != "proto" || string(l.Data) != "\xff" {
			t.Errorf("dead is %v", l)
		}
	}
}

// named is a codec under the name of this package's.
type named struct{ weirnats.Codec }

func (named) Name() string { return "proto" }
