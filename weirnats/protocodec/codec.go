// Package protocodec encodes the values of a queue of package weirnats as protocol buffers. It is a module of
// its own, so that queues of other values do not depend on protocol buffers.
//
//	queue, err := weirnats.Open[*pb.Mail](ctx, "mail", weirnats.Codecs(protocodec.New()))
//
// A message that was put with another codec is decoded by that codec: see [weirnats.Codecs]. So a queue of
// JSON can become one of protocol buffers while it has messages in it, if both codecs can decode the type.
package protocodec

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"

	"github.com/64ed045f/weir/weirnats"
)

// New returns the codec, whose name is proto. The type of the queue's values must be the pointer type of one
// kind of message, such as *pb.Mail. Put returns an error for a value of another type, or nil. A message that
// cannot be decoded goes to the dead letters. Fields that the type does not have are kept.
func New() weirnats.Codec { return codec{} }

type codec struct{}

func (codec) Name() string { return "proto" }

// Encode encodes equal messages as equal bytes, within one version of the program.
func (codec) Encode(value any) ([]byte, error) {
	m, ok := value.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("protocodec: value must be a pointer to a message of protocol buffers, got one of type %T", value)
	}
	if !m.ProtoReflect().IsValid() {
		return nil, fmt.Errorf("protocodec: value must not be nil, got (%T)(nil)", value)
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("protocodec: %w", err)
	}
	return data, nil
}

// Decode makes a message, and sets the pointer that to points to.
func (codec) Decode(data []byte, to any) error {
	at := reflect.ValueOf(to)
	if at.Kind() != reflect.Pointer || at.IsNil() || at.Type().Elem().Kind() != reflect.Pointer {
		return notOne(to)
	}
	made := reflect.New(at.Type().Elem().Elem())
	m, ok := reflect.TypeAssert[proto.Message](made)
	if !ok {
		return notOne(to)
	}
	if err := proto.Unmarshal(data, m); err != nil {
		return fmt.Errorf("protocodec: %w", err)
	}
	at.Elem().Set(made)
	return nil
}

func notOne(to any) error {
	return fmt.Errorf("protocodec: type of a queue must be a pointer to a message of protocol buffers, and Decode gets a pointer to that, got %T", to)
}
