package weirnats

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Codec encodes values for a queue. Its methods may be called by any number of goroutines at once. [JSON] and [Raw] are codecs; module weirnats/protocodec has that of protocol buffers.
type Codec interface {
	// Name travels with each message, or stands in the queue that was made with it, so that what was put with one codec is decoded by it, also when the program has
	// changed to another. It must be from 1 to 64 printable ASCII characters, without spaces.
	Name() string
	// Encode returns the bytes of a value of the queue's type. They must not change before Put or PutAll has returned.
	Encode(value any) ([]byte, error)
	// Decode sets the value that the pointer to points to. The value must share no memory with data. An error sends the message to the dead letters.
	Decode(data []byte, to any) error
}

// JSON returns the codec that encodes values as [encoding/json] does. It is the default, except for queues of []byte.
func JSON() Codec { return jsonCodec{} }

// Raw returns the codec of queues of []byte: it leaves bytes as they are. It is the default there.
func Raw() Codec { return rawCodec{} }

type jsonCodec struct{}

func (jsonCodec) Name() string                     { return "json" }
func (jsonCodec) Encode(value any) ([]byte, error) { return json.Marshal(value) }
func (jsonCodec) Decode(data []byte, to any) error { return json.Unmarshal(data, to) }

type rawCodec struct{}

func (rawCodec) Name() string { return "raw" }

func (rawCodec) Encode(value any) ([]byte, error) {
	data, ok := value.([]byte)
	if !ok {
		return nil, fmt.Errorf("weirnats: codec raw is for []byte, not for %T", value)
	}
	return data, nil
}

func (rawCodec) Decode(data []byte, to any) error {
	at, ok := to.(*[]byte)
	if !ok {
		return fmt.Errorf("weirnats: codec raw is for []byte, not for %T", to)
	}
	*at = bytes.Clone(data) // which another try gets again, or a dead letter
	return nil
}
