package weirnats_test

import (
	"context"
	"testing"
	"time"

	"github.com/64ed045f/weir/weirnats"
)

// caught returns what f panics with.
func caught(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

type namedCodec struct {
	upper
	name string
}

func (c namedCodec) Name() string { return c.name }

func TestMisusePanicsAtTheCall(t *testing.T) {
	q := open[string](t, t.TempDir(), "a")
	p := newPool(t, 1)
	run := func(context.Context, string) error { return nil }
	var zero *weirnats.Queue[string]
	var view weirnats.View
	for want, f := range map[string]func(){
		`weirnats: URL must not be empty, got ""`:                                                                   func() { weirnats.Server("") },
		`weirnats: folder must not be empty, got ""`:                                                                func() { weirnats.Dir("") },
		`weirnats: Durability must be Lazy or Always, got Durability(7)`:                                            func() { openWith(weirnats.Durability(7)) },
		`weirnats: Listen is for an embedded server, got Server as well`:                                            func() { openWith(weirnats.Listen("x"), weirnats.Server("x")) },
		`weirnats: address must not be empty, got ""`:                                                               func() { weirnats.Listen("") },
		`weirnats: access must not be nil, got nil`:                                                                 func() { weirnats.Listen("x", nil) },
		`weirnats: file must not be empty, got ""`:                                                                  func() { weirnats.Credentials("") },
		`weirnats: configuration must not be nil, got nil`:                                                          func() { weirnats.TLS(nil) },
		`weirnats: replicas must be 1, 3 or 5, got 2`:                                                               func() { weirnats.Replicas(2) },
		`weirnats: Replicas is for a cluster, got no Server`:                                                        func() { openWith(weirnats.Replicas(3)) },
		`weirnats: Dir is for an embedded server, got Server as well`:                                               func() { openWith(weirnats.Dir("x"), weirnats.Server("x")) },
		`weirnats: Durability is for an embedded server, and a setting of the server otherwise, got Server as well`: func() { openWith(weirnats.Always, weirnats.Server("x")) },
		`weirnats: most messages must be at least 1, got 0`:                                                         func() { weirnats.MaxMessages(0) },
		`weirnats: most bytes must be at least 1, got -1`:                                                           func() { weirnats.MaxBytes(-1) },
		`weirnats: window must be at least 100ms, got 1ms`:                                                          func() { weirnats.Window(time.Millisecond) },
		`weirnats: codec must not be nil, got nil`:                                                                  func() { weirnats.Codecs(nil) },
		`weirnats: name of a codec must be from 1 to 64 printable ASCII characters without spaces, got "a b"`:       func() { weirnats.Codecs(namedCodec{name: "a b"}) },
		`weirnats: codecs must have different names, got "a" twice`:                                                 func() { weirnats.Codecs(namedCodec{name: "a"}, weirnats.JSON(), namedCodec{name: "a"}) },
		`weirnats: retrier must not be nil, got nil`:                                                                func() { weirnats.Retry(nil) },
		`weirnats: lease must be at least 100ms, got 0s`:                                                            func() { weirnats.Lease(0) },
		`weirnats: limit of a run must be more than 0, got 0s`:                                                      func() { weirnats.RunLimit(0) },
		`weirnats: grace must be at least 0, got -1s`:                                                               func() { weirnats.Grace(-time.Second) },
		`weirnats: partitions must be from 1 to 256, got 257`:                                                       func() { weirnats.Partitions(257) },
		`weirnats: partitions must be from 1 to 256, got 0`:                                                         func() { weirnats.Partitions(0) },
		`weirnats: key must have from 1 to 256 bytes, got 0`:                                                        func() { weirnats.Key("") },
		`weirnats: key must have from 1 to 256 bytes, got 257`:                                                      func() { weirnats.Key(string(make([]byte, 257))) },
		`weirnats: functions must not be nil, got nil`:                                                              func() { weirnats.Carry(nil, nil) },
		`weirnats: logger must not be nil, got nil`:                                                                 func() { weirnats.Logger(nil) },
		`weirnats: ID must have from 1 to 256 bytes, got 0`:                                                         func() { weirnats.ID("") },
		`weirnats: ID must have from 1 to 256 bytes, got 257`:                                                       func() { weirnats.ID(string(make([]byte, 257))) },
		`weirnats: option must not be nil, got nil`:                                                                 func() { openWith(nil) },
		`weirnats: queue must be made by Open, got nil or the zero value`:                                           func() { _ = zero.Put(t.Context(), "x") },
		`weirnats: View must be made by Admin.Queue, got nil or the zero value`:                                     func() { view.Peek(t.Context()) },
		`weirnats: pool must not be nil, got nil`:                                                                   func() { _ = q.Serve(t.Context(), nil, run) },
		`weirnats: function must not be nil, got nil`:                                                               func() { _ = q.Serve(t.Context(), p, nil) },
		`weirnats: context must not be nil, got nil`:                                                                func() { _ = q.Put(nilContext, "x") },
	} {
		if got := caught(f); got != any(want) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

var nilContext context.Context

func openWith(opts ...weirnats.Option) {
	_, _ = weirnats.Open[string](context.Background(), "a", opts...)
}
