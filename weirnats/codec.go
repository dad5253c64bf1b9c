package weirnats

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Codec encodes values for a queue. Its methods may be called by any number of goroutines at once. [JSON] and
// [Raw] return codecs; module weirnats/protocodec has one for protocol buffers.
type Codec interface {
	// Name returns the name of the codec. The name travels with each message, or is kept in the queue that
	// was made with the codec. So what was put with one codec is decoded by it, even after the program has
	// changed to another. A name must be 1 to 64 printable ASCII characters, without spaces.
	Name() string
	// Encode returns the bytes of a value of the queue's type. The bytes must not change before Put or PutAll
	// has returned.
	Encode(value any) ([]byte, error)
	// Decode sets the value that the pointer to points to. The value must share no memory with data. After an
	// error the message goes to the dead letters.
	Decode(data []byte, to any) error
}

// JSON returns the codec that encodes values as [encoding/json] does. It is the default, except for queues of
// []byte.
func JSON() Codec { return jsonCodec{} }

// Raw returns the codec for queues of []byte, which leaves the bytes as they are. It is the default for such
// queues.
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
	*at = bytes.Clone(data) // another try, or a dead letter, gets data again
	return nil
}
